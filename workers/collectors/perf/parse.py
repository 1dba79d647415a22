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

from .spec import TOP_FUNCTIONS

_RECORDED, _STACKS = "recorded.txt", "stacks.txt"
_TIMES = ("began", "ended", "over")
_EARLY_S, _LATE_S = 0.1, 1.0  # how far a slice may stick out of the window: perf ends a little after the load
_LONGEST_LABEL = 120
_LINE = re.compile(r"(\d+) ([^;]+;.+)")


@dataclass(frozen=True)
class Recorded:
    """slices: from, to; epoch seconds on the server's clock."""

    event: str
    graph: str
    frequency: int
    slices: tuple[tuple[float, float], ...]

    @property
    def seconds(self) -> float:
        return sum(end - start for start, end in self.slices)

    @property
    def label(self) -> str:
        """What was sampled and how callers were found: 'cpu-clock:u dwarf'. `:u` says that only user mode was seen."""
        return f"{self.event} {'no callers' if self.graph == 'none' else self.graph}"


def parse(reading: Reading) -> Part:
    """The stacks as a document, and numbers of them; only gaps where the samples are not of the measured window.
    Raises ParseError."""
    files, node = reading.files, reading.node
    if _STACKS not in files:
        return Part()
    recorded = read_recorded(files.get(_RECORDED, ""))
    stacks, lost = read_stacks(files[_STACKS])
    if reason := _outside(reading, recorded) or _nothing(stacks, recorded):
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


def read_recorded(text: str) -> Recorded:
    """Raises ParseError for anything that is no recording."""
    said: dict[str, str] = {}
    slices: list[tuple[float, float]] = []
    began: float | None = None
    ended: float | None = None
    for number, line in enumerate(text.splitlines(), 1):
        name, _, value = line.partition(" ")
        if name not in _TIMES:
            said[name] = value
            continue
        moment = _moment(value, number, line)
        if name == "began":
            began, ended = moment, None
        elif name == "ended":
            ended = moment
        elif began is not None:
            slices.append((began, ended or moment))
            began = None
    frequency = said.get("frequency", "")
    if not slices or not {"event", "graph"} <= said.keys() or not frequency.isdigit() or not int(frequency):
        raise ParseError("not what perf recorded", file=_RECORDED, line=1, text=text[:200])
    return Recorded(said["event"], said["graph"], int(frequency), tuple(slices))


def read_stacks(text: str) -> tuple[dict[str, int], int]:
    """(stacks, lost samples). Raises ParseError."""
    stacks: dict[str, int] = {}
    lost: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("lost ") and line[5:].isdigit():
            lost = int(line[5:])
        elif match := _LINE.fullmatch(line):
            stacks[match[2]] = stacks.get(match[2], 0) + int(match[1])
        else:
            raise ParseError("not a count of a stack", file=_STACKS, line=number, text=line)
    if lost is None:
        raise ParseError("the count of lost samples is missing", file=_STACKS, line=1, text=text[-200:])
    return stacks, lost


def _moment(text: str, number: int, line: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParseError("not a time in epoch seconds", file=_RECORDED, line=number, text=line) from None


def _outside(reading: Reading, recorded: Recorded) -> str:
    start_s, end_s = (moment + reading.clock_offset_s for moment in reading.window)
    for began, ended in recorded.slices:
        if began < start_s - _EARLY_S or ended > end_s + _LATE_S:
            return (
                f"the samples are left out: perf watched from {began - start_s:.1f} s to {ended - start_s:.1f} s "
                f"of a window of {end_s - start_s:.1f} s"
            )
    return ""


def _nothing(stacks: dict[str, int], recorded: Recorded) -> str:
    if stacks and recorded.seconds > 0:
        return ""
    return (
        f"perf took no sample in {recorded.seconds:.1f} s: the server was idle, at work in the kernel unseen, "
        "or its processes lived too short to be sampled"
    )


def _losses(lost: int, samples: int, node: str) -> tuple[Gap, ...]:
    if not lost:
        return ()
    whole = samples + lost
    return (
        Gap("perf", node, f"perf lost {lost} of {whole} samples ({100 * lost / whole:.2g} %): the machine was busy"),
    )


def _shares(stacks: dict[str, int], node: str) -> Iterator[Measurement]:
    samples = sum(stacks.values())
    functions = sorted(by_function(stacks).items(), key=lambda item: (-item[1].own, item[0]))
    for function, found in functions[:TOP_FUNCTIONS]:
        if found.own:
            yield Measurement("perf.share", 100 * found.own / samples, node, _label(function))


def _label(function: str) -> str:
    """Long names that begin alike (C++ of LLVM) stay apart."""
    if len(function) <= _LONGEST_LABEL:
        return function
    end = f"… #{hashlib.sha256(function.encode()).hexdigest()[:8]}"
    return function[: _LONGEST_LABEL - len(end)] + end
