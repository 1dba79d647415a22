"""Run the phases of an attempt one after the other, each timed and each with a deadline."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from results.domain.errors import DeadlineError, TeitenError
from results.domain.kinds.specs import GRACE_S
from results.domain.measurement.parsed_trial import PhaseTiming
from results.domain.messages import BLANK, linked, pgettext_lazy
from results.domain.messages import gettext_lazy as _
from workers.activity_monitor import ActivityMonitor
from workers.interfaces import Stage

log = logging.getLogger(__name__)
Progress = Callable[[str, float | None], Awaitable[None]]
# A job ends at the deadline by itself. After it the phase fetches the job's output, which in `measure` may be large.
_AFTER_S = {"measure": GRACE_S}
_USUALLY_AFTER_S = 60.0


@dataclass
class Phases:
    """The phases of one attempt.

    started_s: start of the attempt, epoch seconds; no step of the worker's clock changes what is measured from there
    done: the phases that have ended
    """

    stage: Stage
    progress: Progress
    monitor: ActivityMonitor
    started_s: float
    done: list[PhaseTiming] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start of the attempt."""
        return time.monotonic() - self._began

    def resume(self, done: Sequence[PhaseTiming]) -> None:
        """Go on with an attempt of which another worker has done these phases."""
        self.done = list(done)
        ended_s = max((phase.offset_s + phase.seconds for phase in done), default=0.0)
        self._began = time.monotonic() - max(ended_s, time.time() - self.started_s)

    @asynccontextmanager
    async def phase(
        self, name: str, expected_s: float | None = None, since_s: float | None = None
    ) -> AsyncIterator[None]:
        """Run the body as one phase. Raises DeadlineError where it, or a job in it, did not end by its deadline.

        since_s: when it began, in seconds since the start of the attempt; None for now
        """
        offset_s = self.elapsed_s if since_s is None else since_s
        spent_s = self.elapsed_s - offset_s
        await self.progress(name, None if expected_s is None else max(0.0, expected_s - spent_s))
        for remote in self.stage.agents.values():
            remote.phase = name
            remote.late_s.clear()
        limit_s = self.stage.deadlines.get(name)
        left_s = None if limit_s is None else max(0.0, limit_s - spent_s)
        self.stage.ends_s = None if left_s is None else time.monotonic() + left_s
        ok = False
        try:
            async with self._with_deadline(name, limit_s, left_s), self._with_monitor(name, expected_s, left_s):
                yield
            ok = True
        finally:
            self.done.append(PhaseTiming(name, offset_s, self.elapsed_s - offset_s, ok))
            await self.monitor.end_phase(succeeded=ok)

    @asynccontextmanager
    async def _with_deadline(self, name: str, limit_s: float | None, left_s: float | None) -> AsyncIterator[None]:
        cause: TeitenError | None = None
        after_s = _AFTER_S.get(name, _USUALLY_AFTER_S) * self.stage.spec.patience
        timeout = asyncio.timeout(None if left_s is None else left_s + after_s)
        try:
            async with timeout:
                yield
        except TimeoutError:
            if not timeout.expired():
                raise
        except TeitenError as error:
            if not timeout.expired() and not self._late_s():
                raise
            cause = error
        if limit_s is not None and (timeout.expired() or self._late_s()):
            late_s = None if self._is_over() else self._late_s()
            raise self._deadline_error(name, late_s or limit_s, cause) from cause

    @asynccontextmanager
    async def _with_monitor(self, name: str, expected_s: float | None, limit_s: float | None) -> AsyncIterator[None]:
        if limit_s is None:
            yield
            return
        watch = asyncio.create_task(self.monitor.watch(name, expected_s, limit_s))
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.wait([watch])
            if not watch.cancelled() and (error := watch.exception()):
                log.error("sampling the servers of %s in phase %s failed", self.stage.job_name, name, exc_info=error)

    def _is_over(self) -> bool:
        return self.stage.ends_s is not None and time.monotonic() >= self.stage.ends_s

    def _late_s(self) -> float | None:
        """Return the deadline that a job has passed, which may come before the phase's; None where none has."""
        return next((limit_s for remote in self.stage.agents.values() for limit_s in remote.late_s), None)

    def _deadline_error(self, name: str, limit_s: float, cause: TeitenError | None) -> DeadlineError:
        limit = f"{limit_s:,.1f}".removesuffix(".0")
        return DeadlineError(
            _(
                "The phase {phase} did not end by its deadline of {limit} s.",
                phase=pgettext_lazy("phase", name),
                limit=limit,
            ),
            where=name,
            why=self._why(cause),
            todo=_(
                "Look at what it waited for. Where it is only slow, raise the plan's `patience`, which puts off "
                "all deadlines and was {patience:g}.",
                patience=self.stage.spec.patience,
            ),
        )

    def _why(self, cause: TeitenError | None) -> str:
        """Return what the sessions last waited for, and the error that the deadline led to."""
        look, unanswered = self.monitor.last, self.monitor.unanswered
        parts = [look.headline, *(_("{why}.", why=line) for line in look.lines)] if look else []
        parts += [part for part in (unanswered, cause.words if cause else "") if part]
        return linked(BLANK, parts)
