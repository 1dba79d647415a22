"""Whether a trial was steady: how its seconds vary, and what the server did besides in its window. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from results.domain.matrix import TrialSpec
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Event, Measurement, Part
from results.domain.measurement.series import Series
from results.domain.messages import gettext_lazy as _
from workers.bundle.manifest import Manifest
from workers.postgres.configuration import PREFERRED

FEWEST_SECONDS = 10  # of which anything is said
FEWEST_AT_START = 3  # seconds
_RATE = "tps"
_LOG = "pg_stat"  # the collector that reads the servers' log
_ELAPSED = re.compile(r"\(elapsed: (\d+\.\d+) s\)$")
_LEFT_OUT = re.compile(r"\d+ more until here")  # in place of events beyond the most that are kept

METRICS = (
    Metric(
        "steady.variation",
        "%",
        Better.LOWER,
        _("Variation of the seconds"),
        _(
            "Standard deviation. Of transactions per second, second by second of the measured window, at least ten of "
            "them."
        ),
        0.1,
    ),
    Metric(
        "steady.autocorrelation",
        "1",
        Better.NEITHER,
        _("Autocorrelation of the seconds"),
        _(
            "From each second to the next, 1 at most: high where slow times last. Of transactions per second, second "
            "by second of the measured window, at least ten of them."
        ),
        0.1,
        signed=True,
    ),
    Metric(
        "steady.trend",
        "%",
        Better.NEITHER,
        _("Trend within the window"),
        _(
            "From its beginning to its end by least squares, in percent of the mean. Of transactions per second, "
            "second by second of the measured window, at least ten of them."
        ),
        0.1,
        signed=True,
    ),
    Metric(
        "steady.start",
        "%",
        Better.NEITHER,
        _("Start of the window"),
        _(
            "Its first tenth, at least three seconds, against the rest: low while caches still fill. Of transactions "
            "per second, second by second of the measured window, at least ten of them."
        ),
        0.1,
        signed=True,
    ),
    Metric(
        "steady.checkpoints",
        "1",
        Better.NEITHER,
        _("Checkpoints in the window"),
        _("Checkpoints, or restartpoints, that were at work in any part of it, by the server's log."),
    ),
    Metric(
        "steady.autovacuums",
        "1",
        Better.NEITHER,
        _("Autovacuums in the window"),
        _("Automatic VACUUM and ANALYZE that were at work in any part of it, by the server's log."),
    ),
)

Floats = NDArray[np.float64]


def steadiness(whole: Part, manifest: Manifest, spec: TrialSpec) -> Iterator[Measurement]:
    """Give what is known of the window: nothing where it was never reached or not measured to its end."""
    if manifest.window is None or manifest.error is not None:
        return
    end_s = manifest.window[1] - manifest.window[0]
    rates = [series for series in whole.series if series.name == _RATE and not series.label]
    for series in rates:
        yield from _of_seconds(series, end_s, series.node if len(rates) > 1 else "")
    for node in _with_log(manifest, spec):
        yield from _of_log([event for event in whole.events if event.node == node], node, end_s, spec.settings)


def _with_log(manifest: Manifest, spec: TrialSpec) -> list[str]:
    """Return the servers whose log was read and is written as Teiten configures it."""
    return [node for name, node in manifest.collectors if name == _LOG and node not in spec.outside]


def _of_seconds(series: Series, end_s: float, node: str) -> Iterator[Measurement]:
    """A value stands at the end of its second."""
    pairs = zip(series.times(), series.values, strict=True)
    seconds = [(at, value) for at, value in pairs if 0 < at <= end_s + 0.5 and value == value]
    if len(seconds) < FEWEST_SECONDS:
        return
    times, values = (np.array(column) for column in zip(*seconds, strict=True))
    mean = float(values.mean())
    if mean <= 0:
        return
    yield Measurement("steady.variation", 100 * float(values.std(ddof=1)) / mean, node)
    slope = float(np.polyfit(times, values, 1)[0])
    yield Measurement("steady.trend", 100 * slope * end_s / mean, node)
    first = max(FEWEST_AT_START, len(values) // 10)
    if (rest := float(values[first:].mean())) > 0:
        yield Measurement("steady.start", 100 * (float(values[:first].mean()) / rest - 1), node)
    if (correlation := _autocorrelation(values)) is not None:
        yield Measurement("steady.autocorrelation", correlation, node)


def _autocorrelation(values: Floats) -> float | None:
    """Return that from each value to the next; None of values that are all the same."""
    centred = values - values.mean()
    squares = float((centred**2).sum())
    return float((centred[1:] * centred[:-1]).sum()) / squares if squares else None


def _of_log(events: Sequence[Event], node: str, end_s: float, settings: Mapping[str, str]) -> Iterator[Measurement]:
    """Nothing of what the plan keeps out of the log, or of which not every line was kept."""
    for kind, setting, metric, count in (
        ("checkpoint", "log_checkpoints", "steady.checkpoints", _checkpoints),
        ("autovacuum", "log_autovacuum_min_duration", "steady.autovacuums", _autovacuums),
    ):
        own = sorted((event for event in events if event.kind == kind), key=attrgetter("at_s"))
        logged = settings.get(setting, PREFERRED[setting]) == PREFERRED[setting]
        if logged and not any(_LEFT_OUT.match(event.text) for event in own):
            yield Measurement(metric, count(own, end_s), node)


def _checkpoints(events: Sequence[Event], end_s: float) -> int:
    """A checkpoint logs its beginning and its end; of the first only the end may be there, of the last only the
    beginning."""
    count, began = 0, -math.inf
    for event in events:
        if "starting" in event.text:
            began = event.at_s
            continue
        count += began <= end_s and event.at_s >= 0
        began = math.inf
    at_work = math.isfinite(began) and began <= end_s
    return count + at_work


def _autovacuums(events: Sequence[Event], end_s: float) -> int:
    return sum(_overlaps(event, end_s) for event in events)


def _overlaps(event: Event, end_s: float) -> bool:
    """The event is logged at the end, with how long it took."""
    elapsed = _ELAPSED.search(event.text)
    return event.at_s >= 0 and event.at_s - (float(elapsed[1]) if elapsed else 0.0) <= end_s
