"""Sample what the sessions of a trial's servers wait for, once a phase takes longer than expected."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from results.domain.measurement.activity import ActivitySample, NodeActivity, stall_to_json
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.postgres import activity
from workers.postgres.activity import Activity

Report = Callable[[ActivitySample | None], Awaitable[None]]
_LATE_S = 15.0  # beyond the expected end
_UNKNOWN_S = 60.0  # after the phase's begin, where its end cannot be estimated
_INTERVAL_S, _SHORTEST_INTERVAL_S = 60.0, 1.0
_SHARE = 4  # part of the time until the deadline, so that some samples are taken before it in any case


class ActivityMonitor:
    """Samples the sessions of a trial's servers, and reports the samples.

    last: the latest sample of the phase
    stalls: every time in which no session made progress, stored with the trial
    """

    def __init__(self, stage: Stage, report: Report) -> None:
        self.stage, self.report = stage, report
        self.last: ActivitySample | None = None
        self.stalls: list[dict[str, Any]] = []
        self._asked_s: float | None = None
        self._previous: dict[str, tuple[Activity, float]] = {}

    @property
    def unanswered(self) -> str:
        """A sentence on servers that have not answered the latest question yet; '' where they have."""
        if self._asked_s is None:
            return ""
        return _(
            "Its servers have not said for {seconds:.0f} s what their sessions wait for.",
            seconds=time.time() - self._asked_s,
        )

    async def watch(self, phase: str, expected_s: float | None, limit_s: float) -> None:
        """Sample until cancelled: from the phase's expected end on, or where that is not known, from a minute on."""
        self.last, self._asked_s, self._previous = None, None, {}
        patience = self.stage.spec.patience
        base_s = expected_s if expected_s and expected_s < limit_s else 0.0
        share_s = (limit_s - base_s) / _SHARE
        await asyncio.sleep(base_s + min((_LATE_S if base_s else _UNKNOWN_S) * patience, share_s))
        while True:
            await self._sample(phase)
            await asyncio.sleep(max(_SHORTEST_INTERVAL_S, min(_INTERVAL_S * patience, share_s)))

    async def end_phase(self, *, succeeded: bool) -> None:
        """End the phase. Where it failed, its last sample is stored with the trial."""
        if self.last and not succeeded:
            self.stage.recorder.note("look", self.last.to_json())
        elif self.last:
            self.last = None
            await self.report(None)

    async def _sample(self, phase: str) -> None:
        at_s, servers = time.time(), dict(self.stage.servers)
        if not servers:
            return
        self._asked_s = at_s
        activities = await asyncio.gather(*(activity.sample(server) for server in servers.values()))
        self._asked_s = None
        nodes = tuple(self._node(node, sample, at_s) for node, sample in zip(servers, activities, strict=True))
        self.last = ActivitySample(phase, at_s, nodes)
        self._note_stall(self.last)
        await self.report(self.last)

    def _node(self, node: str, sample: Activity, at_s: float) -> NodeActivity:
        previous, since_s = self._previous.get(node, (None, at_s))
        stalled = previous is not None and sample.is_stalled_since(previous)
        self._previous[node] = (sample, since_s if stalled else at_s)
        return NodeActivity(node, sample.sessions, sample.error, since_s if stalled else None)

    def _note_stall(self, look: ActivitySample) -> None:
        since_s = look.still_since_s
        if since_s is None:
            return
        if not self.stalls or self.stalls[-1]["since_s"] != since_s:
            self.stalls.append({})
        self.stalls[-1] = stall_to_json(since_s, look)
        self.stage.recorder.note("stalls", self.stalls)
