"""The right to use agents: acquire, heartbeat, release, expire. Each verb is one statement or one transaction; an
attempt's id is the fencing token."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from enum import Enum
from typing import ParamSpec

from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import QuerySet

from results import sql, warehouse
from results.domain.errors import StateError
from results.domain.states import AttemptState, TrialState
from results.models import Attempt, Lease, Trial

log = logging.getLogger(__name__)
TTL_S = 30.0
HEARTBEAT_S = 5.0
P = ParamSpec("P")
_CONTACT_PATIENCE_S = 60.0  # with a warehouse that is away: somebody may wait at a page
_LOOK_AGAIN_S = 0.2


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


class Beat(Enum):
    """What a heartbeat found."""

    KEPT = "kept"
    CANCELLED = "cancelled"  # the trial is; the leases are still this attempt's, which must stop and clean up
    LOST = "lost"  # another attempt may use the agents
    AWAY = "away"  # the warehouse does not run: nobody can take the agents


def heartbeat(attempt_id: int, now: datetime) -> Beat:
    """Prolongs the attempt's leases, and says whether it may go on."""
    prolonged = sql.execute(
        """
        UPDATE results_lease l SET heartbeat_at = %(now)s, expires_at = %(expires)s
          FROM results_attempt a
         WHERE l.attempt_id = %(attempt)s AND a.id = l.attempt_id AND a.state = 'running'
        """,
        {"attempt": attempt_id, "now": now, "expires": now + timedelta(seconds=TTL_S)},
    )
    if not prolonged:
        return Beat.LOST
    cancelled = Trial.objects.filter(attempts=attempt_id, state=TrialState.CANCELLED).exists()
    return Beat.CANCELLED if cancelled else Beat.KEPT


@contextmanager
def contact(
    agent_id: int,
    now: Callable[[], datetime],
    patience_s: float = 0.0,
    purpose: str = "Looking for its facts",
) -> Iterator[Callable[[], bool]]:
    """Holds the agent without an attempt while its facts are looked for; once this process is gone, for no longer than
    TTL_S. Gives what tells whether it was lost, or may be: not heard of for so long, though it lives. Raises StateError
    when it is in use, and still is after so many seconds."""
    until = now() + timedelta(seconds=patience_s)
    while (held := _contact(agent_id, now())) is None:
        if now() >= until:
            raise _busy(agent_id, purpose)
        time.sleep(_LOOK_AGAIN_S)
    mine = Lease.objects.filter(pk=held.pk, attempt=None, acquired_at=held.acquired_at)
    try:
        with _prolonged(mine, now) as lost:
            yield lost
    finally:
        keep(mine.delete)


def keep(verb: Callable[P, object], *words: P.args, **named: P.kwargs) -> None:
    """What a contact has seen or done is stored though the warehouse is away for a while. Raises AwayError."""
    warehouse.outlast_for(_CONTACT_PATIENCE_S, verb, *words, **named)


def _contact(agent_id: int, at: datetime) -> Lease | None:
    """The lease of a contact; None while the agent is in use."""
    if warehouse.there_s() > TTL_S:
        release_contacts(at)
    expires = at + timedelta(seconds=TTL_S)
    lease, made = Lease.objects.get_or_create(
        agent_id=agent_id,
        defaults={"attempt": None, "acquired_at": at, "heartbeat_at": at, "expires_at": expires},
    )
    return lease if made else None


@contextmanager
def _prolonged(mine: QuerySet[Lease], now: Callable[[], datetime]) -> Iterator[Callable[[], bool]]:
    """Heartbeats of a contact, from a thread with a connection of its own: the contact itself waits for its agent."""
    over = threading.Event()
    heard_s = time.monotonic()

    def prolong() -> None:
        nonlocal heard_s
        at = now()
        if not mine.update(heartbeat_at=at, expires_at=at + timedelta(seconds=TTL_S)):
            log.error("a contact was not heard of for %g s and lost its agent while it goes on", TTL_S)
            heard_s = -math.inf
            over.set()
            return
        heard_s = time.monotonic()

    def beat() -> None:
        with closing(connection):
            while not over.wait(HEARTBEAT_S):
                try:
                    prolong()
                except DatabaseError as error:  # it comes again
                    log.warning("a contact's heartbeat: %s", error)
                    warehouse.hang_up()

    thread = threading.Thread(target=beat, name="contact", daemon=True)
    thread.start()
    try:
        yield lambda: time.monotonic() - heard_s > TTL_S
    finally:
        over.set()
        thread.join()


def _busy(agent_id: int, purpose: str) -> StateError:
    user = Lease.objects.filter(agent_id=agent_id).select_related("attempt").first()
    what = f"trial {user.attempt.trial_id}" if user and user.attempt else "another contact"
    return StateError(
        f"The agent is busy with {what}.",
        why=f"{purpose} now would disturb what is measured.",
        todo="Try again when that has ended.",
    )


def release(attempt_id: int) -> None:
    Lease.objects.filter(attempt_id=attempt_id).delete()


def any_held() -> bool:
    """Whether anything uses, or is noted to use, an agent."""
    return Lease.objects.exists() or Attempt.objects.filter(state=AttemptState.RUNNING).exists()


def release_all() -> None:
    """Frees every agent. Only where nothing that has run can still be alive."""
    Lease.objects.all().delete()


def release_contacts(now: datetime) -> None:
    """Frees the agents of contacts whose process is gone. As of attempts: not before those that live have had the time
    of a lease to be heard of, where the warehouse was away."""
    Lease.objects.filter(attempt=None, expires_at__lt=now).delete()


def expired(now: datetime) -> list[int]:
    """The running attempts whose leases have expired, or are gone."""
    running = Attempt.objects.filter(state=AttemptState.RUNNING)
    return list(running.exclude(leases__expires_at__gte=now).order_by("pk").values_list("pk", flat=True))
