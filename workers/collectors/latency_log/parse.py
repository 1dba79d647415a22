"""The folded transaction log → exact histograms, heat maps and percentiles. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.histogram import HeatMap, Histogram, merge
from results.domain.measurement.metrics import percentile_name
from results.domain.measurement.parsed_trial import Gap, Latencies, Measurement, Part
from results.domain.messages import gettext_lazy as _

from .spec import PERCENTILES

_FILE = "folded.txt"


@dataclass
class _Script:
    latencies: Counter[int] = field(default_factory=Counter)  # µs → transactions
    heat: Counter[tuple[int, int]] = field(default_factory=Counter)  # (second, bucket) → transactions


@dataclass
class _Folded:
    origin_s: float = 0.0
    names: dict[int, str] = field(default_factory=dict)
    scripts: defaultdict[int, _Script] = field(default_factory=lambda: defaultdict(_Script))
    damaged: int = 0
    beside: str = ""


def parse(reading: Reading) -> Part:
    """Read the latencies and percentiles of each script, and of all scripts together (label '').

    With several loads each is filed under its load's name, the percentiles over all loads that run the workload under
    none; what ran beside the workload has its script's name as label. Transactions that were skipped or failed have no
    latency. Raises ParseError.
    """
    names = sorted(path.removesuffix(f"/{_FILE}") for path in reading.files if path.endswith(f"/{_FILE}"))
    return _several_loads(reading, names) if names else _one_load(reading)


def _one_load(reading: Reading) -> Part:
    latencies, gaps = _read_load(reading, _FILE, reading.node)
    measurements: list[Measurement] = []
    for latency in latencies:
        measurements += _measurements(latency)
    return Part(measurements=tuple(measurements), latencies=latencies, gaps=gaps)


def _several_loads(reading: Reading, names: Sequence[str]) -> Part:
    latencies: list[Latencies] = []
    gaps: list[Gap] = []
    for name in names:
        of_load, missing = _read_load(reading, f"{name}/{_FILE}", name)
        latencies += of_load
        gaps += missing
    measurements: list[Measurement] = []
    for latency in latencies:
        measurements += _measurements(latency, latency.node)
    all_workloads = merge([latency.histogram for latency in latencies if not latency.label])
    if all_workloads.total:
        measurements += _measurements(Latencies("", "", all_workloads, HeatMap((), (), ())))
    return Part(measurements=tuple(measurements), latencies=tuple(latencies), gaps=tuple(gaps))


def _read_load(reading: Reading, path: str, node: str) -> tuple[tuple[Latencies, ...], tuple[Gap, ...]]:
    text = reading.files.get(path, "")
    if not text:
        return (), ()
    folded = _read(text)
    # the origin is the window's start by this node's clock, so this is 0 unless the window was set afterwards
    shift = round(folded.origin_s - (reading.window[0] + reading.clock_offset_s)) if path == _FILE else 0
    gaps: tuple[Gap, ...] = ()
    if folded.damaged:
        gaps = (Gap("latency_log", node, _("{count} lines of the log were not transactions", count=folded.damaged)),)
    latencies = tuple(_latencies(folded, node, shift))
    return tuple(replace(latency, label=folded.beside) for latency in latencies) if folded.beside else latencies, gaps


def _read(text: str) -> _Folded:
    folded = _Folded()
    for number, line in enumerate(text.splitlines(), 1):
        try:
            _read_line(folded, line)
        except (ValueError, IndexError):
            raise ParseError(_("not a line of a folded log"), file=_FILE, line=number, text=line) from None
    return folded


def _read_line(folded: _Folded, line: str) -> None:
    kind, *fields = line.split(" ")
    match kind:
        case "heat":
            script, second, bucket, count = (int(value) for value in fields)
            folded.scripts[script].heat[second, bucket] += count
        case "latency":
            script, latency_us, count = (int(value) for value in fields)
            folded.scripts[script].latencies[latency_us] += count
        case "other":
            int(fields[2])
        case "damaged":
            folded.damaged += int(fields[0])
        case "beside":
            folded.beside = fields[0]
        case "origin":
            folded.origin_s = float(fields[0])
            if not math.isfinite(folded.origin_s):
                raise ValueError(line)
        case "script":
            folded.names[int(fields[0])] = " ".join(fields[1:])
        case _:
            raise ValueError(kind)


def _latencies(folded: _Folded, node: str, shift: int) -> Iterator[Latencies]:
    scripts = sorted(folded.scripts.items())
    parts = [Histogram.from_counts(script.latencies) for _number, script in scripts]
    if not sum(part.total for part in parts):
        return
    everything: Counter[tuple[int, int]] = Counter()
    for _number, script in scripts:
        everything.update(script.heat)
    yield Latencies(node, "", merge(parts), _heat(everything, shift))
    if len(scripts) > 1 or len(folded.names) > 1:
        for (number, script), histogram in zip(scripts, parts, strict=True):
            if histogram.total:
                name = folded.names.get(number, f"script {number}")
                yield Latencies(node, name, histogram, _heat(script.heat, shift))


def _heat(counts: Counter[tuple[int, int]], shift: int) -> HeatMap:
    cells = sorted((second + shift, bucket, count) for (second, bucket), count in counts.items())
    seconds, buckets, transactions = zip(*cells, strict=True) if cells else ((), (), ())
    return HeatMap(tuple(seconds), tuple(buckets), tuple(transactions))


def _measurements(latencies: Latencies, node: str = "") -> Iterator[Measurement]:
    for percent in PERCENTILES:
        value = latencies.histogram.percentile_us(percent)
        yield Measurement(percentile_name(percent), value, node, latencies.label)
    yield Measurement("latency.max", latencies.histogram.maximum_us, node, latencies.label)
