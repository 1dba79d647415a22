"""Leases, the right to use agents: acquire, heartbeat, release, expire.

Each operation is one statement or one transaction; an attempt's id is the fencing token."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import reduce
from operator import or_
from typing import ParamSpec

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import Q, QuerySet

from results import sql, warehouse
from results.agents import require_in_use
from results.domain.errors import StateError
from results.domain.messages import gettext_lazy as _
from results.domain.states import AttemptState
from results.models import Agent, Attempt, Lease

log = logging.getLogger(__name__)
TTL_S = float(settings.TEITEN_LEASE_S)
HEARTBEAT_S = TTL_S / 5
P = ParamSpec("P")
_CONTACT_PATIENCE_S = 60.0  # with a warehouse that is away: a person may wait for a page
_POLL_S = 0.2


def acquire(attempt_id: int, agents: Sequence[int], now: datetime) -> bool:
    """Lease all of the agents or none, in one statement; return whether it did. Call inside a transaction.

    In order of their ids: of two that want the same ones one waits for the other, and neither for both."""
    count = sql.execute(
        """
        INSERT INTO results_lease (agent_id, attempt_id, acquired_at, heartbeat_at, expires_at)
        SELECT agent, %(attempt)s, %(now)s, %(now)s, %(expires)s
          FROM unnest(%(agents)s::bigint[]) AS agent
         WHERE NOT EXISTS (SELECT FROM results_lease WHERE agent_id = ANY(%(agents)s))
         ORDER BY agent
        ON CONFLICT (agent_id) DO NOTHING
        """,
        {
            "attempt": attempt_id,
            "agents": list(agents),
            "now": now,
            "expires": now + timedelta(seconds=TTL_S),
        },
    )
    return count == len(agents)


class LeaseState(Enum):
    """What a heartbeat learns of an attempt's leases."""

    KEPT = "kept"
    CANCELLED = "cancelled"  # the trial is; the attempt still has its leases, and must stop and clean up
    LOST = "lost"  # another attempt may use the agents
    TAKEN = "taken"  # another worker goes on with this attempt, or is to
    AWAY = "away"  # the warehouse does not run: nobody can take the agents


@dataclass(frozen=True)
class _Answer:
    attempt: int
    worker: str
    state: str


def heartbeat(attempt_id: int, worker: str, now: datetime) -> LeaseState:
    """Prolong the attempt's leases; return whether this worker may go on with it."""
    return heartbeats([(attempt_id, worker)], now)[attempt_id, worker]


def heartbeats(asked: Sequence[tuple[int, str]], now: datetime) -> dict[tuple[int, str], LeaseState]:
    """Prolong the leases of attempts, in one statement; return whether each worker may go on with its own.

    asked: (attempt, worker)
    """
    params = {
        "attempts": [attempt_id for attempt_id, _worker in asked],
        "workers": [worker for _attempt_id, worker in asked],
        "now": now,
        "expires": now + timedelta(seconds=TTL_S),
    }
    answers = sql.rows(_Answer, sql.load(__file__, "heartbeats"), params)
    return {(answer.attempt, answer.worker): LeaseState(answer.state) for answer in answers}


@contextmanager
def contact_lease(
    agent_id: int,
    now: Callable[[], datetime],
    patience_s: float = 0.0,
    purpose: str = _("Looking for its facts"),
) -> Iterator[Callable[[], bool]]:
    """Lease an agent without an attempt, as for a contact; at most TTL_S longer than this process lives.

    Gives a function that returns whether the lease is lost, or may be: without a heartbeat for TTL_S. Raises StateError
    when the agent is in use, and for an archived one.

    patience_s: seconds to wait for an agent in use
    purpose: what the agent is leased for, for the error message
    """
    with contact_leases([agent_id], now, patience_s, purpose) as lost:
        yield lost


@contextmanager
def contact_leases(
    agents: Iterable[int], now: Callable[[], datetime], patience_s: float, purpose: str
) -> Iterator[Callable[[], bool]]:
    """Lease several agents, as `contact_lease` does one; the function says whether one of the leases is lost."""
    held: list[Q] = []
    try:
        for agent_id in agents:
            lease = _wait_for_contact(agent_id, now, patience_s, purpose)
            held.append(Q(pk=lease.pk, acquired_at=lease.acquired_at))
        with _heartbeats(_leases(held), len(held), now) as lost:
            yield lost
    finally:
        if held:
            retry(_leases(held).delete)


def _leases(held: Sequence[Q]) -> QuerySet[Lease]:
    return Lease.objects.filter(reduce(or_, held, Q(pk__in=[])), attempt=None)


def _wait_for_contact(agent_id: int, now: Callable[[], datetime], patience_s: float, purpose: str) -> Lease:
    require_in_use(Agent.objects.get(pk=agent_id))
    deadline = now() + timedelta(seconds=patience_s)
    while (lease := _acquire_for_contact(agent_id, now())) is None:
        if now() >= deadline:
            raise _busy_error(agent_id, purpose)
        time.sleep(_POLL_S)
    return lease


def retry(operation: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    """Call an operation of a contact, and retry it while the warehouse is away. Raises AwayError."""
    warehouse.retry_for(_CONTACT_PATIENCE_S, operation, *args, **kwargs)


def _acquire_for_contact(agent_id: int, at: datetime) -> Lease | None:
    """Return a new lease for a contact, None while the agent is in use."""
    if warehouse.reachable_for_s() > TTL_S:
        release_contacts(at)
    expires = at + timedelta(seconds=TTL_S)
    lease, created = Lease.objects.get_or_create(
        agent_id=agent_id,
        defaults={"attempt": None, "acquired_at": at, "heartbeat_at": at, "expires_at": expires},
    )
    return lease if created else None


@contextmanager
def _heartbeats(these: QuerySet[Lease], count: int, now: Callable[[], datetime]) -> Iterator[Callable[[], bool]]:
    """Prolong a contact's leases from a thread with its own connection, since the contact waits for its agents."""
    ended = threading.Event()
    prolonged_s = time.monotonic()

    def prolong() -> None:
        nonlocal prolonged_s
        at = now()
        kept = these.update(heartbeat_at=at, expires_at=at + timedelta(seconds=TTL_S))
        if kept == count:
            prolonged_s = time.monotonic()
            return
        if prolonged_s > -math.inf:
            log.error("a contact was not heard of for %g s and lost its agent while it goes on", TTL_S)
        prolonged_s = -math.inf
        if not kept:
            ended.set()

    def beat() -> None:
        with closing(connection):
            while not ended.wait(HEARTBEAT_S):
                try:
                    prolong()
                except DatabaseError as error:  # the next heartbeat may succeed
                    log.warning("a contact's heartbeat: %s", error)
                    warehouse.drop_connection()

    thread = threading.Thread(target=beat, name="contact", daemon=True)
    thread.start()
    try:
        yield lambda: time.monotonic() - prolonged_s > TTL_S
    finally:
        ended.set()
        thread.join()


def _busy_error(agent_id: int, purpose: str) -> StateError:
    lease = Lease.objects.filter(agent_id=agent_id).select_related("attempt").first()
    running = lease.attempt if lease else None
    user = _("trial {trial}", trial=running.trial_id) if running else _("another contact")
    return StateError(
        _("The agent is busy with {user}.", user=user),
        why=_("{purpose} now would disturb what is measured.", purpose=purpose),
        todo=_("Try again when that has ended."),
    )


def release(attempt_id: int) -> None:
    Lease.objects.filter(attempt_id=attempt_id).delete()


def any_held() -> bool:
    """Return whether any agent is leased, or any attempt is running."""
    return Lease.objects.exists() or Attempt.objects.filter(state=AttemptState.RUNNING).exists()


def release_all() -> None:
    """Free every agent. Only where no process that used one can still be alive."""
    Lease.objects.all().delete()


def release_contacts(now: datetime) -> None:
    """Free the agents of contacts whose process is gone.

    After the warehouse was away, call it only when live contacts have had TTL_S to send a heartbeat.
    """
    Lease.objects.filter(attempt=None, expires_at__lt=now).delete()


def expired(now: datetime) -> list[int]:
    """Return the running attempts whose leases have expired, or are gone, but for those that wait to be picked up."""
    running = Attempt.objects.filter(state=AttemptState.RUNNING, left_at=None)
    return list(running.exclude(leases__expires_at__gte=now).order_by("pk").values_list("pk", flat=True))
