"""The numbers of made-up trials. Pure.

A value is that of its metric and label, times the speed of the server's version and of the number of clients, times
what the run, the block and the trial itself deviate. Chance is drawn trial by trial; what follows from it is computed
for many trials at once."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from results.domain.measurement.metrics import TOTAL, Better, Metric
from results.domain.measurement.packed_numbers import packed_ascending, packed_ascending_each, packed_each
from results.domain.measurement.parsed_trial import Document
from results.synthesis.binary import Group

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SECONDS = 60
_COLUMNS = 10  # of a heat map
_SERIES = 3
# standard deviations of the logarithm
OF_RUN, OF_BLOCK, OF_TRIAL, OF_VALUE, _OF_SECOND, _OF_LATENCY = 0.006, 0.003, 0.008, 0.006, 0.04, 0.15
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
    """What the numbers of a configuration's trials follow from.

    faster: by how much it is faster than usual, as a logarithm
    """

    faster: float
    clients: float

    @classmethod
    def of(cls, dimensions: Mapping[str, Any]) -> Speed:
        slower = 0.15 if dimensions.get("access_method") == "zheap" else 0.0
        major = float(dimensions.get("major") or 16)
        return cls(_SPEED_A_MAJOR * (major - 16) - slower, float(dimensions.get("clients") or 1))

    @cached_property
    def tps(self) -> float:
        return 1000 * self.clients**0.8

    @cached_property
    def log_latency_us(self) -> float:
        return float(np.log(900 * self.clients**0.2))


@dataclass(frozen=True)
class Load:
    """The latencies of a log-normal load.

    latencies_us: distinct ones, ascending
    counts: how often each was seen; same length
    """

    latencies_us: Integers
    counts: Integers

    @classmethod
    def of(cls, log_middle_us: float, chance: Generator) -> Load:
        seen = np.bincount(chance.lognormal(log_middle_us, _OF_LATENCY, 2000).astype(int))
        latencies_us = np.flatnonzero(seen)
        return cls(latencies_us, seen[latencies_us])


@dataclass(frozen=True)
class Chance:
    """What chance makes of a trial.

    faster: by how much it is faster than usual, as a logarithm
    of_values: standard normal numbers, one a value
    of_seconds: likewise, one a second of each series; None where the trial has neither these nor a histogram
    load: None likewise
    """

    faster: float
    of_values: Floats
    of_seconds: Floats | None = None
    load: Load | None = None

    @classmethod
    def draw(cls, speed: Speed, of_block: float, measured: int, detailed: float, chance: Generator) -> Chance:
        """measured: how many values; detailed: the share of the trials that have series and histograms"""
        faster = speed.faster + (of_block + chance.normal(0, OF_TRIAL))
        if chance.random() >= detailed:
            return cls(faster, chance.standard_normal(measured))
        normal = chance.standard_normal(measured + _SERIES * SECONDS)
        load = Load.of(speed.log_latency_us - faster, chance)
        return cls(faster, normal[:measured], normal[measured:], load)


def chosen(workload: Sequence[Metric], watched: Sequence[Metric], most: int) -> list[tuple[Metric, str, str]]:
    """Return what a trial measures, at most so many values: (metric, node, label), the workload's own first."""
    own = [(metric, "", label) for metric in workload for label in labels(metric)]
    return [*own, *((metric, "primary", "") for metric in watched if not metric.whole)][:most]


def labels(metric: Metric) -> tuple[str, ...]:
    known = _LABELS.get(metric.name, ())
    return (*known, "") if not known or metric.whole == TOTAL else known


@dataclass(frozen=True)
class Measured:
    """What the trials of a plan measure: the usual size of each value, a row a configuration, and whether speed makes
    it larger (1), smaller (-1) or neither (0).

    keys: (metric, node, label), one a column
    """

    keys: tuple[tuple[str, str, str], ...]
    usual: Floats
    sign: Floats
    most: Floats

    @classmethod
    def of(cls, chosen: Sequence[tuple[Metric, str, str]], clients: Sequence[float]) -> Measured:
        usual = [[_usual(metric, label, one) for metric, _, label in chosen] for one in clients]
        sign = [_SIGN[metric.better] for metric, _, _ in chosen]
        most = [97.0 if metric.unit == "%" else np.inf for metric, _, _ in chosen]
        keys = tuple((metric.name, node, label) for metric, node, label in chosen)
        return cls(keys, np.array(usual), np.array(sign), np.array(most))

    def values(self, configurations: Sequence[int], trials: Sequence[Chance]) -> list[list[float]]:
        """Return the numbers of each trial, with the six decimals that pgbench prints.

        configurations: index of each trial's
        """
        faster = np.array([one.faster for one in trials])
        deviation = self.sign * faster[:, np.newaxis] + OF_VALUE * np.array([one.of_values for one in trials])
        values = np.minimum(self.usual[list(configurations)] * np.exp(deviation), self.most).round(6)
        return cast("list[list[float]]", values.tolist())


def _usual(metric: Metric, label: str, clients: float) -> float:
    base = _OF_UNIT.get(metric.unit, 200.0) * (0.5 + zlib.crc32(f"{metric.name} {label}".encode()) / 2**32)
    return base * (clients**0.8 if metric.unit in ("tps", "1/s", "B/s") else 1.0)


def series(tps: Sequence[float], trials: Sequence[Chance]) -> tuple[Group, Group]:
    """Return the series of detailed trials, one number a second, as pgbench's progress and sar print them.

    tps: of each trial, usually
    """
    faster = np.array([one.faster for one in trials])
    of_seconds = _OF_SECOND * np.array([one.of_seconds for one in trials]).reshape(-1, _SERIES, SECONDS)
    of_tps, of_user, of_system = (of_seconds[:, place].copy() for place in range(_SERIES))
    client = (np.array(tps)[:, np.newaxis] * np.exp(faster[:, np.newaxis] + of_tps)).round(1)
    primary = np.hstack([12 * np.exp(of_system), 40 * np.exp(of_user)]).round(2)
    return (
        Group(1, "client", ["tps"], ["tps"], client),
        Group(2, "primary", ["cpu.system", "cpu.user"], ["%", "%"], primary),
    )


def histograms(loads: Sequence[Load]) -> Iterator[tuple[bytes, ...]]:
    """Yield of each load a histogram and a heat map of ten equal columns, packed: latencies, counts, and the heat map's
    seconds, buckets and counts."""
    latencies_us = np.concatenate([one.latencies_us for one in loads])
    counts = np.concatenate([one.counts for one in loads])
    lengths = np.array([len(one.counts) for one in loads])
    firsts = np.cumsum(lengths) - lengths
    buckets = np.floor(np.log2(latencies_us) * 4).astype(int)
    begins = np.diff(buckets, prepend=-1) != 0
    begins[firsts] = True
    cells = np.flatnonzero(begins)
    heights = np.add.reduceat(begins, firsts, dtype=int)
    yield from zip(
        packed_ascending_each(latencies_us, lengths),
        packed_each(counts, lengths),
        map(_heat_seconds, heights.tolist()),
        (column * _COLUMNS for column in packed_each(buckets[cells], heights)),
        (column * _COLUMNS for column in packed_each(np.add.reduceat(counts, cells), heights)),
        strict=True,
    )


@cache
def _heat_seconds(height: int) -> bytes:
    return packed_ascending(np.repeat(np.arange(0, SECONDS, SECONDS // _COLUMNS), height).tolist())


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
