"""sar's samples → series, and means over the measured window. Pure."""

from __future__ import annotations

import math
from collections import defaultdict

from results.errors import ParseError
from results.parsed import Gap, Measurement, Part
from results.series import Series
from results.specs import Reading

from .read import Sample, read_samples
from .spec import METRICS

_FILE = "sadf.json"
_UNITS = {metric.name: metric.unit for metric in METRICS}
_PER_DEVICE = ("disk.", "network.")
_TOLERANCE_S = 0.05  # how far sar's seconds wander from its start


def parse(reading: Reading) -> Part:
    """Series of every quantity; a mean for each over the seconds that lie wholly inside the window, and a Gap
    instead when none does. Devices that did nothing all the time are left out. Raises ParseError."""
    if _FILE not in reading.files:
        return Part()
    samples = read_samples(reading.files[_FILE], _FILE)
    if not samples:
        return Part(gaps=(Gap("sar", reading.node, "the trial was too short for a sample of one second"),))
    phase_s = _phase_s(reading)
    times = tuple(round(sample.at_s + phase_s - reading.clock_offset_s - reading.window[0], 3) for sample in samples)
    series = _series(samples, times, reading.node)
    length_s = reading.window[1] - reading.window[0]
    inside = [
        index
        for index, (sample, at) in enumerate(zip(samples, times, strict=True))
        if at - sample.interval_s >= -_TOLERANCE_S and at <= length_s + _TOLERANCE_S
    ]
    gaps: tuple[Gap, ...] = ()
    if not inside:
        gaps = (Gap("sar", reading.node, f"no whole second of sar lies inside the window of {length_s:.1f} s"),)
    return Part(measurements=_means(series, inside), series=series, gaps=gaps)


def _phase_s(reading: Reading) -> float:
    """sar prints whole seconds; what they leave out is the fraction of its start, recorded beside them."""
    text = reading.files.get("started", "").strip()
    if not text:
        return 0.5
    try:
        return float(text) % 1.0
    except ValueError:
        raise ParseError("not a time in epoch seconds", file="started", line=1, text=text) from None


def _series(samples: list[Sample], times: tuple[float, ...], node: str) -> tuple[Series, ...]:
    columns: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [math.nan] * len(samples))
    for index, sample in enumerate(samples):
        for key, value in sample.values.items():
            columns[key][index] = value
    regular = all(abs(at - times[0] - index) < 1e-3 for index, at in enumerate(times))
    found = []
    for (name, label), values in columns.items():
        if name.startswith(_PER_DEVICE) and not any(
            columns[key, label][i] > 0 for key in _siblings(name) for i in range(len(samples))
        ):
            continue
        timing = (1.0, ()) if regular else (0.0, times)
        found.append(Series(name, node, _UNITS[name], times[0], timing[0], tuple(values), label, timing[1]))
    return tuple(found)


def _siblings(name: str) -> tuple[str, ...]:
    prefix = name.split(".")[0] + "."
    return tuple(other for other in _UNITS if other.startswith(prefix))


def _means(series: tuple[Series, ...], inside: list[int]) -> tuple[Measurement, ...]:
    found = []
    for one in series:
        values = [one.values[index] for index in inside if not math.isnan(one.values[index])]
        if values:
            found.append(Measurement(one.name, math.fsum(values) / len(values), one.node, one.label))
    return tuple(found)
