"""The comparison as a table: the same cells as the figure's, each with its value, ratio, interval, verdict. Pure.

A page shows a thousand cells at once, so each is drawn with few elements; the trials behind one are fetched when it is
opened (webapp/pages/comparison.py, `cell`)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote_plus

from django.utils.translation import gettext, ngettext

from results.domain.measurement.metrics import Better
from results.domain.messages import localized
from results.domain.statistics.power import FEWEST, MOST
from results.domain.statistics.verdict import Kind, Verdict, direction
from results.domain.units import format_number, scale_for
from results.queries.comparison.baselines import REFERENCE
from results.queries.comparison.cells import Key
from results.queries.comparison.compare import Comparison, Point, Summary
from results.queries.comparison.summaries import summed_up
from webapp.compare.words import left_out, names_of, panel_name
from webapp.labels import short_levels
from webapp.templatetags.teiten import interval, ratio, with_outliers

WIDTH = 100.0  # of the bars' drawing, whatever its size on the page
_LeftOut = Mapping[Key, tuple[str, str]]
REASONABLE = 30  # replicates to add: with more of them the machine or the plan is the better lever


@dataclass(frozen=True)
class Bar:
    """An interval of ratios on the table's common logarithmic scale, as texts of numbers from 0 to 100; 1 stands in the
    middle, at 50."""

    low: str
    width: str
    middle: str


@dataclass(frozen=True)
class Cell:
    """One cell of the table as texts: a page has up to a thousand.

    ratio: of the statistic that is shown; '' of a baseline.
    kind, words, interval: of its verdict; '' where it has none.
    bar: of the ratio of geometric means.
    dots: path of its replicates, between its row's smallest and largest; '' of a single one.
    count: of its replicates and outliers.
    place: the query that names it.
    compared: of how many configurations its ratio speaks, where not of all; left_out: which it leaves out.
    lacks: what would decide an undecided one."""

    value: str
    ratio: str
    kind: str
    words: str
    interval: str
    bar: Bar | None
    dots: str
    count: str
    place: str
    mixed: bool
    lacks: str
    compared: str = ""
    left_out: str = ""


@dataclass(frozen=True)
class TableRow:
    """The cells of one level of x in one panel.

    name: of the level, on the page.
    counted: whether the summary counts it.
    countable: whether it could: no total beside its parts, and no part of another."""

    x: str
    name: str
    index: int
    counted: bool
    cells: tuple[Cell | None, ...]
    countable: bool = True


@dataclass(frozen=True)
class Total:
    """The last row's entry of a series.

    ratio: that which the interval is around, where there is one: of geometric means.
    kind: better, worse, … where its whole interval says so, by the margin at least, and none of its cells is mixed or
        not comparable; else ''."""

    summary: Summary
    ratio: float
    low: float | None
    high: float | None
    kind: str


@dataclass(frozen=True)
class Section:
    """One panel."""

    panel: str
    rows: tuple[TableRow, ...]
    totals: tuple[Total | None, ...]


@dataclass(frozen=True)
class Table:
    """The whole table, a section a panel.

    series: (number, series, its name on the page).
    margin_at, margin_width: of what counts as the same, on the bars' scale.
    compared: whether there is a ratio."""

    unit: str
    series: tuple[tuple[int, str, str], ...]
    baseline: str
    sections: tuple[Section, ...]
    margin_at: str
    margin_width: str
    compared: bool


def table(comparison: Comparison) -> Table:
    """Return one section a panel, one row an x, one cell a series; None where there is no trial."""
    largest = max((abs(point.maximum) for point in comparison.points), default=1.0)
    divisor, unit = scale_for(largest, comparison.metric.unit)
    names = names_of(comparison)
    reach, alone = _reach(comparison), left_out(comparison)
    by_panel: dict[str, list[Point]] = {panel: [] for panel in comparison.panels}
    for point in comparison.points:
        by_panel[point.panel].append(point)
    sections = tuple(_section(comparison, panel, points, divisor, reach, alone) for panel, points in by_panel.items())
    margin = WIDTH / 2 * math.log1p(comparison.metric.minimum_effect) / reach
    return Table(
        unit=unit,
        series=tuple((index, series, names[series]) for index, series in enumerate(comparison.series)),
        baseline=comparison.selection.baseline,
        sections=sections,
        margin_at=f"{WIDTH / 2 - margin:.1f}",
        margin_width=f"{2 * margin:.1f}",
        compared=any(point.ratio is not None for point in comparison.points),
    )


def _section(
    comparison: Comparison, panel: str, points: Sequence[Point], divisor: float, reach: float, alone: _LeftOut
) -> Section:
    """Return the rows and totals of one panel.

    points: of the panel.
    alone: what cells leave out."""
    cells = {(point.x, point.series): point for point in points}
    rows = []
    chosen = comparison.selection
    countable = summed_up(comparison.xs, replace(chosen, without=()), comparison.metric)
    names = short_levels(chosen.x, comparison.xs)
    for index, x in enumerate(comparison.xs):
        present = [cells.get((x, series)) for series in comparison.series]
        if any(present):
            counted = x in countable and x not in chosen.without
            rows.append(TableRow(x, names[x], index, counted, _cells(present, divisor, reach, alone), x in countable))
    totals = _totals(comparison, panel, points)
    return Section(panel_name(comparison, panel), tuple(rows), totals if any(totals) else ())


def _totals(comparison: Comparison, panel: str, points: Sequence[Point]) -> tuple[Total | None, ...]:
    """Return the last row of a panel's section.

    points: of the panel, which holds their bases as well."""
    summaries = {summary.series: summary for summary in comparison.summaries if summary.panel == panel}
    by_key = {point.key: point for point in points}
    counted: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        if point.x not in comparison.selection.without:
            counted[point.series] += [point, by_key.get(point.base or point.key, point)]
    return tuple(_total(summaries.get(series), counted[series], comparison) for series in comparison.series)


def runs_lacking_replicates(point: Point, base: Point | None) -> tuple[int, ...]:
    """Return the runs whose blocks would add the replicates that the verdict lacks, of both sides; none where it lacks
    none, or where a side is a saved reference, which stays as it is."""
    if base is None or point.verdict is None or not point.verdict.more:
        return ()
    if any(side.series.startswith(REFERENCE) for side in (point, base)):
        return ()
    return tuple(sorted({replicate.run_id for side in (point, base) for replicate in side.values}))


def extensible_runs(comparison: Comparison) -> dict[Key, tuple[int, ...]]:
    """Return of each cell that lacks replicates the runs whose blocks would add some."""
    by_key = {point.key: point for point in comparison.points}
    lacking: dict[Key, tuple[int, ...]] = {}
    for point in comparison.points:
        if runs := runs_lacking_replicates(point, by_key.get(point.base) if point.base else None):
            lacking[point.key] = runs
    return lacking


def _reach(comparison: Comparison) -> float:
    """Return the largest logarithm of a ratio on the bars' scale: of all that intervals reach, up to a factor of 4."""
    verdicts = [point.verdict for point in comparison.points if point.verdict]
    ends = [end for verdict in verdicts for end in (verdict.low, verdict.high) if end]
    largest = max((abs(math.log(end)) for end in ends), default=0.0)
    return min(max(largest, 3 * math.log1p(comparison.metric.minimum_effect), 0.05), math.log(4))


def _cells(points: Sequence[Point | None], divisor: float, reach: float, alone: _LeftOut) -> tuple[Cell | None, ...]:
    values = [replicate.value for point in points if point for replicate in point.values]
    low, high = min(values), max(values)
    nothing = ("", "")
    return tuple(
        None if point is None else _cell(point, divisor, reach, (low, high), alone.get(point.key, nothing))
        for point in points
    )


def _cell(point: Point, divisor: float, reach: float, range_: tuple[float, float], alone: tuple[str, str]) -> Cell:
    verdict = point.verdict
    return Cell(
        value=format_number(point.value / divisor),
        ratio=ratio(point.ratio) if point.base != point.key else "",
        kind=verdict.kind.value if verdict else "",
        words=localized(verdict.words) if verdict else "",
        interval=interval(verdict) if verdict else "",
        bar=_bar(verdict, reach),
        dots=_dots(point, *range_) if point.n > 1 else "",
        count=with_outliers(point.n, len(point.outliers)),
        place=place_of(point),
        mixed=point.configurations > 1,
        lacks=lacking(verdict) if verdict else "",
        compared=alone[0],
        left_out=alone[1],
    )


def _dots(point: Point, low: float, high: float) -> str:
    positions = [50.0 if high == low else 100 * (replicate.value - low) / (high - low) for replicate in point.values]
    return "".join(f"M{position:.0f} 6h0" for position in positions)


def lacking(verdict: Verdict) -> str:
    """Return what would decide a cell in four of five cases, where nothing is: 'about 4 more replicates would tell'."""
    if verdict.kind is not Kind.TOO_FEW:
        return ""
    if verdict.more and verdict.more > REASONABLE:
        text = gettext("cannot be told with a reasonable number of replicates: some {n} more a side")
        return text.format(n=verdict.more)
    if verdict.more:
        text = ngettext("about {n:,} more replicate would tell", "about {n:,} more replicates would tell", verdict.more)
        return text.format(n=verdict.more)
    if min(verdict.n, verdict.n_base) < FEWEST:
        return gettext("it takes at least {n} replicates a side").format(n=FEWEST)
    if verdict.runs:
        return gettext("further runs would tell, not further replicates")
    return gettext("more than {n} replicates would be needed").format(n=MOST)


def place_of(point: Point) -> str:
    """Return the query that names a cell, to stand behind a comparison's."""
    names = {"at": point.x, "of": point.series, "in": point.panel}
    return "&".join(f"{name}={quote_plus(text)}" for name, text in names.items() if text)


def _bar(verdict: Verdict | None, reach: float) -> Bar | None:
    if verdict is None or not verdict.ratio or not verdict.low or not verdict.high:
        return None

    def at(ratio: float) -> float:
        return min(max(WIDTH / 2 * (1 + math.log(ratio) / reach), 0.0), WIDTH)

    low, high = at(verdict.low), at(verdict.high)
    return Bar(f"{low:.1f}", f"{max(high - low, 0.6):.1f}", f"{at(verdict.ratio):.1f}")


def _total(summary: Summary | None, cells: Sequence[Point], comparison: Comparison) -> Total | None:
    """Return the last row's entry of one series; None where it has no mean.

    cells: that the summary may count."""
    if summary is None or summary.ratio is None:
        return None
    if summary.estimate is None or summary.low is None or summary.high is None:
        return Total(summary, summary.ratio, None, None, "")
    kind = "" if any(map(_withheld, cells)) else _kind(summary.estimate, summary.low, summary.high, comparison)
    return Total(summary, summary.estimate, summary.low, summary.high, kind)


def _withheld(point: Point) -> bool:
    confounded = point.verdict is not None and point.verdict.kind is Kind.NOT_COMPARABLE
    return confounded or point.configurations > 1


def _kind(ratio: float, low: float, high: float, comparison: Comparison) -> str:
    if low <= 1 <= high or abs(math.log(ratio)) < math.log1p(comparison.metric.minimum_effect):
        return ""
    return direction(ratio > 1, Better(comparison.metric.better))
