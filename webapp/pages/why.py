"""From a cell of the comparison to why: its trials and its baseline's laid over each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, pgettext
from django.views.decorators.http import require_safe

from results.domain.statistics.change_sentence import sentence
from results.domain.statistics.metric_changes import Value
from results.queries.comparison.baselines import CELL
from results.queries.comparison.compare import Comparison, Point
from results.queries.comparison.freshness import Freshness, freshness
from results.queries.comparison.more_replicates import own_level
from results.queries.comparison.trust import trust_in
from results.queries.shared.ordering import DEFAULT
from results.queries.shared.selection import JOINT, LABEL, Selection, dimensions
from results.queries.why.why import Why, why
from webapp import urlstate
from webapp.charts import why as charts
from webapp.charts.style import PALETTE
from webapp.charts.why import Look
from webapp.chooser import title
from webapp.compare.state import shortest
from webapp.compare.trust import trust_line
from webapp.computed import compared
from webapp.conditional import conditional_page
from webapp.labels import cell_name
from webapp.language import joined
from webapp.pages.common import wants_fragment
from webapp.problems import missing_is_404
from webapp.templatetags.teiten import configuration
from webapp.why.state import PLACE, base_of, chosen_point, requested_cell
from webapp.why.words import (
    clauses,
    density_note,
    flame,
    headline,
    missing,
    parts,
    plans,
    plans_missing,
    rows,
    time_note,
)

MOST_CELLS = 60  # offered one by one as a baseline


@require_safe
@missing_is_404()
@conditional_page()
def index(request: HttpRequest, known: Freshness) -> HttpResponse:
    """?<the comparison's query>&at=X&of=SERIES&in=PANEL; without a cell the first that has a baseline."""
    selection = urlstate.read(request.META["QUERY_STRING"], PLACE)
    cell = requested_cell(request.GET)
    short = _joined(urlstate.write(selection), cell)
    if not wants_fragment(request) and short != request.META["QUERY_STRING"]:
        return redirect(f"{reverse('why')}?{short}" if short else reverse("why"))
    context: dict[str, Any] = {"selection": selection, "kept": _kept(selection)}
    if selection.runs:
        comparison = compared(selection, known)
        point = chosen_point(comparison, cell)
        query = urlstate.write(shortest(selection, comparison))
        context |= _context(comparison, point, query, known)
        is_default = point == chosen_point(comparison, {})
        short = _joined(query, {} if is_default else cell)
        context["json"] = f"{reverse('api:why')}?{short}"
        context["every_metric"] = f"{reverse('why_metrics')}?{short}"
    response = render(request, "why/_why.html" if wants_fragment(request) else "why/index.html", context)
    response["HX-Push-Url"] = f"{reverse('why')}?{short}"
    return response


@require_safe
@missing_is_404()
def every_metric(request: HttpRequest) -> HttpResponse:
    """Every metric of two cells: the page of why, with the same query, shows it when it is asked for."""
    selection = urlstate.read(request.META["QUERY_STRING"], PLACE)
    if not selection.runs:
        return render(request, "why/metrics.html")
    known = freshness(selection.runs)
    comparison = compared(selection, known)
    point = chosen_point(comparison, requested_cell(request.GET))
    base = base_of(comparison, point) if point else None
    if point is None or base is None:
        return render(request, "why/metrics.html")
    result = why(comparison, base, point, known)
    context = {
        "looks": _looks(comparison, result),
        "common": _common(comparison, base, point),
        "rows": rows(result.rest),
        "explorer": f"{reverse('comparison')}?{urlstate.write(shortest(comparison.selection, comparison))}",
        "summary": f"{reverse('why')}?{request.META['QUERY_STRING']}",
    }
    return render(request, "why/metrics.html", context)


def _kept(selection: Selection) -> list[tuple[str, str]]:
    """The fields that the form hands on: everything but the runs, the cell and the baseline."""
    fields = []
    for name in urlstate.TEXTS:
        text = str(getattr(selection, name))
        if text and name != "baseline":
            fields.append((name, text))
    if selection.series is not None:
        fields.append(("series", selection.series or urlstate.NO_SERIES))
    for name, levels in selection.filters.items():
        fields += [(urlstate.FILTER + name, level) for level in levels]
    fields += [("without", x) for x in selection.without]
    return fields


def _joined(query: str, cell: Mapping[str, str]) -> str:
    """Return the query with the cell appended.

    cell: the fields that name it, as of `webapp.why.state.PLACE`."""
    return "&".join(part for part in (query, urlencode(cell)) if part)


def _context(comparison: Comparison, point: Point | None, query: str, known: Freshness) -> dict[str, Any]:
    """Return what the page shows.

    query: the comparison's."""
    context: dict[str, Any] = {"comparison": comparison, "chosen": comparison.selection, "point": point}
    context["explorer"] = f"{reverse('comparison')}?{query}"
    context["axes"] = _axis_titles(comparison)
    if point is None:
        return context
    context["baselines"] = _baselines(comparison)
    base = base_of(comparison, point)
    if base is None:
        return context
    trust = trust_line(trust_in(comparison, (base, point)), comparison, context["explorer"])
    return context | _laid_over(comparison, base, point, known) | {"trust": trust}


def _axis_titles(comparison: Comparison) -> dict[str, str]:
    """Return axis → what it is of, for reading."""
    chosen, noun = comparison.selection, comparison.metric.label_noun
    names = {"series": chosen.series or "", "x": chosen.x, "panel": chosen.panel}
    return {axis: title(name, noun) for axis, name in names.items()}


def _baselines(comparison: Comparison) -> dict[str, str]:
    """What may be chosen, a series, or, where they are not too many, any one cell, and what each is called."""
    offered = {series: series for series in comparison.series if series}
    cells = {f"{one.series}{CELL}{one.x}".strip(): cell_name(one.series, one.x) for one in comparison.points}
    if len(cells) <= MOST_CELLS:
        offered = offered | cells
    chosen = comparison.selection.baseline
    return offered | {chosen: offered.get(chosen) or cells.get(chosen, chosen)}


def _laid_over(comparison: Comparison, base: Point, other: Point, known: Freshness) -> dict[str, Any]:
    result = why(comparison, base, other, known)
    looks = _looks(comparison, result)
    environment = [series for series in comparison.environment if series.series == other.series]
    return {
        "why": result,
        "looks": looks,
        "common": _common(comparison, base, other),
        "sides": [(look, _values_of(look.side.point)) for look in looks],
        "environment": {"environment": environment},
        "headline": headline(comparison, base, other),
        "statistic": _statistic_words(comparison.selection.statistic),
        "clauses": clauses(sentence(result.movements, comparison.metric.name)),
        "rows": rows(result.movements),
        "wait_key": charts.waits_key(looks),
        "time_note": time_note(looks, closed_loop=result.families.trials.closed_loop),
        "density_note": density_note(looks),
        "parts": parts(looks, result.movements),
        "tail": charts.tail(looks),
        "plans": plans(result.plans, own_level(other, comparison.selection, LABEL)),
        "plans_missing": plans_missing(looks),
        "flame": flame(result),
        "flame_missing": missing(looks, lambda side: side.stacks, gettext("call stacks"), "perf"),
        "diff": f"left=trial:{base.values[0].trial_id}&right=trial:{other.values[0].trial_id}",
    }


def _statistic_words(statistic: str) -> str:
    words = {
        "median": gettext("median"),
        "mean": gettext("mean"),
        "min": pgettext("statistic", "min"),
        "max": pgettext("statistic", "max"),
    }
    return words.get(statistic, statistic)


def _looks(comparison: Comparison, result: Why) -> tuple[Look, Look]:
    """In the colours that the comparison gives to their series; another one for the second of the same series."""
    base, other = result.base.point, result.other.point
    base_name, other_name = _names(comparison, base, other)
    base_colour = comparison.series.index(base.series) % PALETTE
    other_colour = comparison.series.index(other.series) % PALETTE
    if other_colour == base_colour:
        other_colour = (base_colour + 1) % PALETTE
    return Look(base_name, base_colour, result.base), Look(other_name, other_colour, result.other)


def _levels(comparison: Comparison, base: Point, other: Point) -> list[tuple[str, str]]:
    """Series, x and panel of both, each level with as much of its dimension's name as it needs: 'clients 4'."""
    chosen = comparison.selection
    levels = (
        (chosen.series or "", base.series, other.series),
        (chosen.x, base.x, other.x),
        (chosen.panel, base.panel, other.panel),
    )
    return [(_level(axis, left), _level(axis, right)) for axis, left, right in levels if axis]


def _level(axis: str, level: str) -> str:
    names, parts = dimensions(axis), level.split(JOINT)
    return configuration(dict(zip(names, parts, strict=True))) if len(names) == len(parts) else level


def _names(comparison: Comparison, base: Point, other: Point) -> tuple[str, str]:
    """Each by what tells it from the other one."""
    differing = [(left, right) for left, right in _levels(comparison, base, other) if left != right]
    return joined(left for left, _ in differing), joined(right for _, right in differing)


def _common(comparison: Comparison, base: Point, other: Point) -> list[str]:
    """What both are, and what the filters leave of other dimensions."""
    chosen = comparison.selection
    common = [left for left, right in _levels(comparison, base, other) if left == right]
    filters = [(name, levels) for name, levels in chosen.filters.items() if name not in chosen.axes]
    return [*common, *(_level(name, joined(levels)) for name, levels in filters if levels != (DEFAULT,))]


def _values_of(point: Point) -> list[Value]:
    return [Value(replicate.trial_id, replicate.value) for replicate in point.values]
