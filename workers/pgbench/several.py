"""Several loads of one trial: the numbers of each, and of all that run the workload together. Pure."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from results.errors import ParseError
from results.parsed import Gap, Measurement, Part
from results.specs import Reading

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
    own = [part for load in loads if load["workload"] and (part := parts[load["name"]])]
    failures = [f"{name}: {part.failure}" for name, part in parts.items() if part.failure]
    spread_s = _spread_s(reading, parts)
    gaps = [gap for part in parts.values() for gap in part.gaps]
    if spread_s > TOGETHER_S:
        reason = f"they began within {1000 * spread_s:.0f} ms of each other, not within {1000 * TOGETHER_S:.0f}"
        gaps.append(Gap("loads", "", reason))
    return Part(
        measurements=(
            *(replace(m, node=name) for name, part in parts.items() for m in part.measurements),
            *_together([part.measurements for part in own]),
        ),
        series=tuple(replace(s, node=name) for name, part in parts.items() for s in part.series),
        gaps=tuple(gaps),
        failure="\n".join(failures),
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


def _together(loads: list[tuple[Measurement, ...]]) -> Iterator[Measurement]:
    values: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)  # (value, transactions) of each load
    for measurements in loads:
        counts = {m.label: m.value for m in measurements if m.metric == "transactions"}
        for m in measurements:
            values[m.metric, m.label].append((m.value, counts.get(m.label, counts.get("", 0.0))))
    for (metric, label), found in values.items():
        numbers, weights = [value for value, _ in found], [count for _, count in found]
        if metric in _SUMMED or metric in _SUMMED_IN_STATEMENTS:
            yield Measurement(metric, math.fsum(numbers), label=label)
        elif metric in _LARGEST:
            yield Measurement(metric, max(numbers), label=label)
        elif sum(weights) and metric in _WEIGHTED:
            yield Measurement(metric, _mean(numbers, weights), label=label)
        elif sum(weights) and metric == "latency.sd" and len(means := values["latency.mean", label]) == len(found):
            squares = [sd * sd + mean * mean for sd, (mean, _) in zip(numbers, means, strict=True)]
            whole = _mean([mean for mean, _ in means], weights)
            yield Measurement(metric, math.sqrt(max(0.0, _mean(squares, weights) - whole * whole)), label=label)


def _mean(values: list[float], weights: list[float]) -> float:
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / math.fsum(weights)
