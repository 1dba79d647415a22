"""What perf recorded → stacks, the functions with most samples, and gaps. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.call_stacks import by_function
from results.domain.measurement.parsed_trial import Document, Gap, Measurement, Part
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end

from .spec import TOP_FUNCTIONS

_RECORDED, _STACKS = "recorded.txt", "stacks.txt"
_TIMES = ("began", "ended", "over")
_EARLY_S, _LATE_S = 0.1, 1.0  # how far a slice may stick out of the window: perf ends a little after the load
_LONGEST_LABEL = 120
_LINE = re.compile(r"(\d{1,18}) ([^;]+;.+)", re.ASCII)
_LOST = re.compile(r"lost (\d{1,18})", re.ASCII)
_FREQUENCY = re.compile(r"[1-9]\d{0,8}", re.ASCII)


@dataclass(frozen=True)
class RecordedSlices:
    """When and how perf recorded.

    event: what was sampled.
    graph: how callers were found: fp, dwarf, none.
    frequency: samples a second.
    slices: (from, to), epoch seconds on the server's clock.
    """

    event: str
    graph: str
    frequency: int
    slices: tuple[tuple[float, float], ...]

    @property
    def seconds(self) -> float:
        return sum(end - start for start, end in self.slices)

    @property
    def label(self) -> str:
        """The event and how callers were found: 'cpu-clock:u dwarf'; `:u` means user mode only."""
        return f"{self.event} {'no callers' if self.graph == 'none' else self.graph}"


def parse(reading: Reading) -> Part:
    """Read the stacks as a document, and measurements of them; only gaps where samples lie outside the window. Raises
    ParseError."""
    files, node = reading.files, reading.node
    if _STACKS not in files:
        return Part()
    recorded = read_recorded(files.get(_RECORDED, ""))
    stacks, lost = read_stacks(files[_STACKS])
    if reason := _why_outside(reading, recorded) or _why_empty(stacks, recorded):
        return Part(gaps=(Gap("perf", node, reason),))
    samples = sum(stacks.values())
    measurements = (
        Measurement("perf.samples", samples, node),
        Measurement("perf.lost", lost, node),
        Measurement("perf.seconds", recorded.seconds, node),
        Measurement("perf.processors", samples / recorded.seconds / recorded.frequency, node),
        *_shares(stacks, node),
    )
    document = Document("stacks", recorded.label, stacks, node)
    return Part(measurements=measurements, gaps=_losses(lost, samples, node), documents=(document,))


def read_recorded(text: str) -> RecordedSlices:
    """Read recorded.txt. Raises ParseError for anything that is no recording."""
    header: dict[str, str] = {}
    slices: list[tuple[float, float]] = []
    began: float | None = None
    ended: float | None = None
    for number, line in enumerate(text.splitlines(), 1):
        name, _space, value = line.partition(" ")
        if name not in _TIMES:
            header[name] = value
            continue
        moment = _moment(value, number, line)
        if name == "began":
            began, ended = moment, None
        elif name == "ended":
            ended = moment
        elif began is not None:
            slices.append((began, ended or moment))
            began = None
    frequency = header.get("frequency", "")
    if not slices or not {"event", "graph"} <= header.keys() or not _FREQUENCY.fullmatch(frequency):
        raise ParseError(_("not what perf recorded"), file=_RECORDED, line=1, text=text[:200])
    return RecordedSlices(header["event"], header["graph"], int(frequency), tuple(slices))


def read_stacks(text: str) -> tuple[dict[str, int], int]:
    """Read stacks.txt: (stack → samples, lost samples). Raises ParseError."""
    stacks: dict[str, int] = {}
    lost: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if lost_samples := _LOST.fullmatch(line):
            lost = int(lost_samples[1])
        elif match := _LINE.fullmatch(line):
            stacks[match[2]] = stacks.get(match[2], 0) + int(match[1])
        else:
            raise ParseError(_("not a count of a stack"), file=_STACKS, line=number, text=line)
    if lost is None:
        raise ParseError(_("the count of lost samples is missing"), file=_STACKS, line=1, text=masked_end(text, 199))
    return stacks, lost


def _moment(text: str, number: int, line: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParseError(_("not a time in epoch seconds"), file=_RECORDED, line=number, text=line) from None


def _why_outside(reading: Reading, recorded: RecordedSlices) -> str:
    start_s, end_s = (moment + reading.clock_offset_s for moment in reading.window)
    for began, ended in recorded.slices:
        if began < start_s - _EARLY_S or ended > end_s + _LATE_S:
            return _(
                "the samples are left out: perf watched from {began:.1f} s to {ended:.1f} s of a window of "
                "{length:.1f} s",
                began=began - start_s,
                ended=ended - start_s,
                length=end_s - start_s,
            )
    return ""


def _why_empty(stacks: dict[str, int], recorded: RecordedSlices) -> str:
    if stacks and recorded.seconds > 0:
        return ""
    return _(
        "perf took no sample in {seconds:.1f} s: the server was idle, at work in the kernel unseen, or its processes "
        "lived too short to be sampled",
        seconds=recorded.seconds,
    )


def _losses(lost: int, samples: int, node: str) -> tuple[Gap, ...]:
    if not lost:
        return ()
    taken = samples + lost
    reason = _(
        "perf lost {lost} of {taken} samples ({percent:.2g} %): the machine was busy",
        lost=lost,
        taken=taken,
        percent=100 * lost / taken,
    )
    return (Gap("perf", node, reason),)


def _shares(stacks: dict[str, int], node: str) -> Iterator[Measurement]:
    samples = sum(stacks.values())
    functions = sorted(by_function(stacks).items(), key=lambda item: (-item[1].own, item[0]))
    for function, samples_of_function in functions[:TOP_FUNCTIONS]:
        if samples_of_function.own:
            yield Measurement("perf.share", 100 * samples_of_function.own / samples, node, _label(function))


def _label(function: str) -> str:
    """Shorten a long name, with a hash that keeps names with the same beginning (C++ of LLVM) apart."""
    if len(function) <= _LONGEST_LABEL:
        return function
    end = f"… #{hashlib.sha256(function.encode()).hexdigest()[:8]}"
    return function[: _LONGEST_LABEL - len(end)] + end
