"""From a cell of the comparison to why: its trials and its baseline's laid over each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.domain.statistics.movement import Value, sentence
from results.queries.baselines import CELL
from results.queries.blocks import own_level
from results.queries.comparison import Comparison, Point, compare
from results.queries.selection import JOINT, LABEL, Selection, dimensions
from results.queries.why import Why, why
from webapp import urlstate
from webapp.charts import why as charts
from webapp.charts.style import PALETTE
from webapp.charts.why import Look
from webapp.explorer.state import shortest
from webapp.pages.movement import (
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
from webapp.problems import missing_is_404
from webapp.templatetags.teiten import configuration
from webapp.whystate import asked_place, base_of, chosen_point

MOST_CELLS = 60  # offered one by one as a baseline


@require_safe
@missing_is_404()
def index(request: HttpRequest) -> HttpResponse:
    """?<the comparison's query>&at=X&of=SERIES&in=PANEL; without a cell the first that has a baseline."""
    selection = urlstate.read(request.META["QUERY_STRING"])
    asked = asked_place(request.GET)
    short = _joined(urlstate.write(selection), asked)
    address = f"{reverse('why')}?{short}" if short else reverse("why")
    fragment = "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers
    if not fragment and short != request.META["QUERY_STRING"]:
        return redirect(address)
    context: dict[str, Any] = {"selection": selection, "kept": _kept(selection)}
    if selection.runs:
        found = compare(selection)
        point = chosen_point(found, asked)
        query = urlstate.write(shortest(selection, found))
        context |= _context(found, point, query)
        short = _joined(query, {} if point == chosen_point(found, {}) else asked)
        context["json"] = f"{reverse('api:why')}?{short}"
    response = render(request, "why/_why.html" if fragment else "why/index.html", context)
    response["HX-Push-Url"] = f"{reverse('why')}?{short}"
    return response


def _kept(selection: Selection) -> list[tuple[str, str]]:
    """The fields that the form hands on: everything but the runs, the cell and the baseline."""
    texts = [(name, str(getattr(selection, name))) for name in urlstate.TEXTS if name != "baseline"]
    series = [] if selection.series is None else [("series", selection.series or urlstate.NO_SERIES)]
    filters = [(urlstate.FILTER + name, text) for name, several in selection.filters.items() for text in several]
    return [*((n, text) for n, text in texts if text), *series, *filters, *(("without", x) for x in selection.without)]


def _joined(query: str, place: Mapping[str, str]) -> str:
    return "&".join([*([query] if query else []), *([urlencode(place)] if place else [])])


def _context(found: Comparison, point: Point | None, query: str) -> dict[str, Any]:
    """query: the comparison's."""
    context: dict[str, Any] = {"comparison": found, "chosen": found.selection, "point": point}
    context["explorer"] = f"{reverse('comparison')}?{query}"
    if point is None:
        return context
    context["baselines"] = _baselines(found)
    base = base_of(found, point)
    return context if base is None else context | _laid_over(found, base, point)


def _baselines(found: Comparison) -> list[str]:
    """What may be chosen: a series, or, where they are not too many, any one cell."""
    cells = list(dict.fromkeys(f"{point.series}{CELL}{point.x}".strip() for point in found.points))
    offered = [*filter(None, found.series), *(cells if len(cells) <= MOST_CELLS else [])]
    chosen = found.selection.baseline
    return list(dict.fromkeys([*offered, *([chosen] if chosen not in offered else [])]))


def _laid_over(found: Comparison, base: Point, other: Point) -> dict[str, Any]:
    result = why(found, base, other)
    looks = _looks(found, result)
    wait_key, said = charts.waits_key(looks), sentence(result.movements)
    return {
        "why": result,
        "looks": looks,
        "common": _common(found, base, other),
        "sides": [(look, _values_of(look.side.point)) for look in looks],
        "environment": {"environment": [one for one in found.environment if one.series == other.series]},
        "headline": headline(found, base, other),
        "clauses": clauses(said),
        "rows": rows(result.movements),
        "rest": rows(result.rest),
        "wait_key": wait_key,
        "time_note": time_note(looks),
        "density_note": density_note(looks),
        "parts": parts(looks, result.movements),
        "tail": charts.tail(looks),
        "plans": plans(result.plans, own_level(other, found.selection, LABEL)),
        "plans_missing": plans_missing(looks),
        "flame": flame(result),
        "flame_missing": missing(looks, lambda side: side.stacks, "call stacks", "perf"),
        "diff": f"left=trial:{base.values[0].trial_id}&right=trial:{other.values[0].trial_id}",
    }


def _looks(found: Comparison, result: Why) -> tuple[Look, Look]:
    """In the colours that the comparison gives to their series; another one for the second of the same series."""
    base, other = result.base.point, result.other.point
    a, b = (found.series.index(point.series) % PALETTE for point in (base, other))
    names = _names(found, base, other)
    return Look(names[0], a, result.base), Look(names[1], b if a != b else (a + 1) % PALETTE, result.other)


def _places(found: Comparison, base: Point, other: Point) -> list[tuple[str, str]]:
    """Series, x and panel of both, each level with as much of its dimension's name as it needs: 'clients 4'."""
    chosen = found.selection
    levels = (
        (chosen.series or "", base.series, other.series),
        (chosen.x, base.x, other.x),
        (chosen.panel, base.panel, other.panel),
    )
    return [(_level(axis, a), _level(axis, b)) for axis, a, b in levels if axis]


def _level(axis: str, level: str) -> str:
    names, parts = dimensions(axis), level.split(JOINT)
    return configuration(dict(zip(names, parts, strict=True))) if len(names) == len(parts) else level


def _names(found: Comparison, base: Point, other: Point) -> tuple[str, str]:
    """Each by what tells it from the other one."""
    differing = [(a, b) for a, b in _places(found, base, other) if a != b]
    return ", ".join(a for a, _ in differing), ", ".join(b for _, b in differing)


def _common(found: Comparison, base: Point, other: Point) -> list[str]:
    """What both are, and what is let through."""
    filters = [_level(name, ", ".join(several)) for name, several in found.selection.filters.items()]
    return [*(a for a, b in _places(found, base, other) if a == b), *filters]


def _values_of(point: Point) -> list[Value]:
    return [Value(replicate.trial_id, replicate.value) for replicate in point.values]
