"""End the sessions that a trial has left on a server, so that none goes on into the next trial."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from results.domain.errors import AgentError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import ngettext_lazy
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
    fate = stopped.forced or _("The server in {folder} was stopped.", folder=server.data_dir)
    return _("{why} {fate}", why=why, fate=fate)


async def _end_sessions(server: Server, patience_s: float) -> str:
    """End the sessions; return why they could not be ended, '' where they are gone."""
    until = time.monotonic() + patience_s
    try:
        while left := (await server.query(_END, timeout_s=max(_ANSWER_S, patience_s)))[0]["sessions"]:
            if time.monotonic() > until:
                return ngettext_lazy(
                    "{number} session did not end within {seconds:g} s after pg_terminate_backend.",
                    "{number} sessions did not end within {seconds:g} s after pg_terminate_backend.",
                    left,
                    seconds=patience_s,
                )
            await asyncio.sleep(_POLL_S)
    except AgentError as error:
        return _("It does not answer: {why}", why=error.why or error.what)
    return ""
