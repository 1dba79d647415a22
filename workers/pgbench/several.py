"""Combine the several loads of one trial: measurements of each, and of all that run the workload together. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.measurement.series import Series
from results.domain.messages import gettext_lazy as _
from results.domain.messages import linked

LOADS = "loads.json"
TOGETHER_S = 0.1  # several loads begin within this time of each other
_SUMMED = ("tps", "tps.including", "transactions", "failed", "retried", "retries", "skipped", "late")
_WEIGHTED = ("latency.mean", "schedule.lag", "connection.mean", "statement.latency")
_SUMMED_IN_STATEMENTS = ("statement.failed", "statement.retries")
_LARGEST = ("schedule.lag.max", "connection.time")


def several_part(reading: Reading, parse_load: Callable[[Reading], Part]) -> Part:
    """Parse the files of several loads. Raises ParseError for damaged files.

    A load's measurements have its name as node. Those of all loads of the workload together have no node: rates and
    counts are summed, means weighted by transactions, standard deviations pooled.

    parse_load: parses the files of one load
    """
    loads = _loads(reading)
    parts = {load["name"]: parse_load(_reading_of(reading, load["name"])) for load in loads}
    measurements: list[Measurement] = []
    series: list[Series] = []
    gaps: list[Gap] = []
    for name, part in parts.items():
        measurements += [replace(measurement, node=name) for measurement in part.measurements]
        series += [replace(line, node=name) for line in part.series]
        gaps += part.gaps
    measurements += _total_measurements([parts[load["name"]].measurements for load in loads if load["workload"]])
    spread_s = _spread_s(reading, parts)
    if spread_s > TOGETHER_S:
        reason = _(
            "they began within {spread:.0f} ms of each other, not within {limit:.0f}",
            spread=1000 * spread_s,
            limit=1000 * TOGETHER_S,
        )
        gaps.append(Gap("loads", "", reason))
    return Part(
        measurements=tuple(measurements),
        series=tuple(series),
        gaps=tuple(gaps),
        failure=_failures({name: part.failure for name, part in parts.items() if part.failure}),
    )


def _failures(failures: Mapping[str, str]) -> str:
    lines: list[str] = [_("{load}: {failure}", load=name, failure=failure) for name, failure in failures.items()]
    return linked("\n", lines)


def _loads(reading: Reading) -> list[dict[str, Any]]:
    try:
        loads: list[dict[str, Any]] = json_text.loads(reading.files[LOADS])
        return [{"name": str(load["name"]), "workload": bool(load["workload"])} for load in loads]
    except (ValueError, TypeError, KeyError) as error:
        raise ParseError(_("not a list of loads"), file=LOADS, text=str(error)) from error


def _reading_of(reading: Reading, name: str) -> Reading:
    """Return the reading of one load."""
    files = {p.removeprefix(f"{name}/"): text for p, text in reading.files.items() if p.startswith(f"{name}/")}
    return replace(reading, node=name, files=files)


def _spread_s(reading: Reading, parts: Iterable[str]) -> float:
    try:
        began = [float(reading.files[f"{name}/began"]) for name in parts]
    except (KeyError, ValueError) as error:
        raise ParseError(_("not the moment when a load began"), file="began", text=str(error)) from error
    return max(began) - min(began)


@dataclass
class _LoadValues:
    """The values of one metric and label, one for each load, and each load's transactions."""

    values: list[float] = field(default_factory=list)
    transactions: list[float] = field(default_factory=list)


def _total_measurements(loads: list[tuple[Measurement, ...]]) -> Iterator[Measurement]:
    by_metric: dict[tuple[str, str], _LoadValues] = defaultdict(_LoadValues)
    for measurements in loads:
        counts = {m.label: m.value for m in measurements if m.metric == "transactions"}
        for m in measurements:
            by_metric[m.metric, m.label].values.append(m.value)
            by_metric[m.metric, m.label].transactions.append(counts.get(m.label, counts.get("", 0.0)))
    for (metric, label), load_values in by_metric.items():
        value = _total_value(metric, load_values, by_metric.get(("latency.mean", label), _LoadValues()).values)
        if value is not None:
            yield Measurement(metric, value, label=label)


def _total_value(metric: str, load_values: _LoadValues, means: list[float]) -> float | None:
    """Return the value of all loads together; None where the loads' values cannot be combined.

    means: of the loads' latencies
    """
    values, weights = load_values.values, load_values.transactions
    if metric in _SUMMED or metric in _SUMMED_IN_STATEMENTS:
        return math.fsum(values)
    if metric in _LARGEST:
        return max(values)
    if not sum(weights):
        return None
    if metric in _WEIGHTED:
        return _mean(values, weights)
    if metric == "latency.sd" and len(means) == len(values):
        return _pooled_sd(values, means, weights)
    return None


def _pooled_sd(sds: list[float], means: list[float], weights: list[float]) -> float:
    squares = [sd * sd + mean * mean for sd, mean in zip(sds, means, strict=True)]
    whole = _mean(means, weights)
    return math.sqrt(max(0.0, _mean(squares, weights) - whole * whole))


def _mean(values: list[float], weights: list[float]) -> float:
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / math.fsum(weights)
