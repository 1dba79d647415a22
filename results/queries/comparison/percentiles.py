"""Percentiles that are not stored, of the exact latencies of every trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from results import sql
from results.domain.measurement.histogram import Histogram, merge, unpacked_histogram
from results.ranges import require_attached


class _Latencies(NamedTuple):
    attempt_id: int
    label: str
    latencies_us: bytes
    counts: bytes


def percentiles(percent: float, parameters: Mapping[str, Any]) -> dict[tuple[int, str], int]:
    """Return (attempt, label) → the smallest latency, µs, with at least `percent` % of the transactions at or below it,
    all clients together. Two queries. Raises StateError where the latencies of a run are in an archive.

    parameters: `runs` and `configurations`, as of `replicates.sql`"""
    require_attached(parameters["runs"])
    parts: dict[tuple[int, str], list[Histogram]] = {}
    for row in sql.tuples(_Latencies, sql.load(__file__, "latencies"), parameters):
        parts.setdefault((row.attempt_id, row.label), []).append(unpacked_histogram(row.latencies_us, row.counts))
    together = {key: own[0] if len(own) == 1 else merge(own) for key, own in parts.items()}
    return {key: one.percentile_us(percent) for key, one in together.items() if one.counts}
