"""The sessions of a server: ending what a trial has left, so that nothing of it goes on into the next."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from results.domain.errors import AgentError
from workers.postgres import cluster
from workers.postgres.server import Server

_END = (Path(__file__).parent / "sessions_end.sql").read_text()
_POLL_S = 0.1
_ANSWER_S = 30.0
PATIENCE_S = 10.0


async def end(server: Server, patience_s: float = PATIENCE_S) -> str:
    """Ends the sessions of all clients. A server that does not answer, or whose sessions do not end in patience_s,
    hangs: it is stopped, at once where it must be. What was done to it in words; '' where its sessions are gone, or it
    does not run. Raises AgentError."""
    if why := await _what_keeps(server, patience_s):
        stopped = await cluster.stop(server, patience_s)
        if stopped:
            return f"{why} {stopped.forced or f'The server in {server.data_dir} was stopped.'}"
    return ""


async def _what_keeps(server: Server, patience_s: float) -> str:
    until = time.monotonic() + patience_s
    try:
        while left := (await server.query(_END, timeout_s=max(_ANSWER_S, patience_s)))[0]["sessions"]:
            if time.monotonic() > until:
                return f"{left} session{'s' if left > 1 else ''} did not end within {patience_s:g} s of being told to."
            await asyncio.sleep(_POLL_S)
    except AgentError as error:
        return f"It does not answer: {error.why or error.what}"
    return ""
