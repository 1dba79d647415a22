"""The comparison: one metric over one factor, a line for each level of another, ratios to a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.metrics import Better
from results.queries.comparison import Comparison, Point, Selection, compare
from results.queries.facets import Facet
from results.queries.runs import RunRow, list_runs
from results.units import format_number, format_quantity, scale_for
from webapp import urlstate
from webapp.charts.comparison import comparison_figure
from webapp.charts.style import key
from webapp.pages.common import trial_url
from webapp.problems import missing_is_404

MOST_CHIPS = 40


@require_safe
@missing_is_404()
def index(request: HttpRequest) -> HttpResponse:
    query = request.META["QUERY_STRING"]
    selection = urlstate.read(query)
    short = urlstate.write(selection)
    fragment = "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers
    address = reverse("comparison") + (f"?{short}" if short else "")
    if not fragment and short != query:
        return redirect(address)
    context = _context(selection, short)
    if "comparison" in context and (unmixed := _unmixed(context["comparison"], selection)):
        return redirect(f"{reverse('comparison')}?{urlstate.write(unmixed)}")
    template = "comparison/_comparison.html" if fragment else "comparison/index.html"
    response = render(request, template, context)
    response["HX-Push-Url"] = address
    return response


def _context(selection: Selection, short: str) -> dict[str, Any]:
    runs = list_runs(limit=30)
    context: dict[str, Any] = {"selection": selection, "runs": runs, "chosen_runs": set(selection.runs)}
    if not selection.runs:
        return context
    found = compare(selection)
    old = [run_id for run_id in selection.runs if run_id not in {run.id for run in runs}]
    return context | {
        "comparison": found,
        "chosen": found.selection,
        "table": table(found),
        "sentence": () if found.mixed else sentence(found),
        "better": direction(found.metric.better),
        "key": key([name or found.metric.label for name in found.series]),
        "figure": comparison_figure(found, trial_url) if found.points else None,
        "titles": _titles(runs, selection.runs),
        "old_runs": old,
        "facets": [facet for facet in found.facets if _is_first(facet, found)],
        "more_facets": [
            f for f in found.facets if f.varies and len(f.values) <= MOST_CHIPS and not _is_first(f, found)
        ],
        "mixed": [(f.name, _only(selection, f)) for f in found.facets if f.name in found.mixed],
        "excluded": {state: count for state, count in found.excluded.items() if count},
        "metric_choice": next((m for m in found.metrics if m.name == found.metric.name), None),
        "json": f"{reverse('api:comparison')}?{short}",
    }


def _unmixed(found: Comparison, selection: Selection) -> Selection | None:
    """A first look, with nothing chosen but runs, must not show medians over different configurations: the first level
    of each factor that is mixed."""
    if selection != Selection(runs=selection.runs) or not found.mixed:
        return None
    firsts = {f.name: (f.texts[0],) for f in found.facets if f.factor and f.name in found.mixed}
    return replace(selection, filters=firsts) if firsts else None


def _is_first(facet: Facet, found: Comparison) -> bool:
    """Factors, and what is or should be filtered, before dimensions that follow from them."""
    if facet.name in found.selection.filters or facet.name in found.mixed:
        return True
    return facet.factor and facet.varies and len(facet.values) <= MOST_CHIPS


def _only(selection: Selection, facet: Facet) -> list[tuple[str, str]]:
    """For each value the query that lets only it through."""
    return [
        (text, urlstate.write(replace(selection, filters={**selection.filters, facet.name: (text,)})))
        for text in facet.texts[:MOST_CHIPS]
    ]


def _titles(runs: Sequence[RunRow], chosen: Sequence[int]) -> list[str]:
    return list(dict.fromkeys(run.name for run in runs if run.id in chosen))


@dataclass(frozen=True)
class TableCell:
    """dots: every replicate's place between the row's smallest and largest value, in percent, and its trial; middle:
    the median's place. title: the replicates' values."""

    value: str
    ratio: float | None
    n: int
    mixed: bool
    dots: tuple[tuple[float, int], ...]
    middle: float
    trial_id: int
    title: str


@dataclass(frozen=True)
class Table:
    unit: str
    series: tuple[str, ...]
    baseline: str
    rows: tuple[tuple[str, tuple[TableCell | None, ...]], ...]


def table(found: Comparison) -> Table:
    """One row an x, one cell a series; None where there is no trial."""
    divisor, unit = scale_for(max((point.maximum for point in found.points), default=1.0), found.metric.unit)
    points = {(point.x, point.series): point for point in found.points}
    rows = []
    for x in found.xs:
        present = [points[x, series] for series in found.series if (x, series) in points]
        low, high = min(p.minimum for p in present), max(p.maximum for p in present)
        cells = tuple(
            _cell(points[x, series], found, divisor, low, high) if (x, series) in points else None
            for series in found.series
        )
        rows.append((x, cells))
    return Table(unit, found.series, found.selection.baseline, tuple(rows))


def _cell(point: Point, found: Comparison, divisor: float, low: float, high: float) -> TableCell:
    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 1) if high > low else 50.0

    return TableCell(
        value=format_number(point.median / divisor),
        ratio=point.ratio if point.series != found.selection.baseline else None,
        n=point.n,
        mixed=point.configurations > 1,
        dots=tuple((place(replicate.value), replicate.trial_id) for replicate in point.values),
        middle=place(point.median),
        trial_id=point.values[0].trial_id,
        title=", ".join(format_quantity(replicate.value, found.metric.unit) for replicate in point.values),
    )


def sentence(found: Comparison) -> list[tuple[str, str]]:
    """The answer in words: (series, what its medians are relative to the baseline's). No verdicts: those need more
    than a ratio."""
    base = found.selection.baseline
    said = []
    for series in found.series:
        ratios = [p.ratio for p in found.points if p.series == series and p.ratio is not None]
        if series == base or not ratios:
            continue
        low, high = min(ratios), max(ratios)
        span = f"×{low:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"×{low:.3f} to ×{high:.3f}"
        higher = sum(ratio > 1 for ratio in ratios)
        levels = f"{len(ratios)} level{'' if len(ratios) == 1 else 's'} of {found.selection.x}"
        said.append((series, f"{span} of {base}; above it at {higher} of {levels}"))
    return said


def direction(better: str) -> str:
    return {Better.HIGHER: "Higher is better.", Better.LOWER: "Lower is better."}.get(Better(better), "")
