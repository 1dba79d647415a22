"""The right to use agents: acquire, heartbeat, release, expire. Each verb is one statement or one transaction; an
attempt's id is the fencing token."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from results import sql
from results.models import Attempt, Lease
from results.states import AttemptState

TTL_S = 30.0
HEARTBEAT_S = 5.0


def acquire(attempt_id: int, agents: Sequence[int], now: datetime) -> bool:
    """All of the agents or none, in one statement. Call inside a transaction."""
    taken = sql.execute(
        """
        INSERT INTO results_lease (agent_id, attempt_id, acquired_at, heartbeat_at, expires_at)
        SELECT agent, %(attempt)s, %(now)s, %(now)s, %(expires)s
          FROM unnest(%(agents)s::bigint[]) AS agent
         WHERE NOT EXISTS (SELECT FROM results_lease WHERE agent_id = ANY(%(agents)s))
        ON CONFLICT (agent_id) DO NOTHING
        """,
        {
            "attempt": attempt_id,
            "agents": list(agents),
            "now": now,
            "expires": now + timedelta(seconds=TTL_S),
        },
    )
    return taken == len(agents)


def heartbeat(attempt_id: int, now: datetime) -> bool:
    """Prolongs the attempt's leases. False when it lost them, or its trial was cancelled: it must stop."""
    return bool(
        sql.execute(
            """
            UPDATE results_lease l SET heartbeat_at = %(now)s, expires_at = %(expires)s
              FROM results_attempt a JOIN results_trial t ON t.id = a.trial_id
             WHERE l.attempt_id = %(attempt)s AND a.id = l.attempt_id
               AND a.state = 'running' AND t.state = 'running'
            """,
            {"attempt": attempt_id, "now": now, "expires": now + timedelta(seconds=TTL_S)},
        )
    )


def release(attempt_id: int) -> None:
    Lease.objects.filter(attempt_id=attempt_id).delete()


@transaction.atomic
def expire(now: datetime) -> list[int]:
    """Takes back what expired; the ids of the attempts that are lost by it."""
    lost = sorted(
        set(
            Lease.objects.select_for_update(skip_locked=True)
            .filter(expires_at__lt=now)
            .values_list("attempt_id", flat=True)
        )
    )
    Lease.objects.filter(attempt_id__in=lost).delete()
    Attempt.objects.filter(pk__in=lost, state=AttemptState.RUNNING).update(state=AttemptState.LOST, ended_at=now)
    return lost
