"""Series as the warehouse holds them: those of one node that share their times, together in a row. Pure."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from results.domain.measurement.series import Series

MOST_VALUES = 32_768  # of a row: who reads one series has PostgreSQL unpack at most 128 kB


@dataclass(frozen=True)
class SeriesGroup:
    """Series of one node with the same times, by name and label; start_s, step_s and times_s as in `Series`.

    names, labels, units: one a series
    length: values of each series
    values: of the first series, then of the second, and so on
    """

    node: str
    start_s: float
    step_s: float
    times_s: tuple[float, ...]
    names: tuple[str, ...]
    labels: tuple[str, ...]
    units: tuple[str, ...]
    length: int
    values: tuple[float, ...]


def series_groups(series: Iterable[Series]) -> Iterator[SeriesGroup]:
    """Yield the rows of a trial's series, of at most MOST_VALUES values unless one series alone has more."""
    by_times: dict[tuple[str, int, bytes], list[Series]] = {}
    for one in series:
        times = struct.pack(f"{2 + len(one.times_s)}d", one.start_s, one.step_s, *one.times_s)  # -0.0 is not 0.0
        by_times.setdefault((one.node, len(one.values), times), []).append(one)
    for (_node, length, _times), together in by_times.items():
        together.sort(key=lambda one: (one.name, one.label))
        most = max(1, MOST_VALUES // max(1, length))
        for first in range(0, len(together), most):
            yield _group(together[first : first + most], length)


def _group(series: Sequence[Series], length: int) -> SeriesGroup:
    first = series[0]
    return SeriesGroup(
        node=first.node,
        start_s=first.start_s,
        step_s=first.step_s,
        times_s=first.times_s,
        names=tuple(one.name for one in series),
        labels=tuple(one.label for one in series),
        units=tuple(one.unit for one in series),
        length=length,
        values=tuple(chain.from_iterable(one.values for one in series)),
    )
