"""The comparison as a table: the same cells as the figure's, each with its value, ratio, interval, verdict. Pure.

A page shows a thousand cells at once, so each is drawn with few elements; the trials behind one are fetched when it is
opened (webapp/pages/comparison.py, `cell`)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote_plus

from results.domain.measurement.metrics import Better
from results.domain.statistics.power import FEWEST, MOST
from results.domain.statistics.verdict import Kind, Verdict
from results.domain.units import format_number, scale_for
from results.queries.baselines import REFERENCE
from results.queries.cells import Key
from results.queries.comparison import Comparison, Point, Summary
from webapp.explorer.words import names_of, panel_name

WIDTH = 100.0  # of the bars' drawing, whatever its size on the page
TALL = 40  # rows from which the table scrolls in its own box


@dataclass(frozen=True)
class Bar:
    """An interval of ratios on the table's common logarithmic scale; 1 stands in the middle, at 50. All from 0 to
    100."""

    low: float
    width: float
    middle: float


@dataclass(frozen=True)
class Cell:
    """ratio: of the statistic that is shown. bar: of the ratio of geometric means. words: of its verdict. place: the
    query that names it. dots: path of its replicates, between its row's smallest and largest. lacks: what would decide
    an undecided one, in words."""

    value: str
    ratio: float | None
    verdict: Verdict | None
    words: str
    bar: Bar | None
    dots: str
    n: int
    place: str
    mixed: bool
    outliers: int
    lacks: str


@dataclass(frozen=True)
class Row:
    """counted: whether the summary counts it."""

    x: str
    index: int
    counted: bool
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Total:
    """The last row's entry of a series. ratio: that which the interval is around, where there is one: of geometric
    means. kind: better, worse, … where its whole interval says so, by the margin at least, and none of its cells is
    mixed or not comparable; else ''."""

    summary: Summary
    ratio: float
    low: float | None
    high: float | None
    kind: str


@dataclass(frozen=True)
class Section:
    """One panel."""

    panel: str
    rows: tuple[Row, ...]
    totals: tuple[Total | None, ...]


@dataclass(frozen=True)
class Table:
    """series: (number, series, its name on the page). margin_at, margin_width: of what counts as the same, on the bars'
    scale. compared: whether there is a ratio."""

    unit: str
    series: tuple[tuple[int, str, str], ...]
    baseline: str
    sections: tuple[Section, ...]
    margin_at: float
    margin_width: float
    compared: bool
    tall: bool


def table(found: Comparison) -> Table:
    """One section a panel, one row an x, one cell a series; None where there is no trial."""
    divisor, unit = scale_for(max((abs(point.maximum) for point in found.points), default=1.0), found.metric.unit)
    by_key = {point.key: point for point in found.points}
    names = names_of(found)
    reach = _reach(found)
    totals = {(total.panel, total.series): total for total in found.summaries}
    lines: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for point in found.points:
        if point.x not in found.selection.without:
            lines[point.panel, point.series] += [point, *filter(None, [by_key.get(point.base or point.key)])]
    sections = []
    for panel in found.panels:
        rows = []
        for index, x in enumerate(found.xs):
            present = [by_key.get((panel, x, series)) for series in found.series]
            if any(present):
                cells = _cells(present, divisor, reach)
                rows.append(Row(x, index, x not in found.selection.without, cells))
        last = tuple(_total(totals.get((panel, series)), lines[panel, series], found) for series in found.series)
        sections.append(Section(panel_name(found, panel), tuple(rows), last if any(last) else ()))
    margin = WIDTH / 2 * math.log1p(found.metric.minimum_effect) / reach
    return Table(
        unit=unit,
        series=tuple((index, series, names[series]) for index, series in enumerate(found.series)),
        baseline=found.selection.baseline,
        sections=tuple(sections),
        margin_at=round(WIDTH / 2 - margin, 1),
        margin_width=round(2 * margin, 1),
        compared=any(point.ratio is not None for point in found.points),
        tall=sum(len(section.rows) for section in sections) > TALL,
    )


def wanted_runs(point: Point, base: Point | None) -> tuple[int, ...]:
    """Runs whose blocks would add the replicates that the verdict lacks, of both sides; none where it lacks none, or
    where a side is a saved reference, which stays as it is."""
    if base is None or point.verdict is None or not point.verdict.more:
        return ()
    if any(side.series.startswith(REFERENCE) for side in (point, base)):
        return ()
    return tuple(sorted({replicate.run_id for side in (point, base) for replicate in side.values}))


def asked_runs(found: Comparison) -> dict[Key, tuple[int, ...]]:
    """Of each cell that lacks replicates the runs whose blocks would add some."""
    by_key = {point.key: point for point in found.points}
    asked = {point.key: wanted_runs(point, by_key.get(point.base) if point.base else None) for point in found.points}
    return {key: runs for key, runs in asked.items() if runs}


def _reach(found: Comparison) -> float:
    """The largest logarithm of a ratio on the bars' scale: of all that intervals reach, up to a factor of 4."""
    ends = [end for p in found.points if p.verdict for end in (p.verdict.low, p.verdict.high) if end]
    largest = max((abs(math.log(end)) for end in ends), default=0.0)
    return min(max(largest, 3 * math.log1p(found.metric.minimum_effect), 0.05), math.log(4))


def _cells(points: Sequence[Point | None], divisor: float, reach: float) -> tuple[Cell | None, ...]:
    values = [replicate.value for point in points if point for replicate in point.values]
    low, high = min(values), max(values)
    return tuple(None if point is None else _cell(point, divisor, reach, low, high) for point in points)


def _cell(point: Point, divisor: float, reach: float, low: float, high: float) -> Cell:
    places = [50.0 if high == low else 100 * (replicate.value - low) / (high - low) for replicate in point.values]
    return Cell(
        value=format_number(point.value / divisor),
        ratio=point.ratio if point.base != point.key else None,
        verdict=point.verdict,
        words=point.verdict.kind.words if point.verdict else "",
        bar=_bar(point.verdict, reach),
        dots="".join(f"M{place:.0f} 6h0" for place in places),
        n=point.n,
        place=place_of(point),
        mixed=point.configurations > 1,
        outliers=len(point.outliers),
        lacks=lacking(point.verdict) if point.verdict else "",
    )


def lacking(verdict: Verdict) -> str:
    """What would decide it, where nothing is decided: 'about 4 more replicates would tell'."""
    if verdict.kind is not Kind.TOO_FEW:
        return ""
    if verdict.more:
        return f"about {verdict.more} more replicate{'' if verdict.more == 1 else 's'} would tell"
    if min(verdict.n, verdict.n_base) < FEWEST:
        return f"it takes at least {FEWEST} replicates a side"
    return f"more than {MOST} replicates would be needed"


def place_of(point: Point) -> str:
    """The query that names a cell, to stand behind a comparison's."""
    names = {"at": point.x, "of": point.series, "in": point.panel}
    return "&".join(f"{name}={_quoted(text)}" for name, text in names.items() if text)


_quoted = lru_cache(maxsize=4096)(quote_plus)  # a thousand cells have few different words


def _bar(verdict: Verdict | None, reach: float) -> Bar | None:
    if verdict is None or not verdict.ratio or not verdict.low or not verdict.high:
        return None

    def at(ratio: float) -> float:
        return min(max(WIDTH / 2 * (1 + math.log(ratio) / reach), 0.0), WIDTH)

    low, high = at(verdict.low), at(verdict.high)
    return Bar(round(low, 1), round(max(high - low, 0.6), 1), round(at(verdict.ratio), 1))


def _total(summary: Summary | None, cells: Sequence[Point], found: Comparison) -> Total | None:
    """cells: that the summary may count."""
    if summary is None or summary.ratio is None:
        return None
    if summary.estimate is None or summary.low is None or summary.high is None:
        return Total(summary, summary.ratio, None, None, "")
    kind = "" if any(map(_withheld, cells)) else _kind(summary.estimate, summary.low, summary.high, found)
    return Total(summary, summary.estimate, summary.low, summary.high, kind)


def _withheld(point: Point) -> bool:
    confounded = point.verdict is not None and point.verdict.kind is Kind.NOT_COMPARABLE
    return confounded or point.configurations > 1


def _kind(ratio: float, low: float, high: float, found: Comparison) -> str:
    if low <= 1 <= high or abs(math.log(ratio)) < math.log1p(found.metric.minimum_effect):
        return ""
    higher = ratio > 1
    better = Better(found.metric.better)
    if better is Better.NEITHER:
        return Kind.HIGHER if higher else Kind.LOWER
    return Kind.BETTER if higher == (better is Better.HIGHER) else Kind.WORSE
