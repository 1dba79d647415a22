"""The server's own counters of parallel workers, read before the first and after the last timed query."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from results.domain.errors import TeitenError, TrialError
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage

from .load import SESSIONS, read

FILE = "parallel_workers.json"
_HAND_IN_S = 10.0


@dataclass(frozen=True)
class CountedBefore:
    """What the trial's database had counted before its queries ran, as JSON; '' where the server counts none."""

    text: str


async def begin(stage: Stage) -> None:
    """Read the counters before the first query. The server is asked nothing until `end`."""
    stage.keep(CountedBefore(await _read(stage)))


async def end(stage: Stage) -> None:
    """Record both. A server that counts none (before 18) leaves no file."""
    before = stage.kept(CountedBefore).text
    if before and (after := await _read(stage)):
        content = {"before": json.loads(before), "after": json.loads(after)}
        stage.recorder.add(f"workload/{FILE}", json.dumps(content, indent=1))


async def _read(stage: Stage) -> str:
    """Once the attempt's own sessions are gone, and have handed in what they counted. '' where the server counts none,
    and where it does not answer, which costs a gap."""
    try:
        await _wait_for_sessions(stage)
        text = await stage.primary.execute(read("counters.sql"), database=stage.database, timeout_s=60)
    except TeitenError as error:
        reason = _("the workers of the timed queries could not be read: {error}", error=error.words)
        stage.recorder.gap("ssb", "primary", reason)
        return ""
    return text.strip()


async def _wait_for_sessions(stage: Stage) -> None:
    """Raises TrialError for sessions that stay."""
    variables = {"name": f"{SESSIONS}{stage.job_name}"}
    try:
        async with asyncio.timeout(_HAND_IN_S):
            while (await stage.primary.query(read("sessions.sql"), variables=variables))[0]["sessions"]:
                await asyncio.sleep(0.05)
    except TimeoutError as error:
        what = _("A session of the queries had not ended {seconds:.0f} s after its client.", seconds=_HAND_IN_S)
        raise TrialError(what, where="measure") from error
