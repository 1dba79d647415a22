"""The numbers of a made-up trial. Pure.

A value is that of its metric and label, times the speed of the server's version and of the number of clients, times
what the run, the block and the trial itself deviate."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from results.domain.measurement.histogram import HeatMap, Histogram
from results.domain.measurement.metrics import TOTAL, Better, Metric
from results.domain.measurement.parsed_trial import Document, Latencies, Measurement
from results.domain.measurement.series import Series

SECONDS = 60
OF_RUN, OF_BLOCK, OF_TRIAL, OF_VALUE = 0.006, 0.003, 0.008, 0.006  # standard deviations of the logarithm
_SPEED_A_MAJOR = 0.02
_SIGN = {Better.HIGHER: 1.0, Better.LOWER: -1.0, Better.NEITHER: 0.0}
_OF_UNIT = {"tps": 1000.0, "us": 900.0, "s": 12.0, "B": 4e8, "B/s": 3e7, "%": 45.0, "1/s": 5000.0}
_LABELS = {
    "ssb.query.seconds": tuple(f"q{flight}.{number}" for flight in (1, 2, 3, 4) for number in (1, 2, 3)),
    "scan.seconds": ("id", "val10", "val20"),
    "maintenance.seconds": ("VACUUM", "ANALYZE", "CLUSTER", "REINDEX", "VACUUM FULL"),
}
_GROUPS = ("Storage", "Indexes", "Transactions", "Queries", "Maintenance")
CAPABILITIES = tuple(f"{group.lower()} {number}" for group in _GROUPS for number in range(1, 9))


@dataclass(frozen=True)
class Speed:
    """What the numbers of one trial follow from.

    faster: by how much it is faster than usual, as a logarithm
    """

    faster: float
    clients: float

    @classmethod
    def of(cls, dimensions: Mapping[str, Any], deviation: float) -> Speed:
        slower = 0.15 if dimensions.get("access_method") == "zheap" else 0.0
        major = float(dimensions.get("major") or 16)
        return cls(_SPEED_A_MAJOR * (major - 16) - slower + deviation, float(dimensions.get("clients") or 1))


def chosen(workload: Sequence[Metric], watched: Sequence[Metric], most: int) -> list[tuple[Metric, str, str]]:
    """Return what a trial measures, at most so many values: (metric, node, label), the workload's own first."""
    own = [(metric, "", label) for metric in workload for label in labels(metric)]
    return [*own, *((metric, "primary", "") for metric in watched if not metric.whole)][:most]


def labels(metric: Metric) -> tuple[str, ...]:
    known = _LABELS.get(metric.name, ())
    return (*known, "") if not known or metric.whole == TOTAL else known


@dataclass(frozen=True)
class Measured:
    """What the trials of a configuration measure: of each value its usual size, and whether speed makes it larger (1),
    smaller (-1) or neither (0). Arrays of the length of `keys`.

    keys: (metric, node, label)
    """

    keys: tuple[tuple[str, str, str], ...]
    usual: np.ndarray
    sign: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, chosen: Sequence[tuple[Metric, str, str]], clients: float) -> Measured:
        usual = [_usual(metric, label, clients) for metric, _, label in chosen]
        sign = [_SIGN[metric.better] for metric, _, _ in chosen]
        most = [97.0 if metric.unit == "%" else np.inf for metric, _, _ in chosen]
        keys = tuple((metric.name, node, label) for metric, node, label in chosen)
        return cls(keys, np.array(usual), np.array(sign), np.array(most))

    def values(self, speed: Speed, chance: Generator) -> Iterator[Measurement]:
        """Yield the numbers of one trial, with the six decimals that pgbench prints."""
        deviation = self.sign * speed.faster + chance.normal(0.0, OF_VALUE, len(self.keys))
        values = np.minimum(self.usual * np.exp(deviation), self.most).round(6).tolist()
        for (metric, node, label), value in zip(self.keys, values, strict=True):
            yield Measurement(metric, value, node, label)


def _usual(metric: Metric, label: str, clients: float) -> float:
    base = _OF_UNIT.get(metric.unit, 200.0) * (0.5 + zlib.crc32(f"{metric.name} {label}".encode()) / 2**32)
    return base * (clients**0.8 if metric.unit in ("tps", "1/s", "B/s") else 1.0)


def series(speed: Speed, chance: Generator) -> Iterator[Series]:
    """Yield one a second, as pgbench's progress and sar print them."""
    tps = 1000 * speed.clients**0.8 * np.exp(speed.faster + chance.normal(0, 0.04, SECONDS))
    yield Series("tps", "client", "tps", 0, 1, tuple(tps.round(1).tolist()))
    for name, middle in (("cpu.user", 40), ("cpu.system", 12)):
        shares = middle * np.exp(chance.normal(0, 0.04, SECONDS))
        yield Series(name, "primary", "%", 0, 1, tuple(shares.round(2).tolist()))


def latencies(speed: Speed, chance: Generator) -> Latencies:
    """Return the latencies of a log-normal load, as a histogram and a heat map of ten columns."""
    middle = np.log(900 * speed.clients**0.2) - speed.faster
    latency_us, counts = np.unique(chance.lognormal(middle, 0.15, 2000).astype(int), return_counts=True)
    buckets = np.floor(np.log2(latency_us) * 4).astype(int)
    bucket, places = np.unique(buckets, return_inverse=True)
    summed = np.bincount(places, weights=counts).astype(int)
    seconds = np.repeat(np.arange(0, SECONDS, 6), len(bucket))
    heat = HeatMap(tuple(seconds.tolist()), tuple(np.tile(bucket, 10).tolist()), tuple(np.tile(summed, 10).tolist()))
    return Latencies("client", "", Histogram(tuple(latency_us.tolist()), tuple(counts.tolist())), heat)


def capabilities(access_method: str) -> Iterator[Document]:
    """Yield an answer a capability."""
    for order, name in enumerate(CAPABILITIES):
        refused = access_method != "heap" and order % 5 == 0
        content = {
            "access_method": access_method,
            "title": name.capitalize(),
            "group": _GROUPS[order // 8],
            "order": order,
            "outcome": "cannot" if refused else "yes",
            "message": "not implemented" if refused else "",
            "compared": "",
            "statement": "",
            "sqlstate": "0A000" if refused else "",
            "seconds": 0.01,
        }
        yield Document("capability", name, content, node="primary")
