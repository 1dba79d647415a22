"""One attempt, from its lease to its numbers: executes, archives, reads the bundle, ingests, settles."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from results import hostfactors, ingest, warehouse
from results.domain.errors import AwayError, TeitenError
from results.domain.kinds.host_factors import Change
from results.domain.measurement.activity import Look
from results.domain.states import AttemptState, TrialState
from results.models import Attempt, Trial
from workers import dispatch, executor, lease
from workers.bundle import reader
from workers.bundle.writer import Archived
from workers.lease import Beat
from workers.orders import Order, agents_idle, order_of

log = logging.getLogger(__name__)
T = TypeVar("T")
_IDLE_PATIENCE_S = 60.0  # with a warehouse that is away, at a trial's end: then its servers are left running


def run(attempt_id: int, worker: str) -> bool:
    """Runs the attempt. False when another worker has it already, or it is over: a message delivered twice."""
    if not warehouse.outlast(_begun, attempt_id, worker):
        return False
    error = _executed(attempt_id)
    warehouse.outlast(dispatch.finish, attempt_id, error, timezone.now())
    return True


def _begun(attempt_id: int, worker: str) -> bool:
    """A worker is a thread, which runs one attempt at a time: what bears its name it has begun itself a moment ago."""
    mine = Attempt.objects.filter(Q(worker="") | Q(worker=worker), pk=attempt_id, state=AttemptState.RUNNING)
    return bool(mine.update(worker=worker))


def _executed(attempt_id: int) -> dict[str, Any] | None:
    """The error that ended the attempt, None when its numbers are stored."""
    try:
        return asyncio.run(_with_heartbeat(attempt_id, warehouse.outlast(order_of, attempt_id)))
    except TeitenError as failure:
        return failure.as_dict()
    except Exception as failure:
        log.exception("attempt %s", attempt_id)
        unexpected = TeitenError(
            f"Teiten itself failed: {type(failure).__name__}.",
            where="worker",
            why=str(failure),
            todo="Look at the worker's log.",
        )
        return unexpected.as_dict()


@dataclass
class _Teller:
    """What an attempt tells and asks the warehouse while it runs, in one thread: it never waits for the warehouse with
    what the trial is doing. cleaning: from the phase `clean` on. untold: the phase, until the warehouse knows of it."""

    attempt_id: int
    thread: ThreadPoolExecutor
    cleaning: bool = False
    untold: tuple[str, datetime, float | None] | None = None

    async def ask(self, verb: Callable[..., T], *words: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.thread, verb, self.attempt_id, *words)

    async def progress(self, phase: str, expected_s: float | None) -> None:
        self.cleaning = self.cleaning or phase == "clean"
        self.untold = (phase, timezone.now(), expected_s)
        await self.tell()

    async def tell(self) -> None:
        phase = self.untold
        if phase is None:
            return
        known: bool = await self.ask(_note_phase, *phase)
        if known and self.untold is phase:
            self.untold = None

    async def beat(self) -> Beat | None:
        beat = await self.ask(_beat)
        await self.tell()
        return beat

    async def ours(self) -> bool:
        return await self.ask(_beat) is not Beat.LOST

    async def idle(self) -> frozenset[str]:
        return await self.ask(_idle)

    async def noted(self, agent: str, changes: Sequence[Change]) -> None:
        await self.ask(_note_changes, agent, changes)

    async def seen(self, look: Look | None) -> None:
        await self.ask(_note_look, look)


async def _with_heartbeat(attempt_id: int, order: Order) -> dict[str, Any] | None:
    """Executes and stores beside a heartbeat. A lost lease or a cancelled trial stops the execution, but never its
    cleaning up nor what is stored of it."""
    bundles: Path = settings.TEITEN_BUNDLE_DIR
    with ThreadPoolExecutor(1, thread_name_prefix=f"attempt-{attempt_id}") as thread:
        teller = _Teller(attempt_id, thread)
        work = executor.run(order, bundles, teller.progress, teller.idle, teller.noted, teller.seen, teller.ours)
        execution = asyncio.ensure_future(work)
        await _until_done(execution, teller)
        archived, error = execution.result()
        storing = asyncio.get_running_loop().run_in_executor(None, _stored, attempt_id, bundles, archived)
        while not storing.done():
            await asyncio.wait([storing], timeout=lease.HEARTBEAT_S)
            await teller.ask(_beat)
        await teller.ask(_hang_up)
        if error and storing.exception():
            return error
        return storing.result()


async def _until_done(execution: asyncio.Future[Any], teller: _Teller) -> None:
    """Silence of the warehouse for as long as a lease lasts is a lost lease, unless it is known not to run: then nobody
    else can take the agents."""
    loop = asyncio.get_running_loop()
    last_s = loop.time()
    while not execution.done():
        await asyncio.wait([execution], timeout=lease.HEARTBEAT_S)
        beat = await teller.beat()
        last_s = loop.time() if beat is not None else last_s
        if beat is None and loop.time() - last_s > lease.TTL_S:
            beat = Beat.LOST
        if beat in (Beat.LOST, Beat.CANCELLED) and not teller.cleaning and not execution.done():
            execution.cancel(executor.LOST if beat is Beat.LOST else "cancelled")


def _stored(attempt_id: int, bundles: Path, archived: Archived) -> dict[str, Any] | None:
    """Files the archive, then its numbers; the error that the files themselves tell."""
    try:
        archive = ingest.Archive(archived.path, archived.sha256, archived.size_bytes)
        warehouse.outlast(ingest.file_archive, attempt_id, archive)
        parsed = reader.read(bundles / archived.path)
        warehouse.outlast(ingest.store, parsed, attempt_id, archive)
        return dict(parsed.error) if parsed.error else None
    finally:
        connection.close()


def _note_phase(attempt_id: int, phase: str, since: datetime, expected_s: float | None) -> bool:
    """What the pages show; False where it could not be told. A warehouse that is away for a moment costs the display,
    not the trial."""

    def note() -> bool:
        running = Trial.objects.filter(attempts=attempt_id, state=TrialState.RUNNING)
        running.update(phase=phase, phase_at=since, expected_s=expected_s)
        return True

    return _tried(attempt_id, note, lambda _: False)


def _note_look(attempt_id: int, look: Look | None) -> None:
    """What the pages show while the attempt runs; at its end come the notes of its bundle."""

    def note() -> None:
        running = Attempt.objects.filter(pk=attempt_id, state=AttemptState.RUNNING)
        running.update(notes={"look": look.to_json()} if look else {})

    _tried(attempt_id, note, lambda _: None)


def _note_changes(attempt_id: int, agent: str, changes: Sequence[Change]) -> None:
    """What the agents' pages show. The agent's own files hold it too: a warehouse that is away costs the display."""
    _tried(attempt_id, lambda: hostfactors.note_changes(agent, changes, timezone.now()), lambda _: None)


def _beat(attempt_id: int) -> Beat | None:
    """None when the warehouse did not answer: the lease allows for some silence."""

    def away(error: DatabaseError) -> Beat | None:
        return Beat.AWAY if warehouse.does_not_run(error) else None

    return _tried(attempt_id, lambda: lease.heartbeat(attempt_id, timezone.now()), away)


def _tried(attempt_id: int, verb: Callable[[], T], otherwise: Callable[[DatabaseError], T]) -> T:
    """For what is not worth waiting: it comes again, or the trial does without it."""
    try:
        return verb()
    except DatabaseError as error:
        log.warning("attempt %s: %s", attempt_id, error)
        warehouse.hang_up()
        return otherwise(error)


def _idle(attempt_id: int) -> frozenset[str]:
    """The agents that are the attempt's own to leave idle."""

    def left() -> frozenset[str]:
        lost = lease.heartbeat(attempt_id, timezone.now()) is Beat.LOST
        return frozenset() if lost else agents_idle(attempt_id)

    try:
        return warehouse.outlast_for(_IDLE_PATIENCE_S, left)
    except AwayError as error:
        log.warning("attempt %s: %s", attempt_id, error)
        return frozenset()


def _hang_up(attempt_id: int) -> None:
    connection.close()  # the connection of the thread that this runs in
