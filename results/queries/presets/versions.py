"""Versions of PostgreSQL side by side: one workload, or all of them, as ratios to one version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.summary import mean_ratio
from results.queries.comparison.freshness import Freshness, freshness_of_each
from results.queries.presets.sources import Source, sources
from results.queries.presets.version_rows import MAJOR, Group, VersionCell, VersionRow, WithoutMetric, base_of
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.run_filter import NO_FILTER, RunFilter, count_runs

RUNS_OF_A_ROW = 12  # measured runs of a workload that are compared, the newest
_CONFIGURATIONS_SHOWN = 200
# what can be compared instead of each workload's own first metric
METRICS = {
    "cpu.per_transaction": _("CPU per transaction"),
    "wal.per_transaction": _("WAL per transaction"),
    "blocks.read.per_transaction": _("Blocks read per transaction"),
    "blocks.written.per_transaction": _("Blocks written per transaction"),
    "context_switches.per_transaction": _("Context switches per transaction"),
    "latency.p99": _("p99 latency"),
}


@dataclass(frozen=True)
class VersionMean:
    """The geometric mean of one version's rows.

    low, high: geometric means of the ends of the rows' intervals, as wide as if all rows erred together; None where a
        row has none.
    rows: how many."""

    ratio: float
    low: float | None
    high: float | None
    rows: int


@dataclass(frozen=True)
class Versions:
    """The versions side by side.

    versions: those with a ratio, in order.
    known: all that there are.
    beside: of these the ones that runs of the shown workloads measured with another one.
    metric: name of the one that was chosen, '' for each workload's own first one.
    base: version that most rows refer to, '' without rows: the means are of these rows.
    means: geometric mean of a version's rows that refer to it.
    intervals: of these, with how many rows they are of.
    alone: workloads of which no two versions have a configuration in common.
    hidden: configurations beyond those shown.
    kept, exploratory: runs that the filter lets through, by their standing; only kept ones are shown."""

    workload: str
    baseline: str
    metric: str
    versions: tuple[str, ...]
    known: tuple[str, ...]
    beside: tuple[str, ...]
    workloads: tuple[str, ...]
    rows: tuple[VersionRow, ...]
    base: str
    means: tuple[float | None, ...]
    intervals: tuple[VersionMean | None, ...]
    alone: tuple[str, ...]
    hidden: int
    kept: int
    exploratory: int


def versions(
    workload: str = "",
    baseline: str = "",
    only: Collection[str] = (),
    metric: str = "",
    chosen: RunFilter = NO_FILTER,
    *,
    published: bool = True,
) -> Versions:
    """Return versions as ratios to one of them, of kept runs. Queries: three, and for each pair of workload and metric
    with two versions or more three beside those of `compare`, unless nothing has changed since the last time. Raises
    TeitenError for a metric that is none of METRICS.

    workload: '' for a row a workload and metric, else a row a configuration of that one.
    baseline: a major version; '' for the one that most cells of a row can be compared with.
    only: versions shown.
    metric: one of METRICS, whose ratios are those of its values; '' for each workload's own first one, whose ratios
        are turned so that above 1 is better.
    chosen: of which runs.
    published: with the figures of reports."""
    _require_metric(metric)
    counts = count_runs(chosen, published=published)
    runs = [source for source in sources(chosen, published=published) if source.workload != "capabilities"]
    known = sorted_levels(_versions_of(runs), MAJOR)
    shown = tuple(version for version in known if not only or version in only)
    groups = _groups(runs, workload, metric)
    made = _made(groups, shown, baseline, metric)
    rows = _rows(made, shown, by_configuration=bool(workload))
    # configurations of one group have the mean that they have as a row, with its interval
    summed_up = [made[0].row(shown)] if len(made) == 1 else rows
    used = _used(rows, len(shown))
    base = _common_base(summed_up)
    means = [_mean([row for row in summed_up if row.base == base], index) for index in used]
    return Versions(
        workload=workload,
        baseline=baseline,
        metric=metric,
        versions=tuple(map(shown.__getitem__, used)),
        known=known,
        beside=_compared(groups, known),
        workloads=tuple(sorted({source.workload for source in runs})),
        rows=_narrowed(rows[:_CONFIGURATIONS_SHOWN], used),
        base=base,
        means=_ratios(means),
        intervals=tuple(means),
        alone=_alone(groups, rows),
        hidden=max(0, len(rows) - _CONFIGURATIONS_SHOWN),
        kept=counts.kept,
        exploratory=counts.exploratory,
    )


def _require_metric(metric: str) -> None:
    if metric and metric not in METRICS:
        known = ", ".join(METRICS)
        what = _("Versions are not compared by {metric!r}.", metric=metric)
        raise TeitenError(what, where="metric", todo=_("There are {names}.", names=known))


def _groups(runs: Sequence[Source], workload: str, metric: str) -> list[list[Source]]:
    """Return runs by workload and metric, their first or the chosen one, published figures apart: the newest of each.

    workload: '' for all of them."""
    runs = [source for source in runs if workload in ("", source.workload)]

    def key(source: Source) -> tuple[str, str, bool]:
        return source.workload, metric or source.headline, source.published

    groups = [list(several) for _, several in groupby(sorted(runs, key=key), key)]
    return [group if group[0].published else group[:RUNS_OF_A_ROW] for group in groups]


def _versions_of(runs: Sequence[Source]) -> set[str]:
    return {version for source in runs for version in source.versions}


def _compared(groups: Sequence[Sequence[Source]], known: Sequence[str]) -> tuple[str, ...]:
    """Return those of the known versions that runs measured with another one."""
    compared: set[str] = set()
    for runs in groups:
        if len(own := _versions_of(runs)) > 1:
            compared |= own
    return tuple(version for version in known if version in compared)


def _alone(groups: Sequence[Sequence[Source]], rows: Sequence[VersionRow]) -> tuple[str, ...]:
    """Return the workloads without a row."""
    return tuple(sorted({runs[0].workload for runs in groups} - {row.workload for row in rows}))


def _made(
    groups: Sequence[Sequence[Source]], shown: Sequence[str], baseline: str, metric: str
) -> list[Group | WithoutMetric]:
    """Return what can be compared, and the measured workloads that lack the chosen metric."""
    several = [runs for runs in groups if len(_versions_of(runs) & set(shown)) > 1]
    known = freshness_of_each([[source.run_id for source in runs] for runs in several])
    made = (_group(tuple(runs), tuple(shown), baseline, metric, one) for runs, one in zip(several, known, strict=True))
    return [group for group in made if group]


# Of what its arguments say, `known` among them, which is another as soon as anything changes.
@lru_cache(64)
def _group(
    runs: tuple[Source, ...], shown: tuple[str, ...], baseline: str, metric: str, known: Freshness
) -> Group | WithoutMetric | None:
    """Return what runs have measured; None where nothing of it can be compared."""
    base = base_of(runs, shown, baseline)
    if base is None:
        return None
    group = Group.of(runs, shown, base, metric, known)
    return WithoutMetric(runs[0], metric) if group is None and not runs[0].published else group


def _rows(made: Sequence[Group | WithoutMetric], shown: Sequence[str], *, by_configuration: bool) -> list[VersionRow]:
    rows: list[VersionRow] = []
    for group in made:
        rows += group.configurations(shown) if by_configuration else [group.row(shown)]
    return rows


def _ratios(means: Sequence[VersionMean | None]) -> tuple[float | None, ...]:
    return tuple(mean.ratio if mean else None for mean in means)


def _used(rows: Sequence[VersionRow], columns: int) -> list[int]:
    """Return the columns of which some row says something."""
    return [index for index in range(columns) if any(_is_compared(row.cells[index]) for row in rows)]


def _narrowed(rows: Sequence[VersionRow], used: Sequence[int]) -> tuple[VersionRow, ...]:
    return tuple(replace(row, cells=tuple(row.cells[index] for index in used)) for row in rows)


def _is_compared(cell: VersionCell | None) -> bool:
    """Return whether a cell was compared, or is what others are compared with."""
    return cell is not None and bool(cell.speed or cell.kinds)


def _common_base(rows: Sequence[VersionRow]) -> str:
    """Return the version that most rows refer to, measured ones before published ones; ratios to another version have
    no measure in common with theirs."""
    measured = Counter(row.base for row in rows if row.base and not row.published)
    counts = measured or Counter(row.base for row in rows if row.base)
    return counts.most_common(1)[0][0] if counts else ""


def _mean(rows: Sequence[VersionRow], index: int) -> VersionMean | None:
    """Return the mean of one version in rows that refer to the same one; None where no row has it."""
    cells = [cell for row in rows if (cell := row.cells[index]) is not None and cell.ratio]
    if not cells:
        return None
    ends = [(cell.low, cell.high) for cell in cells if cell.low and cell.high]
    low, high = map(mean_ratio, zip(*ends, strict=True)) if len(ends) == len(cells) else (None, None)
    return VersionMean(mean_ratio([cell.ratio for cell in cells if cell.ratio]), low, high, len(cells))
