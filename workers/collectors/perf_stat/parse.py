"""What perf stat counted → sums over the measured window, and why there is none. Pure."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _

from .spec import CYCLES, EVENTS, INSTRUCTIONS

_FILE, _ENDED = "counts.csv", "ended"
_METRICS = {event.name: event.metric for event in EVENTS}
_FACTORS = {"msec": 1000.0, "": 1.0}  # perf's units → those of the metrics
_UNSUPPORTED, _UNCOUNTED = "<not supported>", "<not counted>"
_ONLY_IN_KERNEL = ("context-switches",)
_OF_KERNEL = ("task-clock", "context-switches", "page-faults")  # which the kernel counts, and no counter
# instructions, instructions:u, and on processors with two kinds of cores cpu_core/instructions/u
_EVENT = re.compile(r"(?:cpu\w*/)?([a-z-]+)/?:?([a-zA-Z]*)", re.ASCII)
_MISSING_S = 0.2  # of the window, without counts, that is let pass
_ALL_PERCENT = 99.5


@dataclass(frozen=True)
class Count:
    """One line of perf.

    at_s: seconds since perf's start, the end of the line's interval; None where it counted once
    event: without modifiers, and without the kind of core that counted it
    value: in the metric's unit; None where the processor cannot count it, 0 where none of the processes ran
    ran: whether it was counted at all
    user_mode: whether only in user mode
    percent: part of the time in which it was counted, from which perf estimated the value
    """

    at_s: float | None
    event: str
    value: float | None
    ran: bool
    user_mode: bool
    percent: float


def parse(reading: Reading) -> Part:
    """Read the sum of each event over the measured window, and instructions per cycle. Raises ParseError."""
    counts: list[Count] = []
    for path, text in sorted(reading.files.items()):
        if path.rpartition("/")[2] == _FILE:
            of_file = read_counts(text, path)
            start_s = _start_s(of_file, reading)
            if reason := _why_outside(of_file, start_s, reading):
                return Part(gaps=(Gap("perf_stat", reading.node, reason),))
            counts += _inside(of_file, start_s, reading)
    sums, missing = _sums(counts)
    reasons = [*missing, *_notices([count for count in counts if _METRICS[count.event] in sums])]
    return Part(
        measurements=tuple(_measurements(sums, reading.node)),
        gaps=tuple(Gap("perf_stat", reading.node, reason) for reason in reasons),
    )


def _sums(counts: Sequence[Count]) -> tuple[dict[str, float], list[str]]:
    """Return metric → sum, and why other events have none."""
    by_event: dict[str, list[Count]] = defaultdict(list)
    for count in counts:
        by_event[count.event].append(count)
    sums: dict[str, float] = {}
    missing: dict[str, list[str]] = defaultdict(list)
    for event, of_event in by_event.items():
        if reason := _why_none(event, of_event):
            missing[reason].append(event)
        else:
            sums[_METRICS[event]] = math.fsum(count.value or 0.0 for count in of_event)
    return sums, [
        _("{events}: {reason}", events=linked(COMMA, events), reason=reason) for reason, events in missing.items()
    ]


def read_counts(text: str, file: str = _FILE) -> list[Count]:
    """Read what `perf stat -x ,` wrote, with or without -I. Raises ParseError for a damaged line."""
    counts = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            counts.append(_count(line.split(",")))
        except (ValueError, IndexError):
            raise ParseError(_("not a count of perf stat"), file=file, line=number, text=line) from None
    return counts


def _count(fields: Sequence[str]) -> Count:
    """Read one line. Raises ValueError or IndexError for what is none."""
    at_s = None
    if _event(fields[2]) is None:
        at_s, *fields = float(fields[0]), *fields[1:]
    match = _event(fields[2])
    if match is None:
        raise ValueError(fields[2])
    event, modifiers = match.groups()
    percent = float(fields[4]) if len(fields) > 4 and fields[4] else 100.0
    value, ran = fields[0], fields[0] not in (_UNSUPPORTED, _UNCOUNTED)
    number = None if value == _UNSUPPORTED else 0.0 if value == _UNCOUNTED else float(value) * _FACTORS[fields[1]]
    if not math.isfinite((number or 0.0) + percent + (at_s or 0.0)) or (number or 0.0) < 0:
        raise ValueError(value)
    return Count(at_s, event, number, ran, "u" in modifiers, percent)


def _event(name: str) -> re.Match[str] | None:
    match = _EVENT.fullmatch(name)
    return match if match and match[1] in _METRICS else None


def _start_s(counts: Sequence[Count], reading: Reading) -> float:
    """Return when perf began to count, epoch seconds on the node's clock; 0 where it counted once.

    The file's last line was written when the last interval had ended.
    """
    last_s = max((count.at_s for count in counts if count.at_s is not None), default=None)
    if last_s is None:
        return 0.0
    text = reading.files.get(_ENDED, "").strip()
    try:
        ended_s = float(text)
    except ValueError:
        raise ParseError(_("not a time in epoch seconds"), file=_ENDED, line=1, text=text) from None
    return ended_s - last_s


def _window(reading: Reading) -> tuple[float, float]:
    start_s, end_s = reading.window
    return start_s + reading.clock_offset_s, end_s + reading.clock_offset_s


def _why_outside(counts: Sequence[Count], start_s: float, reading: Reading) -> str:
    last_s = max((count.at_s for count in counts if count.at_s is not None), default=None)
    if last_s is None:
        return ""
    from_s, to_s = _window(reading)
    if start_s <= from_s + _MISSING_S and start_s + last_s >= to_s - _MISSING_S:
        return ""
    return _(
        "the counts are left out: perf counted from {began:.1f} s to {ended:.1f} s of a window of {length:.1f} s",
        began=start_s - from_s,
        ended=start_s + last_s - from_s,
        length=to_s - from_s,
    )


def _inside(counts: Sequence[Count], start_s: float, reading: Reading) -> Iterator[Count]:
    """Yield the counts of all intervals that share a moment with the window.

    At its beginning and end the load is at rest before and after: what is counted there is the load's.
    """
    from_s, to_s = (moment_s - start_s for moment_s in _window(reading))
    began_s, ended_s = 0.0, 0.0
    for count in counts:
        if count.at_s is not None and count.at_s != ended_s:
            began_s, ended_s = ended_s, count.at_s
        if count.at_s is None or (count.at_s > from_s and began_s < to_s):
            yield count


def _why_none(event: str, counts: Sequence[Count]) -> str:
    if all(count.value is None for count in counts):
        return _("the processor does not count this here; most virtual machines have no such counters")
    if not any(count.ran for count in counts):
        return _("perf did not count it: no process ran, or other programs had taken the counters")
    if event in _ONLY_IN_KERNEL and any(count.user_mode for count in counts):
        return _("it happens in the kernel, where perf may not count (kernel.perf_event_paranoid is above 1)")
    return ""


def _notices(counts: Sequence[Count]) -> Iterator[str]:
    if any(count.user_mode for count in counts):
        yield _("counted in user mode only: the agent's kernel.perf_event_paranoid is above 1")
    shares = [count.percent for count in counts if count.value and count.event not in _OF_KERNEL]
    if shares and (percent := math.fsum(shares) / len(shares)) < _ALL_PERCENT:
        yield _(
            "estimated from {percent:.0f} % of the time: the processor has fewer counters than were asked for",
            percent=percent,
        )


def _measurements(sums: dict[str, float], node: str) -> Iterator[Measurement]:
    for metric, value in sums.items():
        yield Measurement(metric, value, node)
    if sums.get(CYCLES) and INSTRUCTIONS in sums:
        yield Measurement("perf_stat.ipc", sums[INSTRUCTIONS] / sums[CYCLES], node)
