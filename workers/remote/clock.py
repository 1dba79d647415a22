"""Measure an agent's clock against the worker's, and see whether it is set; `SECONDS` is the clock of its scripts."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from results.domain.errors import AgentError
from results.domain.messages import gettext_lazy as _
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

# A clock that is slewed takes the time since the start with it; one that is set does not.
PRINT_BOOT = """
for _ in 1 2 3 4 5
do
    read -r before _ </proc/uptime; now=$(date +%s.%N); read -r after _ </proc/uptime
    echo "$before $now $after"
done
cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo unknown
"""
_UPTIME_STEP_S, _CONTAINERS_STEP_S = 0.01, 1.0  # of /proc/uptime, which is rounded down; as some containers have it
_SMALLEST_STEP_S = 0.1  # by which a clock counts as set


@dataclass(frozen=True)
class Boot:
    """When a machine was started, by what its clock is now.

    id: of this start of the machine
    at_s: epoch seconds of its clock, ± error_s
    """

    id: str
    at_s: float
    error_s: float


def parse_boot(printed: str) -> Boot:
    """Return what PRINT_BOOT printed, from the reading that took the shortest time. Raises ValueError."""
    *readings, boot_id = printed.split("\n")[:-1]
    moments = [tuple(float(text) for text in reading.split()) for reading in readings]
    whole = all(before_s.is_integer() and after_s.is_integer() for before_s, _, after_s in moments)
    step_s = _CONTAINERS_STEP_S if whole else _UPTIME_STEP_S
    spans = [(after_s + step_s - before_s, now_s - before_s) for before_s, now_s, after_s in moments]
    span_s, latest_s = min(spans)
    if not (span_s > 0 and math.fabs(latest_s) < math.inf):
        raise ValueError("a time is not a finite number")
    return Boot(boot_id, latest_s - span_s / 2, span_s / 2)


def set_by(before: Boot, after: Boot) -> float | None:
    """Return by how many seconds a machine's clock was set from one reading to the other; None where it was not, and
    where the machine was started anew meanwhile."""
    step_s = after.at_s - before.at_s
    if before.id != after.id or math.fabs(step_s) <= before.error_s + after.error_s + _SMALLEST_STEP_S:
        return None
    return step_s


async def clock_offset(connection: asyncssh.SSHClientConnection, place: str) -> tuple[float, float]:
    """Return the agent's clock minus the worker's, and its uncertainty (±), in seconds. Raises AgentError (retryable).

    It is read in the shortest of several round trips through one running shell, whose middle is taken as the moment of
    reading.
    """
    try:
        async with asyncio.timeout(_TIMEOUT_S), connection.create_process(quote(["sh", "-c", _PRINT_TIME])) as process:
            round_trips = [await _round_trip(process) for _trip in range(_ROUND_TRIPS)]
            process.stdin.write_eof()
    except (TimeoutError, ValueError, OSError, EOFError, asyncssh.Error) as error:
        why = str(error) or _("It did not answer within {seconds} s.", seconds=_TIMEOUT_S)
        raise AgentError(_("The agent's clock could not be read."), where=place, why=why, retryable=True) from error
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
