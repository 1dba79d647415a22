"""How far an agent's clock is from the worker's; how its scripts tell how long they have waited."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import asyncssh

from results.domain.errors import AgentError
from workers.remote.command import quote

SECONDS = (Path(__file__).parent / "seconds.sh").read_text()  # before a script: its function `seconds`
_ROUNDS = 12
_TIMEOUT_S = 10
# bash 5 tells the time without starting a program; elsewhere date(1) does, a millisecond later.
_TELL = """
if command -v bash >/dev/null && [ -n "$(bash -c 'echo $EPOCHREALTIME')" ]
then exec bash -c 'while read -r _; do echo "$EPOCHREALTIME"; done'
else while read -r _; do date +%s.%N; done
fi
"""


async def clock_offset(connection: asyncssh.SSHClientConnection, place: str) -> tuple[float, float]:
    """(agent's clock minus the worker's, ± uncertainty) in seconds: of several round trips through one running
    shell the shortest, its middle taken as the moment of reading. Raises AgentError (retryable)."""
    try:
        async with asyncio.timeout(_TIMEOUT_S), connection.create_process(quote(["sh", "-c", _TELL])) as process:
            rounds = [await _round_trip(process) for _ in range(_ROUNDS)]
            process.stdin.write_eof()
    except (TimeoutError, ValueError, OSError, asyncssh.Error) as error:
        raise AgentError("The agent's clock could not be read.", where=place, why=str(error), retryable=True) from error
    seconds, offset = min(rounds)
    return offset, seconds / 2


async def _round_trip(process: asyncssh.SSHClientProcess[str]) -> tuple[float, float]:
    began = time.time()
    process.stdin.write("\n")
    answer = await process.stdout.readline()
    ended = time.time()
    return ended - began, float(answer) - (began + ended) / 2
