"""sar's samples → series, and means over the measured window. Pure."""

from __future__ import annotations

import math

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.measurement.series import Series
from results.domain.messages import gettext_lazy as _

from .read import Samples, read_samples
from .spec import METRICS

_FILE = "sadf.json"
_UNITS = {metric.name: metric.unit for metric in METRICS}
_PER_DEVICE = ("disk.", "network.")
_TOLERANCE_S = 0.05  # how far sar's seconds wander from its start


def parse(reading: Reading) -> Part:
    """Read a series of each quantity, and its mean over the whole seconds inside the window.

    Where no second is inside, or sar ended well before the window, there is a Gap. Devices that were idle all the time
    are left out. Raises ParseError.
    """
    if _FILE not in reading.files:
        return Part()
    samples = read_samples(reading.files[_FILE], _FILE)
    if not samples.at_s:
        return Part(gaps=(Gap("sar", reading.node, _("the trial was too short for a sample of one second")),))
    start_s = reading.clock_offset_s + reading.window[0]
    times = tuple(round(at_s - start_s, 3) for at_s in _ends(samples, _started(reading)))
    series = _series(samples, times, reading.node)
    length_s = reading.window[1] - reading.window[0]
    inside = [
        index
        for index, (interval_s, at) in enumerate(zip(samples.intervals_s, times, strict=True))
        if at - interval_s >= -_TOLERANCE_S and at <= length_s + _TOLERANCE_S
    ]
    gaps: tuple[Gap, ...] = ()
    if not inside:
        none = _("no whole second of sar lies inside the window of {length:.1f} s", length=length_s)
        gaps = (Gap("sar", reading.node, none),)
    elif reason := reading.cut_short(times[-1]):
        gaps = (Gap("sar", reading.node, reason),)
    return Part(measurements=_means(series, inside), series=series, gaps=gaps)


def _started(reading: Reading) -> float | None:
    """Return when sar was started, epoch seconds on the agent's clock; None where it is not recorded."""
    text = reading.files.get("started", "").strip()
    try:
        return float(text) if text else None
    except ValueError:
        raise ParseError(_("not a time in epoch seconds"), file="started", line=1, text=text) from None


def _ends(samples: Samples, started: float | None) -> list[float]:
    """Return when each sample ended, epoch seconds.

    sar prints whole seconds only. Ends are counted from its start, one interval a sample, and kept inside the second
    that was printed: start and intervals are a few milliseconds late, which adds up.
    """
    if started is None:
        return [at_s + 0.5 for at_s in samples.at_s]
    ends: list[float] = []
    end_s = started
    for at_s, interval_s in zip(samples.at_s, samples.intervals_s, strict=True):
        end_s = min(max(end_s + interval_s, at_s), at_s + 1)
        ends.append(end_s)
    return ends


def _series(samples: Samples, times: tuple[float, ...], node: str) -> tuple[Series, ...]:
    regular = all(abs(at - times[0] - index) < 1e-3 for index, at in enumerate(times))
    step_s, times_s = (1.0, ()) if regular else (0.0, times)
    return tuple(
        Series(name, node, _UNITS[name], times[0], step_s, tuple(values), label, times_s)
        for (name, label), values in samples.columns.items()
        if not (name.startswith(_PER_DEVICE) and _was_idle(samples, name, label))
    )


def _was_idle(samples: Samples, name: str, device: str) -> bool:
    return not any(value > 0 for sibling in _siblings(name) for value in samples.columns.get((sibling, device), ()))


def _siblings(name: str) -> tuple[str, ...]:
    prefix = name.split(".")[0] + "."
    return tuple(other for other in _UNITS if other.startswith(prefix))


def _means(series: tuple[Series, ...], inside: list[int]) -> tuple[Measurement, ...]:
    measurements = []
    for one in series:
        values = [one.values[index] for index in inside if not math.isnan(one.values[index])]
        if values:
            measurements.append(Measurement(one.name, math.fsum(values) / len(values), one.node, one.label))
    return tuple(measurements)
