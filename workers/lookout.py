"""Looks now and then what the sessions of a trial's servers wait for, once a phase takes longer than it should."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from results.domain.measurement.activity import Look, NodeLook
from workers.interfaces import Stage
from workers.postgres import activity
from workers.postgres.activity import Activity

Seen = Callable[[Look | None], Awaitable[None]]
_LATE_S = 15.0  # beyond the expected end
_UNKNOWN_S = 60.0  # where nobody knows what to expect
_EVERY_S, _AT_MOST_EVERY_S = 60.0, 1.0
_SHARE = 4  # of the time until the deadline: some looks are taken before it in any case


class Lookout:
    """last: the latest look of the phase. stalls: every time in which nothing moved, kept with the trial."""

    def __init__(self, stage: Stage, seen: Seen) -> None:
        self.stage, self.seen = stage, seen
        self.last: Look | None = None
        self.stalls: list[dict[str, Any]] = []
        self._before: dict[str, tuple[Activity, float]] = {}

    async def watch(self, phase: str, expected_s: float | None, limit_s: float) -> None:
        """Until it is cancelled. Nothing is looked at before the phase's expected end; without one once a minute."""
        self.last, self._before = None, {}
        patience = self.stage.spec.patience
        base_s = expected_s if expected_s and expected_s < limit_s else 0.0
        share_s = (limit_s - base_s) / _SHARE
        await asyncio.sleep(base_s + min((_LATE_S if base_s else _UNKNOWN_S) * patience, share_s))
        while True:
            await self._look(phase)
            await asyncio.sleep(max(_AT_MOST_EVERY_S, min(_EVERY_S * patience, share_s)))

    async def over(self, *, well: bool) -> None:
        """The phase is. Where it came to no good end its last look is kept with the trial."""
        if self.last and not well:
            self.stage.recorder.note("look", self.last.to_json())
        elif self.last:
            self.last = None
            await self.seen(None)

    async def _look(self, phase: str) -> None:
        at_s, servers = time.time(), dict(self.stage.servers)
        if not servers:
            return
        found = await asyncio.gather(*(activity.look(server) for server in servers.values()))
        nodes = tuple(self._node(node, now, at_s) for node, now in zip(servers, found, strict=True))
        self.last = Look(phase, at_s, nodes)
        self._note(self.last)
        await self.seen(self.last)

    def _node(self, node: str, now: Activity, at_s: float) -> NodeLook:
        before, since_s = self._before.get(node, (None, at_s))
        still = before is not None and now.stands_still_since(before)
        self._before[node] = (now, since_s if still else at_s)
        return NodeLook(node, now.sessions, now.trouble, since_s if still else None)

    def _note(self, look: Look) -> None:
        since_s = look.still_since_s
        if since_s is None:
            return
        if not self.stalls or self.stalls[-1]["since_s"] != since_s:
            self.stalls.append({"since_s": since_s})
        seen = {"until_s": look.at_s, "seconds": look.at_s - since_s, "phase": look.phase, "lines": list(look.lines)}
        self.stalls[-1] |= seen
        self.stage.recorder.note("stalls", self.stalls)
