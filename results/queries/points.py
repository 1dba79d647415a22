"""A comparison's cells as columns: what thousands of `Point`s would say, made into them only where they are read."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from results.domain.statistics.verdict import KINDS, Verdict, Verdicts
from results.queries.cells import Point, Replicate
from results.queries.configurations import Bools, Ints
from results.queries.replicates import Cells, Columns, Floats
from results.queries.selection import STATISTICS

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Points(Sequence[Point]):
    """value: each cell's statistic. base: place of the cell that it is compared with, or NOWHERE. ratio: of their
    values, NaN without. judged: place of its verdict, or NOWHERE. apart: replicates that stand apart."""

    cells: Cells
    value: Floats
    base: Ints
    ratio: Floats
    verdicts: Verdicts
    judged: Ints
    apart: Bools

    def __len__(self) -> int:
        return len(self.cells.keys)

    @overload
    def __getitem__(self, place: int) -> Point: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Point]: ...
    def __getitem__(self, place: int | slice) -> Point | Sequence[Point]:
        return self._rows[place]

    def __iter__(self) -> Iterator[Point]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._rows == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def of(points: Sequence[Point]) -> Points:
        """The same again, of such as were read or changed one by one."""
        return points if isinstance(points, Points) else _columns(points)

    def of_verdicts(self, name: str) -> Floats:
        """A number of each cell's verdict, NaN without."""
        found = np.full(len(self), np.nan)
        has = self.judged != NOWHERE
        found[has] = getattr(self.verdicts, name)[self.judged[has]]
        return found

    def outliers(self) -> list[int]:
        """Trials whose values stand apart in any cell."""
        return list(dict.fromkeys(self.cells.columns.trial[self.apart].tolist()))

    @cached_property
    def _rows(self) -> tuple[Point, ...]:
        cells, keys = self.cells, self.cells.keys
        verdicts = self.verdicts.rows()
        apart: dict[int, list[int]] = defaultdict(list)
        named = cells.columns.take(self.apart)
        for cell, trial in zip(named.cell.tolist(), named.trial.tolist(), strict=True):
            apart[cell].append(trial)
        columns = (self.value, self.base, self.ratio, self.judged, *map(cells.statistic, STATISTICS))
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(
            Point(
                x=key[1],
                series=key[2],
                panel=key[0],
                value=value,
                median=median,
                mean=mean,
                minimum=minimum,
                maximum=maximum,
                values=own,
                configurations=configurations,
                base=keys[base] if base != NOWHERE else None,
                ratio=None if math.isnan(ratio) else ratio,
                verdict=verdicts[judged] if judged != NOWHERE else None,
                outliers=tuple(apart.get(cell, ())),
            )
            for cell, (key, own, configurations, of) in enumerate(
                zip(keys, cells.replicates(), cells.configurations, numbers, strict=True)
            )
            for value, base, ratio, judged, median, mean, minimum, maximum in (of,)
        )


def _columns(points: Sequence[Point]) -> Points:
    lengths = [len(point.values) for point in points]
    values = [replicate for point in points for replicate in point.values]
    place = {point.key: index for index, point in enumerate(points)}
    verdicts = [point.verdict for point in points if point.verdict]
    judged = np.full(len(points), NOWHERE)
    judged[[index for index, point in enumerate(points) if point.verdict]] = np.arange(len(verdicts))
    own = {name: np.array(column) for name, column in zip(Replicate._fields, _turned(values), strict=True)}
    cells = Cells(
        keys=tuple(place),
        columns=Columns(
            cell=np.repeat(np.arange(len(points)), lengths),
            environment=np.zeros(len(values), dtype=np.int64),
            **{name.removesuffix("_id"): column for name, column in own.items()},
        ),
        configurations=tuple(point.configurations for point in points),
        bounds=np.cumsum([0, *lengths]),
    )
    named = [replicate.trial_id in point.outliers for point in points for replicate in point.values]
    return Points(
        cells=cells,
        value=np.array([point.value for point in points]),
        base=np.array([place[point.base] if point.base else NOWHERE for point in points], dtype=np.int64),
        ratio=np.array([point.ratio for point in points], dtype=float),
        verdicts=_verdicts(verdicts),
        judged=judged,
        apart=np.array(named, dtype=bool),
    )


def _turned(values: Sequence[Replicate]) -> list[list[Any]]:
    return [list(column) for column in zip(*values, strict=True)] or [[] for _ in Replicate._fields]


def _verdicts(verdicts: Sequence[Verdict]) -> Verdicts:
    def numbers(name: str) -> Floats:
        return np.array([getattr(verdict, name) for verdict in verdicts], dtype=float)

    def whole(name: str) -> Ints:
        return np.array([getattr(verdict, name) for verdict in verdicts], dtype=np.int64)

    return Verdicts(
        kind=np.array([KINDS.index(verdict.kind) for verdict in verdicts], dtype=np.int64),
        ratio=numbers("ratio"),
        low=numbers("low"),
        high=numbers("high"),
        p=numbers("p"),
        adjusted=numbers("adjusted"),
        n=whole("n"),
        n_base=whole("n_base"),
        pairs=whole("pairs"),
        detectable=numbers("detectable"),
        more=numbers("more"),
        margin=numbers("margin"),
    )
