"""The comparison's page, and the trials behind one of its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.domain import plan
from results.domain.errors import PlanError, TeitenError
from results.models import Run
from results.models.audit import Scope
from results.queries.blocks import KeptNoise, by_noise
from results.queries.comparison import Comparison, compare
from results.queries.freshness import Freshness
from results.queries.ordering import all_numbers
from results.queries.runs import RunRow, list_runs
from results.queries.selection import Selection
from results.runs import MOST_BLOCKS
from webapp import urlstate
from webapp.access import allows, may_plan, scope_of
from webapp.charts.comparison import RATIO, SPEEDUP, possible_views
from webapp.charts.style import key
from webapp.conditional import unless_known
from webapp.explorer import words
from webapp.explorer.controls import MOST_CHIPS, PERCENTILE, controls, title
from webapp.explorer.state import WAS, settled, shortest
from webapp.explorer.table import asked_runs, lacking, place_of, table, wanted_runs
from webapp.pages.drawn import drawn
from webapp.problems import missing_is_404
from webapp.urlstate import View
from workers.registry import kinds

LISTED = 30  # runs to choose from
SUGGESTED = 5
AXES = ("log", "linear")
SUGGESTED_BLOCKS = 10  # at most: how many would tell is known but roughly until some more are there


@require_safe
@missing_is_404()
@unless_known(LISTED)
def index(request: HttpRequest, known: Freshness) -> HttpResponse:
    query = request.META["QUERY_STRING"]
    selection, view, was = _asked(request)
    found = _found(selection, known, bool(was)) if selection.runs else None
    if found:
        selection = shortest(_unmixed(found, selection) or selection, found)
    short = urlstate.write(selection, view)
    fragment = "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers
    address = reverse("comparison") + (f"?{short}" if short else "")
    if not fragment and short != query:
        return redirect(address)
    runs = list_runs(limit=LISTED)
    noise: Sequence[KeptNoise] = ()
    if found:
        found, noise = by_noise(found)
    context = {"selection": selection, "runs": runs, "chosen_runs": set(selection.runs), "noise": noise}
    context |= _context(found, selection, view, short, runs) if found else {"suggestions": _suggestions(runs)}
    context |= {"table": table(found), **_offered(request, found)} if found else {}
    template = "comparison/_comparison.html" if fragment else "comparison/index.html"
    response = render(request, template, context)
    response["HX-Push-Url"] = address
    return response


@require_safe
@missing_is_404()
def cell(request: HttpRequest) -> HttpResponseBase:
    """The trials behind one cell: the comparison's query and at (x), of (series), in (panel)."""
    query = request.META["QUERY_STRING"]
    found, noise = by_noise(compare(urlstate.read(query)))
    key_of = tuple(request.GET.get(name, "") for name in ("in", "at", "of"))
    point = next((point for point in found.points if point.key == key_of), None)
    if point is None:
        raise Http404("The comparison has no such cell.")
    short = urlstate.write(shortest(urlstate.read(query), found))
    base = next((base for base in found.points if base.key == point.base and base is not point), None)
    context = {
        "comparison": found,
        "point": point,
        "base": base,
        "lacks": lacking(point.verdict) if point.verdict else "",
        "noise": [one for one in noise if one.run_id in wanted_runs(point, base)],
        "place": place_of(point),
        "query": short,
    }
    template = "comparison/_cell.html" if "HX-Request" in request.headers else "comparison/cell.html"
    return render(request, template, context)


def _asked(request: HttpRequest) -> tuple[Selection, View, dict[str, str]]:
    """What the address, or the form, asks for. Of a form also what it was before the change."""
    query = request.META["QUERY_STRING"]
    selection = urlstate.read(query)
    was = {name.removeprefix(WAS): str(text) for name, text in request.GET.items() if name.startswith(WAS)}
    if percent := request.GET.get("percentile", "").strip():
        selection = replace(selection, metric=PERCENTILE + percent)
    return settled(selection, was), urlstate.read_view(query), was


def _found(selection: Selection, known: Freshness, changed: bool) -> Comparison:
    """A baseline that a change of the form took away becomes the default one."""
    try:
        return compare(selection, known)
    except TeitenError as error:
        if not changed or error.where != "baseline":
            raise
    return compare(replace(selection, baseline=""), known)


def _context(
    found: Comparison, selection: Selection, view: View, short: str, runs: Sequence[RunRow]
) -> Mapping[str, Any]:
    listed = {run.id for run in runs}
    names = words.names_of(found)
    return {
        "comparison": found,
        "chosen": found.selection,
        "controls": controls(found),
        "view": view,
        "views": _views(found, selection, view),
        "was": [(WAS + name, getattr(found.selection, name) or "") for name in ("x", "series", "panel", "metric")],
        "heading": words.heading(found),
        "constants": _constants(found),
        "lead": () if found.mixed else words.lead(found),
        "missing": words.missing(found),
        "unmatched": words.unmatched(found),
        "warnings": words.warnings(found),
        "better": words.direction(found.metric.better),
        "rule": words.rule(found),
        "x_title": title(found.selection.x),
        "key": list(zip(key([name or found.metric.label for name in names.values()]), names, strict=True)),
        "panels": drawn(found, view),
        "joined": all_numbers(found.xs, found.selection.x),
        "titles": list(dict.fromkeys(run.name for run in runs if run.id in selection.runs)),
        "old_runs": [run_id for run_id in selection.runs if run_id not in listed],
        "mixed": [
            (title(facet.name), [(text, _only(selection, facet.name, text)) for text in facet.texts[:MOST_CHIPS]])
            for facet in found.facets
            if facet.name in found.mixed
        ],
        "excluded": {state: count for state, count in found.excluded.items() if count},
        "query": short,
    }


def _offered(request: HttpRequest, found: Comparison) -> Mapping[str, Any]:
    """more_runs: runs to which this visitor may add the replicates that undecided cells lack; more_blocks: how many the
    nearest of these cells lacks, within reason. One query at most."""
    asked = asked_runs(found)
    if not asked or not allows(scope_of(request.user), Scope.RUN):
        return {}
    wanted = {run for runs in asked.values() for run in runs}
    stored = Run.objects.filter(pk__in=wanted, publication=None).values_list("pk", "toml")
    mine = {run for run, toml in stored if _may_extend(request, toml)}
    asked = {key: runs for key, runs in asked.items() if mine.issuperset(runs)}
    lacks = [point.verdict.more or 1 for point in found.points if point.key in asked and point.verdict]
    if not lacks:
        return {}
    runs = sorted({run for runs in asked.values() for run in runs})
    return {"more_runs": runs, "more_blocks": min(*lacks, SUGGESTED_BLOCKS), "most_blocks": MOST_BLOCKS}


def _may_extend(request: HttpRequest, toml: str) -> bool:
    try:
        return may_plan(request, plan.read(toml, kinds()), kinds())
    except PlanError:  # of kinds that are gone: nobody can add to it
        return False


def _unmixed(found: Comparison, selection: Selection) -> Selection | None:
    """A first look, with nothing chosen but runs, must not show medians over different configurations: the first level
    of each factor that is mixed."""
    if selection != Selection(runs=selection.runs) or not found.mixed:
        return None
    firsts = {f.name: (f.texts[0],) for f in found.facets if f.factor and f.name in found.mixed}
    return replace(selection, filters=firsts) if firsts else None


def _only(selection: Selection, name: str, text: str) -> str:
    """The query that lets only this value through."""
    return urlstate.write(replace(selection, filters={**selection.filters, name: (text,)}))


def _views(found: Comparison, selection: Selection, view: View) -> list[tuple[str, str, bool]]:
    """(text, query, chosen) of each way to draw the figure."""
    names = {RATIO: "ratio", SPEEDUP: "speed-up"}
    possible = possible_views(found)
    drawn = [("", "values"), *((name, names[name]) for name in possible)] if possible else []
    current = view.view if view.view in possible else ""
    ways = [
        *((name, replace(view, axes="" if view.axes == name else name), view.axes == name) for name in AXES),
        *((text, replace(view, view=name), current == name) for name, text in drawn),
    ]
    return [(text, urlstate.write(selection, way), chosen) for text, way, chosen in ways]


def _constants(found: Comparison) -> list[str]:
    """What all cells have in common, of the factors: filtered to one value."""
    filters = found.selection.filters
    varied = {name for name in found.selection.axes if name}
    return [f"{title(name)} {texts[0]}" for name, texts in filters.items() if len(texts) == 1 and name not in varied]


def _suggestions(runs: Sequence[RunRow]) -> list[tuple[str, str]]:
    """(query, text): newest runs that have something to compare, and the newest two of a plan."""
    ended = [run for run in runs if run.trials_done]
    found = [(f"run={run.id}", f"Run {run.id}, {run.name}") for run in ended if run.configurations > 1]
    seen: dict[str, RunRow] = {}
    pairs = []
    for run in ended:
        if (newer := seen.setdefault(run.name, run)) is not run:
            pairs.append((f"run={run.id},{newer.id}&series=run", f"{run.name}: run {newer.id} against run {run.id}"))
    return [*found[:SUGGESTED], *pairs[:SUGGESTED]]
