"""Several loads of one trial: the numbers of each, and of all that run the workload together. Pure."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.measurement.series import Series

LOADS = "loads.json"
TOGETHER_S = 0.1  # several loads begin within this time of each other
_SUMMED = ("tps", "tps.including", "transactions", "failed", "retried", "retries", "skipped", "late")
_WEIGHTED = ("latency.mean", "schedule.lag", "connection.mean", "statement.latency")
_SUMMED_IN_STATEMENTS = ("statement.failed", "statement.retries")
_LARGEST = ("schedule.lag.max", "connection.time")


def several_part(reading: Reading, one: Callable[[Reading], Part]) -> Part:
    """The files of several loads → a Part: every number of a load under its name, and without node those of all loads
    of the workload together: rates and counts summed, means weighted by transactions, the standard deviation pooled.
    one: reads the files of one load. Raises ParseError for damaged files."""
    loads = _loads(reading)
    parts = {load["name"]: one(_of(reading, load["name"])) for load in loads}
    measurements: list[Measurement] = []
    series: list[Series] = []
    gaps: list[Gap] = []
    for name, part in parts.items():
        measurements += [replace(measurement, node=name) for measurement in part.measurements]
        series += [replace(line, node=name) for line in part.series]
        gaps += part.gaps
    measurements += _together([parts[load["name"]].measurements for load in loads if load["workload"]])
    spread_s = _spread_s(reading, parts)
    if spread_s > TOGETHER_S:
        reason = f"they began within {1000 * spread_s:.0f} ms of each other, not within {1000 * TOGETHER_S:.0f}"
        gaps.append(Gap("loads", "", reason))
    return Part(
        measurements=tuple(measurements),
        series=tuple(series),
        gaps=tuple(gaps),
        failure="\n".join(f"{name}: {part.failure}" for name, part in parts.items() if part.failure),
    )


def _loads(reading: Reading) -> list[dict[str, Any]]:
    try:
        loads: list[dict[str, Any]] = json.loads(reading.files[LOADS])
        return [{"name": str(load["name"]), "workload": bool(load["workload"])} for load in loads]
    except (ValueError, TypeError, KeyError) as error:
        raise ParseError("not a list of loads", file=LOADS, text=str(error)) from error


def _of(reading: Reading, name: str) -> Reading:
    """The reading of one load."""
    files = {p.removeprefix(f"{name}/"): text for p, text in reading.files.items() if p.startswith(f"{name}/")}
    return replace(reading, node=name, files=files)


def _spread_s(reading: Reading, parts: Iterable[str]) -> float:
    try:
        began = [float(reading.files[f"{name}/began"]) for name in parts]
    except (KeyError, ValueError) as error:
        raise ParseError("not the moment when a load began", file="began", text=str(error)) from error
    return max(began) - min(began)


@dataclass
class _OfLoads:
    """The values of one metric and label, a load each, and the transactions that each rests on."""

    values: list[float] = field(default_factory=list)
    transactions: list[float] = field(default_factory=list)


def _together(loads: list[tuple[Measurement, ...]]) -> Iterator[Measurement]:
    known: dict[tuple[str, str], _OfLoads] = defaultdict(_OfLoads)
    for measurements in loads:
        counts = {m.label: m.value for m in measurements if m.metric == "transactions"}
        for m in measurements:
            known[m.metric, m.label].values.append(m.value)
            known[m.metric, m.label].transactions.append(counts.get(m.label, counts.get("", 0.0)))
    for (metric, label), of_loads in known.items():
        value = _of_all(metric, of_loads, known.get(("latency.mean", label), _OfLoads()).values)
        if value is not None:
            yield Measurement(metric, value, label=label)


def _of_all(metric: str, of_loads: _OfLoads, means: list[float]) -> float | None:
    """The value of all loads together; None where theirs do not add up to one. means: of their latencies."""
    values, weights = of_loads.values, of_loads.transactions
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
