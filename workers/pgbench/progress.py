"""Parse pgbench's standard error: progress lines into series, errors into the failure's text. Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from results.domain.errors import ParseError
from results.domain.measurement.series import Series
from results.domain.messages import gettext_lazy as _

_HEAD = re.compile(
    r"progress: (?P<at>[\d.]+) s, (?P<tps>\S+) tps, lat (?P<mean>\S+) ms(?: stddev (?P<sd>\S+?))?(?:,|$)"
)
_FAILED = re.compile(r", (\d+) failed\b")
_ABORTED = re.compile(r"^(?:pgbench: (?:error|fatal): )?client \d+ (?:script \d+ )?aborted", re.IGNORECASE)
_ERROR = re.compile(r"^(?:pgbench: (?:error|fatal): |pgbench: |connection to |ERROR: |FATAL: |PANIC: )")
_UNCONNECTED = re.compile(
    r"(?:pgbench: (?:error|fatal): )?"
    r"(?:connection to (?:database|server)\b.* failed|could not (?:create connection|open logfile|connect))"
)
_MS = 1000.0


@dataclass(frozen=True)
class ProgressLine:
    """One line of `pgbench -P`.

    at_s: seconds since pgbench's start
    failed: transactions; None where this version does not print them
    """

    at_s: float
    tps: float
    latency_us: float
    sd_us: float
    failed: int | None


def read_progress(text: str, file: str = "stderr") -> list[ProgressLine]:
    """Return every complete progress line; a killed pgbench leaves half a line. Raises ParseError for a damaged one."""
    lines_read = []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        if not line.startswith("progress:"):
            continue
        try:
            lines_read.append(_progress_line(line))
        except ValueError:
            raise ParseError(_("not a progress line of pgbench"), file=file, line=number, text=line) from None
    return lines_read


def _progress_line(line: str) -> ProgressLine:
    match = _HEAD.match(line)
    if match is None:
        raise ValueError(line)
    at_s, tps, mean_ms, sd_ms = (float(match[name] or "nan") for name in ("at", "tps", "mean", "sd"))
    if any(map(math.isinf, (at_s, tps, mean_ms * _MS, sd_ms * _MS))):
        raise ValueError(line)
    failed = _FAILED.search(line)
    return ProgressLine(at_s, tps, mean_ms * _MS, sd_ms * _MS, int(failed[1]) if failed else None)


def progress_series(lines: list[ProgressLine], node: str) -> tuple[Series, ...]:
    """Return tps, mean and standard deviation of latency, and failed transactions per second.

    Each value is at the end of its second, as pgbench printed it.
    """
    if not lines:
        return ()
    times = tuple(line.at_s for line in lines)
    series = [
        _series("tps", node, "tps", times, [line.tps for line in lines]),
        _series("latency.mean", node, "us", times, [line.latency_us for line in lines]),
        _series("latency.sd", node, "us", times, [line.sd_us for line in lines]),
    ]
    if (failed := _failed_per_second(lines)) is not None:
        series.append(_series("failed", node, "1/s", times, failed))
    return tuple(series)


def _failed_per_second(lines: list[ProgressLine]) -> list[float] | None:
    """Return the rates; None where a line does not have failures, or covers no time."""
    rates: list[float] = []
    before_s = 0.0
    for line in lines:
        if line.failed is None or line.at_s <= before_s:
            return None
        rates.append(line.failed / (line.at_s - before_s))
        before_s = line.at_s
    return rates


def _series(name: str, node: str, unit: str, times: tuple[float, ...], values: list[float]) -> Series:
    regular = all(abs(at - times[0] - index) < 1e-6 for index, at in enumerate(times))
    if regular:
        return Series(name, node, unit, times[0], 1.0, tuple(values))
    return Series(name, node, unit, times[0], 0.0, tuple(values), times_s=times)


def first_error(stderr: str) -> str:
    """Return the first error message of pgbench or the server, with the lines that belong to it; '' for none."""
    lines = stderr.splitlines()
    for pattern in (_ABORTED, _ERROR):
        for index, line in enumerate(lines):
            if pattern.match(line):
                return "\n".join([line, *_continuation(lines[index + 1 :])]).strip()
    return ""


def _continuation(lines: list[str]) -> list[str]:
    """Return the lines that continue a message: indented ones, and the server's LINE, DETAIL, HINT, CONTEXT."""
    lines_read = []
    for line in lines[:8]:
        if not re.match(r"\s+\S|LINE \d|(?:DETAIL|HINT|CONTEXT|pgbench: (?:detail|hint)):", line):
            break
        lines_read.append(line)
    return lines_read


def was_aborted(stderr: str) -> bool:
    """Return whether any client gave up: versions before 12 go on with the others and end with exit status 0."""
    return aborted_clients(stderr) > 0 or any("Run was aborted" in line for line in stderr.splitlines())


def aborted_clients(stderr: str) -> int:
    """Return how many clients gave up, each in the middle of a transaction."""
    return sum(1 for line in stderr.splitlines() if _ABORTED.match(line))


def never_connected(stderr: str) -> bool:
    """Return whether a thread could not connect or log.

    Up to version 13 the others go on, the report counts all clients as if they had run, and the exit status is 0.
    """
    return any(_UNCONNECTED.match(line) for line in stderr.splitlines())
