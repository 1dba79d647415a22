"""The server's own counters of parallel workers, read before the first and after the last timed query."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from results.domain.errors import TeitenError, TrialError
from workers.interfaces import Stage

from .load import SESSIONS, read

FILE = "parallel_workers.json"
_HAND_IN_S = 10.0


class Counters:
    """What the trial's database counts while its queries run. The server is asked nothing in between."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.before: Any = None

    async def begin(self) -> None:
        self.before = await self._read()

    async def end(self) -> None:
        """Record both. A server that counts none (before 18) leaves no file."""
        if self.before is not None and (after := await self._read()) is not None:
            self.stage.recorder.add(f"workload/{FILE}", json.dumps({"before": self.before, "after": after}, indent=1))

    async def _read(self) -> Any:
        """Once the attempt's own sessions are gone, and have handed in what they counted. None where the server counts
        none, and where it does not answer, which costs a gap."""
        try:
            await self._wait_for_sessions()
            text = await self.stage.primary.execute(read("counters.sql"), database=self.stage.database, timeout_s=60)
        except TeitenError as error:
            self.stage.recorder.gap("ssb", "primary", f"the workers of the timed queries could not be read: {error}")
            return None
        return json.loads(text) if text.strip() else None

    async def _wait_for_sessions(self) -> None:
        """Raises TrialError for sessions that stay."""
        variables = {"name": f"{SESSIONS}{self.stage.job_name}"}
        try:
            async with asyncio.timeout(_HAND_IN_S):
                while (await self.stage.primary.query(read("sessions.sql"), variables=variables))[0]["sessions"]:
                    await asyncio.sleep(0.05)
        except TimeoutError as error:
            what = f"A session of the queries had not ended {_HAND_IN_S:.0f} s after its client."
            raise TrialError(what, where="measure") from error
