"""Exact latency counts: merge, percentiles, over time. Pure.

Buckets over time are quarter-octaves: bucket b holds latencies in [2^(b/4), 2^((b+1)/4)) µs; bucket 0 also holds 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from results.domain.measurement.packed_numbers import ascending, whole_numbers

BUCKETS_PER_OCTAVE = 4


@dataclass(frozen=True)
class Histogram:
    """Exact counts of values.

    latencies_us: distinct latencies, ascending, in whole µs.
    counts: how often each was seen. Same length."""

    latencies_us: tuple[int, ...]
    counts: tuple[int, ...]

    @classmethod
    def from_counts(cls, counts: Mapping[int, int]) -> Histogram:
        ordered = sorted(counts.items())
        return cls(tuple(latency for latency, _ in ordered), tuple(count for _, count in ordered))

    @property
    def total(self) -> int:
        return sum(self.counts)

    @property
    def maximum_us(self) -> int:
        """The largest latency; raises ValueError on an empty histogram."""
        return max(self.latencies_us)

    def mean_us(self) -> float:
        return sum(v * c for v, c in zip(self.latencies_us, self.counts, strict=True)) / self.total

    def sd_us(self) -> float:
        """Population standard deviation, as pgbench prints it."""
        mean = self.mean_us()
        spread = sum(c * (v - mean) ** 2 for v, c in zip(self.latencies_us, self.counts, strict=True))
        return math.sqrt(spread / self.total)

    def percentile_us(self, percent: float) -> int:
        """Nearest-rank percentile: the smallest latency with at least `percent` % of transactions at or below.
        No interpolation: the answer is a latency that happened. Raises ValueError when empty or out of (0, 100]."""
        if not 0 < percent <= 100:
            raise ValueError(f"percentile {percent} is not in (0, 100]")
        if not self.counts:
            raise ValueError("an empty histogram has no percentiles")
        # Exactly: in floats 99.9 % of 1,320,000 is a little more than 1,318,680.
        rank = math.ceil(self.total * Fraction(str(percent)) / 100)
        seen = 0
        for latency, count in zip(self.latencies_us, self.counts, strict=True):
            seen += count
            if seen >= rank:
                return latency
        raise AssertionError("unreachable: rank is at most the total")


def unpacked_histogram(latencies_us: bytes, counts: bytes) -> Histogram:
    """Return a histogram that the warehouse has packed."""
    return Histogram(tuple(ascending(latencies_us)), tuple(whole_numbers(counts)))


def merge(parts: Iterable[Histogram]) -> Histogram:
    """The exact histogram of all parts' transactions together."""
    counts: dict[int, int] = {}
    for part in parts:
        for latency, count in zip(part.latencies_us, part.counts, strict=True):
            counts[latency] = counts.get(latency, 0) + count
    return Histogram.from_counts(counts)


@dataclass(frozen=True)
class HeatMap:
    """Latencies over time: cells (second since measure start, quarter-octave bucket, count), sorted. Same lengths."""

    seconds: tuple[int, ...]
    buckets: tuple[int, ...]
    counts: tuple[int, ...]


def bucket_of(latency_us: int) -> int:
    return 0 if latency_us < 1 else math.floor(math.log2(latency_us) * BUCKETS_PER_OCTAVE + 1e-9)


def bucket_bounds_us(bucket: int) -> tuple[float, float]:
    """Lower (inclusive) and upper (exclusive) bound of a bucket, µs."""
    return 2 ** (bucket / BUCKETS_PER_OCTAVE), 2 ** ((bucket + 1) / BUCKETS_PER_OCTAVE)
