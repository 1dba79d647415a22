"""End the sessions that a trial has left on a server, so that none goes on into the next trial."""

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
    """End the sessions of all clients, and stop a server that hangs; return why it was stopped, '' where it was not.

    A server hangs that does not answer, or whose sessions do not end within patience_s. Raises AgentError.
    """
    why = await _end_sessions(server, patience_s)
    if not why:
        return ""
    stopped = await cluster.stop(server, patience_s)
    if stopped is None:
        return ""
    return f"{why} {stopped.forced or f'The server in {server.data_dir} was stopped.'}"


async def _end_sessions(server: Server, patience_s: float) -> str:
    """End the sessions; return why they could not be ended, '' where they are gone."""
    until = time.monotonic() + patience_s
    try:
        while left := (await server.query(_END, timeout_s=max(_ANSWER_S, patience_s)))[0]["sessions"]:
            if time.monotonic() > until:
                sessions = f"{left} session{'s' if left > 1 else ''}"
                return f"{sessions} did not end within {patience_s:g} s after pg_terminate_backend."
            await asyncio.sleep(_POLL_S)
    except AgentError as error:
        return f"It does not answer: {error.why or error.what}"
    return ""
