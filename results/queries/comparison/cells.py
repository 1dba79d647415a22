"""What a comparison consists of. Pure values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import Any, NamedTuple

from results.domain.statistics.difference import Sample
from results.domain.statistics.verdict import RULE, Verdict
from results.queries.environment.environments import Key as Key
from results.queries.environment.environments import SeriesEnvironment
from results.queries.shared.facets import Facet, MetricChoice
from results.queries.shared.metrics import MetricRow
from results.queries.shared.selection import Selection


class Replicate(NamedTuple):
    """One trial's value.

    position: in its run, in the order in which trials are measured."""

    trial_id: int
    attempt_id: int
    run_id: int
    block: int
    value: float
    configuration_id: int = 0
    position: int = 0


@dataclass(frozen=True)
class Point:
    """One cell.

    value: its statistic.
    configurations: how many different ones fell into it: more than one means that something else varies.
    base: (panel, x, series) of the cell that it is compared with, None where there is none.
    compared: of how many of these its ratio and verdict speak; None where it is not compared.
    ratio: of their values.
    verdict: what their replicates say; None where the cell is its own base.
    outliers: trials whose values stand apart from the others; they count like them."""

    x: str
    series: str
    panel: str
    value: float
    median: float
    mean: float
    minimum: float
    maximum: float
    values: tuple[Replicate, ...]
    configurations: int
    base: Key | None = None
    ratio: float | None = None
    verdict: Verdict | None = None
    outliers: tuple[int, ...] = ()
    compared: int | None = None

    @property
    def key(self) -> Key:
        return self.panel, self.x, self.series

    @property
    def n(self) -> int:
        return len(self.values)

    @cached_property
    def fields(self) -> Any:
        """The fields of its values, see `fields_of`."""
        return fields_of(self.values)


def fields_of(replicates: Sequence[Replicate]) -> Any:
    """Return a Replicate each of whose fields is the tuple of all theirs: a fifth of the time of a loop for each field,
    where there are thousands of replicates."""
    return Replicate._make(zip(*replicates, strict=True))


def replicates_of_fields(fields: Any) -> tuple[Replicate, ...]:
    """Return the replicates that these are the fields of, see `fields_of`."""
    return tuple(map(Replicate._make, zip(*fields, strict=True)))


def joined_fields(several: Sequence[Any]) -> Any:
    """Return the fields of all these replicates together, see `fields_of`."""
    return several[0] if len(several) == 1 else Replicate._make(map(tuple, map(chain, *several)))


def chosen_fields(fields: Any, which: Sequence[bool]) -> Any:
    """Return the fields of those of the replicates for which it is true, see `fields_of`."""
    return fields if all(which) else Replicate._make(tuple(compress(field, which)) for field in fields)


def sample_of(each: Any, part: tuple[str, ...]) -> Sample:
    """Return the values with the run and block of each.

    each: fields of replicates, see `fields_of`.
    part: node and label."""
    return Sample(each.value, tuple(zip(each.run_id, each.block, strict=True)), part)


@dataclass(frozen=True)
class Summary:
    """A series over all its cells in a panel that have a ratio, are comparable, hold no value of zero or below, and are
    not left out; a cell that is the baseline of others does not count among them.

    ratio: geometric mean of the cells' ratios.
    missing: levels of x, among those shown, where the series or its baseline has no such cell.
    estimate: geometric mean of the ratios of geometric means.
    low, high: its 95 % interval, from `source` (see `results.domain.statistics.summary`); None where it cannot be
        had, and for the baseline itself."""

    series: str
    panel: str
    ratio: float | None
    cells: int
    missing: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    source: str = ""
    estimate: float | None = None


@dataclass(frozen=True)
class Unmatched:
    """A cell that is not there: `lacks` is 'baseline' where (panel, x, series) has nothing to be compared with, 'cell'
    where the baseline is there and the series is not.

    base: the baseline's cell."""

    panel: str
    x: str
    series: str
    lacks: str
    base: Key


@dataclass(frozen=True)
class LeftOut:
    """A configuration of a cell, or of its base, that the other of the two lacks: neither the cell's ratio nor its
    verdict speaks of it.

    lacks: 'baseline' where it is the cell's, 'cell' where it is the base's.
    levels: dimension → level, of those in which the configurations of the two differ."""

    panel: str
    x: str
    series: str
    lacks: str
    levels: Mapping[str, str]


@dataclass(frozen=True)
class RunWarning:
    """A run whose values changed while it was measured.

    kind: 'drift' (from its first trial to its last) or 'order' (from the first trial of a block to its last).
    change: as a share.
    p: two-sided."""

    run_id: int
    kind: str
    change: float
    p: float
    trials: int


@dataclass(frozen=True)
class Comparison:
    """One metric over one dimension, a series for each value of another, a panel for each of a third.

    selection: complete, with the default choices filled in.
    first: the default choices themselves, for a URL that holds only what differs.
    mixed: dimensions that vary within a cell.
    excluded: trials of the selection that are in no cell: failed, cancelled, waiting, running, and `without` (done, but
        without this metric).
    unmatched: what has no counterpart.
    left_out: configurations within cells that have none.
    references: names for `baseline=@name`.
    environment: of each series against its base, what else differs.
    rule: the verdicts' version.
    family: comparisons of configurations that the verdicts are corrected for together.
    lost: attempts of the reference that is the baseline which are deleted, count no more, or were read again without
        the metric that it was saved with.
    other_runs: which say how far the levels of runs lie apart, where cells of different runs are compared.
    earlier_runs: of the same plans, which measured the same configurations and say how much single values vary."""

    selection: Selection
    first: Selection
    metric: MetricRow
    xs: tuple[str, ...]
    series: tuple[str, ...]
    panels: tuple[str, ...]
    points: tuple[Point, ...]
    summaries: tuple[Summary, ...]
    mixed: tuple[str, ...]
    excluded: Mapping[str, int]
    facets: tuple[Facet, ...]
    metrics: tuple[MetricChoice, ...]
    unmatched: tuple[Unmatched, ...] = ()
    warnings: tuple[RunWarning, ...] = ()
    references: tuple[str, ...] = ()
    environment: tuple[SeriesEnvironment, ...] = ()
    rule: int = RULE
    lost: tuple[int, ...] = ()
    family: int = 0
    other_runs: tuple[int, ...] = ()
    earlier_runs: tuple[int, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def outliers(self) -> tuple[int, ...]:
        """Trials whose values stand apart in any cell."""
        return tuple(dict.fromkeys(trial for point in self.points for trial in point.outliers))
