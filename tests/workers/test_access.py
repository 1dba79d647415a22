"""What a process's trials ask of the warehouse, together."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import pytest
from django.db import Error as DatabaseError
from django.db import InterfaceError, connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from results import models, sql
from results.domain.states import AttemptState, TrialState
from tests import factories
from workers import access, lease
from workers.access import OPERATIONS, Access
from workers.lease import LeaseState


@pytest.fixture
def begun(transactional_db: None) -> list[models.Attempt]:
    """Five attempts that run, of one worker."""
    trials = [factories.run(agents={"primary": factories.agent(f"a{n}").name}).trials.earliest("pk") for n in range(5)]
    attempts = [factories.begin(trial) for trial in trials]
    models.Attempt.objects.update(worker="own")
    return attempts


@pytest.fixture
def shared(transactional_db: None) -> Iterator[Access]:
    with access.shared() as one:
        yield one


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_heartbeats_of_many_attempts_are_one_statement_and_each_learns_its_own(
    begun: list[models.Attempt], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    kept, cancelled, taken, lost, without_lease = (attempt.pk for attempt in begun)
    models.Trial.objects.filter(attempts=cancelled).update(state=TrialState.CANCELLED)
    models.Attempt.objects.filter(pk=taken).update(worker="other")
    models.Attempt.objects.filter(pk=lost).update(state=AttemptState.LOST)
    models.Lease.objects.filter(attempt=without_lease).delete()
    before = dict(models.Lease.objects.values_list("attempt", "expires_at"))
    asked = [(attempt.pk, "own") for attempt in begun] + [(taken, "other"), (factories.NO_ID, "own")]
    with django_assert_num_queries(1):
        states = lease.heartbeats(asked, timezone.now() + timedelta(hours=1))
    assert states == {
        (kept, "own"): LeaseState.KEPT,
        (cancelled, "own"): LeaseState.CANCELLED,
        (taken, "own"): LeaseState.TAKEN,
        (lost, "own"): LeaseState.LOST,
        (without_lease, "own"): LeaseState.LOST,
        (taken, "other"): LeaseState.KEPT,
        (factories.NO_ID, "own"): LeaseState.LOST,
    }
    after = dict(models.Lease.objects.values_list("attempt", "expires_at"))
    assert {attempt for attempt, at in after.items() if at > before[attempt]} == {kept, cancelled, taken}


def test_however_many_trials_ask_they_have_a_few_connections_and_none_is_left(begun: list[models.Attempt]) -> None:
    own = backend()
    with access.shared() as one, ThreadPoolExecutor(50) as trials:
        backends = set(trials.map(lambda _: one.call(backend), range(200)))
        backends |= {one.report(backend).result() for _ in range(20)}
        beats = [one.heartbeat(attempt.pk, "own") for attempt in begun * 20]
        assert {beat.result() for beat in beats} == {LeaseState.KEPT}
        with access.shared() as same:
            assert same is one
        assert len(connections_of(own)) <= OPERATIONS + 2
    assert len(backends) <= OPERATIONS + 1
    deadline = time.monotonic() + 60
    while connections_of(own):  # a backend ends a moment after its connection
        assert time.monotonic() < deadline
        time.sleep(0.01)


def connections_of(own: int) -> list[int]:
    """The backends that work for this database, but for the test's own."""
    query = (
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s AND application_name = ''"
    )
    with connection.cursor() as cursor:
        cursor.execute(query + " AND backend_type = 'client backend'", [own])
        return [pid for (pid,) in cursor.fetchall()]


def test_a_connection_that_ends_fails_whoever_has_it_and_the_next_opens_another(
    shared: Access, begun: list[models.Attempt]
) -> None:
    first = shared.report(backend).result()
    sql.execute("SELECT pg_terminate_backend(%(pid)s, 5000)", {"pid": first})
    with pytest.raises(DatabaseError):
        shared.report(backend).result()
    assert shared.report(backend).result() != first
    assert shared.heartbeat(begun[0].pk, "own").result() == LeaseState.KEPT


def test_a_trial_that_is_cancelled_while_it_awaits_its_heartbeat_leaves_those_of_others(
    shared: Access, begun: list[models.Attempt]
) -> None:
    locked = threading.Event()
    cancelled = threading.Event()

    def hold_up() -> None:
        with closing(connection), transaction.atomic():
            models.Lease.objects.select_for_update().get(attempt=begun[0])
            locked.set()
            assert cancelled.wait(60)

    async def cancel() -> None:
        beat = asyncio.ensure_future(asyncio.wrap_future(shared.heartbeat(begun[0].pk, "own")))
        await asyncio.sleep(0)
        beat.cancel()
        with pytest.raises(asyncio.CancelledError):
            await beat

    with ThreadPoolExecutor(1) as other:
        holding_up = other.submit(hold_up)
        assert locked.wait(60)
        asyncio.run(cancel())
        cancelled.set()
        holding_up.result()
    assert shared.heartbeat(begun[0].pk, "own").result(60) == LeaseState.KEPT


def test_who_asks_waits_for_the_warehouse_and_not_the_threads_of_all(shared: Access) -> None:
    """More operations fail for want of a warehouse than there are threads, and one that does not is still answered."""
    first_tries = threading.Semaphore(0)
    back = threading.Event()

    def away_at_first() -> int:
        if not back.is_set():
            first_tries.release()
            raise InterfaceError("connection already closed")
        return os.getpid()

    with ThreadPoolExecutor(2 * OPERATIONS) as trials:
        waiting = [trials.submit(shared.retry, away_at_first) for _ in range(2 * OPERATIONS)]
        for _ in waiting:
            assert first_tries.acquire(timeout=60)
        assert shared.call(backend) > 0
        back.set()
        assert {each.result(60) for each in waiting} == {os.getpid()}
