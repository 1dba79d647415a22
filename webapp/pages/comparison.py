"""The comparison's page, and the trials behind one of its cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from results.domain import plan
from results.domain.errors import PlanError, TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.models import Run
from results.models.audit import Scope
from results.plan_code import AgentNames, agents_without_code
from results.queries.comparison.baselines import CELL
from results.queries.comparison.cells import Comparison, Key
from results.queries.comparison.freshness import Freshness
from results.queries.comparison.more_replicates import by_noise, noise_of
from results.queries.comparison.trust import trust_in
from results.queries.runs.runs import RunRow, list_runs
from results.queries.shared.selection import Selection
from results.runs import MOST_BLOCKS
from webapp import urlstate
from webapp.access import allows, may_plan, scope_of
from webapp.charts.comparison import AGAINST, RATIO, SPEEDUP, per_name, possible_views, stacked_steps
from webapp.charts.style import key
from webapp.compare import words
from webapp.compare.chooser import PERCENTILE, chooser, run_differences
from webapp.compare.figure_words import SHARED, how_drawn, left_out_of_figure, statistic_name
from webapp.compare.mixtures import mixtures
from webapp.compare.panels import comparison_panels
from webapp.compare.rows import rows_after
from webapp.compare.state import WAS, settled, shortest
from webapp.compare.table import extensible_runs, lacking, place_of, runs_lacking_replicates, table
from webapp.compare.trust import trust_line
from webapp.computed import compared
from webapp.conditional import conditional_page
from webapp.exports.forms import SHAPES, figures, offered
from webapp.labels import axis_title
from webapp.pages.common import number, wants_fragment
from webapp.problems import missing_is_404
from webapp.urlstate import View
from webapp.why.state import PLACE
from workers.registry import kinds

LISTED = 30  # runs to choose from
SUGGESTED = 5
AXES = {"log": _("log"), "linear": _("linear")}
VIEWS = {"": _("values"), RATIO: _("ratio"), SPEEDUP: _("speed-up"), AGAINST: _("against latency")}
SUGGESTED_BLOCKS = 10  # at most: how many would tell is known but roughly until some more are there


@require_safe
@missing_is_404()
@conditional_page(LISTED)
def index(request: HttpRequest, known: Freshness) -> HttpResponse:
    query = request.META["QUERY_STRING"]
    selection, view, changed = _question(request)
    comparison = _compared(selection, known, changed) if selection.runs else None
    if comparison:
        selection = shortest(replace(selection, filters=comparison.selection.filters), comparison)
    short = urlstate.write(selection, view)
    fragment = wants_fragment(request)
    address = reverse("comparison") + (f"?{short}" if short else "")
    if not fragment and short != query:
        return redirect(address)
    runs = _listed(selection.runs)
    context = {"selection": selection, "runs": runs, "chosen_runs": set(selection.runs), "noise": ()}
    if comparison:
        known_noise = noise_of(comparison)
        comparison, noise = by_noise(comparison, known_noise)
        context |= _context(comparison, selection, view, runs) | {"noise": noise}
        numbers = table(comparison)
        context |= {"table": numbers, "rows": rows_after(numbers, short)}
        context |= {"query": short, **_offered(request, comparison)}
        context["trust"] = trust_line(trust_in(comparison, known=known_noise), comparison)
    else:
        context["suggestions"] = _suggestions(runs)
    template = "comparison/_comparison.html" if fragment else "comparison/index.html"
    response = render(request, template, context)
    response["HX-Push-Url"] = address
    return response


@require_safe
@missing_is_404()
def cell(request: HttpRequest) -> HttpResponseBase:
    """The trials behind one cell: the comparison's query and at (x), of (series), in (panel)."""
    selection = urlstate.read(request.META["QUERY_STRING"], PLACE)
    comparison, noise = by_noise(compared(selection))
    by_key = {point.key: point for point in comparison.points}
    panel, x, series = (request.GET.get(name, "") for name in ("in", "at", "of"))
    point = by_key.get((panel, x, series))
    if point is None:
        raise Http404(_("The comparison has no such cell."))
    base = by_key.get(point.base) if point.base and point.base != point.key else None
    runs = runs_lacking_replicates(point, base)
    texts = words.left_out(comparison).get(point.key, ("", ""))
    context = {
        "comparison": comparison,
        "point": point,
        "base": base,
        "per": per_name(comparison),
        "lacks": lacking(point.verdict) if point.verdict else "",
        "compared": texts[0],
        "left_out": texts[1],
        "noise": [one for one in noise if one.run_id in runs],
        "place": place_of(point),
        "query": urlstate.write(shortest(selection, comparison)),
    }
    template = "comparison/_cell.html" if "HX-Request" in request.headers else "comparison/cell.html"
    return render(request, template, context)


@require_safe
@missing_is_404()
def rows(request: HttpRequest) -> HttpResponseBase:
    """Rows of the table that follow `after` of them, to be added to the page; or alone."""
    selection = urlstate.read(request.META["QUERY_STRING"], ("after",))
    comparison, _noise = by_noise(compared(selection))
    numbers, query = table(comparison), urlstate.write(shortest(selection, comparison))
    further = rows_after(numbers, query, number(request.GET.get("after", "")) or 0, reverse("comparison-cell"))
    if not further.parts:
        raise Http404(_("The comparison has no further rows."))
    context = {
        "comparison": comparison,
        "table": numbers,
        "rows": further,
        "query": query,
        "per": per_name(comparison),
        "x_title": axis_title(comparison.selection.x, comparison.metric),
    }
    template = "comparison/_rows.html" if "HX-Request" in request.headers else "comparison/rows.html"
    return render(request, template, context)


def _listed(chosen: Sequence[int]) -> list[RunRow]:
    """Return the newest runs, and the chosen ones that are older."""
    runs = list_runs(archived=False, limit=LISTED)
    older = set(chosen) - {run.id for run in runs}
    return [*runs, *list_runs(ids=sorted(older), limit=None)] if older else runs


def _question(request: HttpRequest) -> tuple[Selection, View, bool]:
    """What the address, or the form, asks for; and whether it is a form that was changed."""
    query = request.META["QUERY_STRING"]
    selection = urlstate.read(query, (WAS, "percentile"))
    was = {name.removeprefix(WAS): str(text) for name, text in request.GET.items() if name.startswith(WAS)}
    if percent := request.GET.get("percentile", "").strip():
        selection = replace(selection, metric=PERCENTILE + percent)
    return settled(selection, was), urlstate.read_view(query), bool(was)


def _compared(selection: Selection, known: Freshness, changed: bool) -> Comparison:
    """A baseline that a change of the form took away becomes the default one."""
    try:
        return compared(selection, known)
    except TeitenError as error:
        if not changed or error.where != "baseline":
            raise
    return compared(replace(selection, baseline=""), known)


def _context(comparison: Comparison, selection: Selection, view: View, runs: Sequence[RunRow]) -> dict[str, Any]:
    panels, stack = comparison_panels(comparison, view), stacked_steps(comparison, view)
    return {
        "comparison": comparison,
        "chosen": comparison.selection,
        "statistic": statistic_name(comparison),
        "per": per_name(comparison),
        "chooser": chooser(comparison, view),
        "run_differences": run_differences(comparison),
        "view": view,
        "views": _views(comparison, selection, view),
        "constants": words.constants(comparison),
        "x_title": axis_title(comparison.selection.x, comparison.metric),
        "key": _key(comparison),
        "panels": panels,
        "stack": stack,
        "forms": offered(),
        "files": reverse("api:comparison-file", args=["csv"]).removesuffix("csv"),
        "figures": figures(panels, stack),
        "shapes": SHAPES,
        "trials": len({replicate.trial_id for point in comparison.points for replicate in point.values}),
        "how_drawn": how_drawn(comparison, view),
        "not_drawn": left_out_of_figure(comparison),
        "mixed": mixtures(comparison, selection),
        "excluded": {state: count for state, count in comparison.excluded.items() if count},
        "query": urlstate.write(selection, view),
        "changed": urlstate.write(_of_every_metric(selection)),
        **_words(comparison),
        **_runs(selection, runs),
    }


def _of_every_metric(selection: Selection) -> Selection:
    """Return what What changed is asked for. A single cell as the baseline is named by the axes that it stands on."""
    named = selection if CELL in selection.baseline else replace(selection, x="", panel="")
    return replace(named, metric="", node="", label="", filters={})


def _words(comparison: Comparison) -> dict[str, Any]:
    return {
        "heading": words.heading(comparison),
        "lead": () if comparison.mixed else words.lead(comparison),
        "missing": words.missing(comparison),
        "unmatched": words.unmatched(comparison),
        "warnings": words.warnings(comparison),
        "better": words.direction(comparison.metric.better),
        "rule": words.rule(comparison),
    }


def _runs(selection: Selection, runs: Sequence[RunRow]) -> dict[str, Any]:
    """Return the names of the chosen runs, and those of them that the page does not list.

    runs: those listed."""
    listed = {run.id for run in runs}
    return {
        "titles": list(dict.fromkeys(run.name for run in runs if run.id in selection.runs)),
        "old_runs": [run_id for run_id in selection.runs if run_id not in listed],
    }


def _key(comparison: Comparison) -> list[Any]:
    names = words.names_of(comparison)
    return list(zip(key([name or localized(comparison.metric.label) for name in names.values()]), names, strict=True))


def _offered(request: HttpRequest, comparison: Comparison) -> dict[str, Any]:
    """more_runs: runs to which this visitor may add the replicates that undecided cells lack; more_blocks: how many the
    nearest of these cells lacks, within reason. Two queries at most."""
    runs_of = _extensible(request, extensible_runs(comparison))
    verdicts = [point.verdict for point in comparison.points if point.key in runs_of]
    lacks = [verdict.more or 1 for verdict in verdicts if verdict]
    if not lacks:
        return {}
    runs = sorted(set[int]().union(*runs_of.values()))
    return {"more_runs": runs, "more_blocks": min(*lacks, SUGGESTED_BLOCKS), "most_blocks": MOST_BLOCKS}


def _extensible(request: HttpRequest, runs_of: Mapping[Key, Collection[int]]) -> dict[Key, Collection[int]]:
    """Those of the cells to all of whose runs this visitor may add blocks."""
    if not runs_of or not allows(scope_of(request.user), Scope.RUN):
        return {}
    wanted = set[int]().union(*runs_of.values())
    stored = Run.objects.filter(pk__in=wanted, publication=None, imported=None).values_list("pk", "toml")
    without_code = cache(agents_without_code)
    mine = {run for run, toml in stored if _may_extend(request, toml, without_code)}
    return {key: runs for key, runs in runs_of.items() if mine.issuperset(runs)}


def _may_extend(request: HttpRequest, toml: str, without_code: AgentNames) -> bool:
    try:
        return may_plan(request, plan.read(toml, kinds()), kinds(), without_code)
    except PlanError:  # of kinds that are gone: nobody can add to it
        return False


def _views(comparison: Comparison, selection: Selection, view: View) -> list[tuple[str, str, bool]]:
    """(text, query, chosen) of each way to draw the figure."""
    possible = possible_views(comparison)
    drawings = ["", *possible] if possible else []
    current = view.view if view.view in possible else ""
    ways = [
        (text, replace(view, axes="" if view.axes == name else name), view.axes == name) for name, text in AXES.items()
    ]
    ways += [(VIEWS[name], replace(view, view=name), current == name) for name in drawings]
    if len(comparison.panels) > 1:
        shared = view.scale == SHARED
        ways.append((_("one scale"), replace(view, scale="" if shared else SHARED), shared))
    return [(text, urlstate.write(selection, way), chosen) for text, way, chosen in ways]


def _suggestions(runs: Sequence[RunRow]) -> list[tuple[str, str]]:
    """(query, text): newest runs that have something to compare, and the newest two of a plan."""
    ended = [run for run in runs if run.trials_done]
    single = [
        (f"run={run.id}", gettext("Run {run}, {name}").format(run=run.id, name=localized(run.name)))
        for run in ended
        if run.configurations > 1
    ]
    newest: dict[str, RunRow] = {}
    pairs = []
    for run in ended:
        if (newer := newest.setdefault(run.name, run)) is not run:
            text = gettext("{name}: run {newer} against run {older}")
            text = text.format(name=localized(run.name), newer=newer.id, older=run.id)
            pairs.append((f"run={run.id},{newer.id}&series=run", text))
    return [*single[:SUGGESTED], *pairs[:SUGGESTED]]
