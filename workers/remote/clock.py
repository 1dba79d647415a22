"""Measure how far an agent's clock is from the worker's; `SECONDS` is the clock of its scripts."""

from __future__ import annotations

import asyncio
import math
import time
from pathlib import Path

import asyncssh

from results.domain.errors import AgentError
from workers.remote.command import quote

SECONDS = (Path(__file__).parent / "seconds.sh").read_text()  # before a script: its function `seconds`
_ROUND_TRIPS = 12
_TIMEOUT_S = 10
_LARGEST_S = 10 * 366 * 86400.0  # an offset beyond this is no clock's
# bash 5 prints the time without starting a program; elsewhere date(1) does, a millisecond later.
_PRINT_TIME = """
if command -v bash >/dev/null && [ -n "$(bash -c 'echo $EPOCHREALTIME')" ]
then exec bash -c 'while read -r _; do echo "$EPOCHREALTIME"; done'
else while read -r _; do date +%s.%N; done
fi
"""


async def clock_offset(connection: asyncssh.SSHClientConnection, place: str) -> tuple[float, float]:
    """Return the agent's clock minus the worker's, and its uncertainty (±), in seconds. Raises AgentError (retryable).

    It is read in the shortest of several round trips through one running shell, whose middle is taken as the moment of
    reading.
    """
    try:
        async with asyncio.timeout(_TIMEOUT_S), connection.create_process(quote(["sh", "-c", _PRINT_TIME])) as process:
            round_trips = [await _round_trip(process) for _ in range(_ROUND_TRIPS)]
            process.stdin.write_eof()
    except (TimeoutError, ValueError, OSError, EOFError, asyncssh.Error) as error:
        why = str(error) or f"It did not answer within {_TIMEOUT_S} s."
        raise AgentError("The agent's clock could not be read.", where=place, why=why, retryable=True) from error
    seconds, offset = min(round_trips)
    return offset, seconds / 2


async def _round_trip(process: asyncssh.SSHClientProcess[str]) -> tuple[float, float]:
    started_s = time.time()
    process.stdin.write("\n")
    answer = await process.stdout.readline()
    ended_s = time.time()
    offset_s = float(answer) - (started_s + ended_s) / 2
    if not math.fabs(offset_s) < _LARGEST_S:  # nor where it is not a number
        raise ValueError(f"{answer[:40]!r} is no time")
    return ended_s - started_s, offset_s
