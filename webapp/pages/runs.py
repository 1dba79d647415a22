"""Runs: the list, the live page, and the verbs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST, require_safe

from results import runs
from results.domain.states import ENDED_RUNS, RunState, Standing
from results.models import Run
from results.models.audit import Scope
from results.queries.runs.runs import (
    ChangedCell,
    Chosen,
    RunDetail,
    RunRow,
    changed_cells,
    list_runs,
    run_outline,
    run_row,
    with_cells,
    with_summaries,
)
from results.queries.shared.run_filter import Archived, RunSearch, matching_runs, run_filter_choices
from results.queries.shared.selection import Selection
from results.queries.why.stacks import choices
from webapp import run_filter, run_search, urlstate
from webapp.access import actor, allows, is_admin, may, needs, person, require_plan, scope_of
from webapp.charts.run import drawn_configurations, run_panels
from webapp.charts.style import key
from webapp.chooser import Chooser
from webapp.health import why_no_trial_starts
from webapp.language import joined
from webapp.links import trial_url
from webapp.pages.common import number, toml_file, wants_fragment
from webapp.pages.run_failures import MOST_CAUSES, MOST_FAILED, failures
from webapp.pages.run_live import (
    HEADER,
    Figures,
    Mark,
    changed_figures,
    changed_part,
    panel_digests,
    part_digests,
    parts_of,
    same_unit,
    shape_of,
)
from webapp.pages.run_matrix import Shown, largest_value, run_matrix, shown_part
from webapp.pages.standing import MEANS, PRIVATE
from webapp.problems import missing_is_404
from webapp.templatetags.teiten import duration, seconds_between
from workers.registry import kinds
from workers.tasks import retry_after_discovery, wake_dispatcher

PAGE = 50
ROW, REPLICATE = "row", "replicate"  # where the part of the matrix begins that is shown
POLL_S, POLL_MANY_S, MANY_TRIALS = 2, 10, 2000  # how often the page of a run asks for what is new
MOST_LOOKS = 10


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The runs that are searched for; htmx asks for the list alone."""
    search, before = run_search.read(request.GET), number(request.GET.get("before", ""))
    rows = list_runs(search=search, before_id=before, limit=PAGE + 1)
    none_older = bool(before and not rows and list_runs(search=search, limit=1))
    context = {
        "runs": rows[:PAGE],
        "none_older": none_older,
        "words": run_search.words(search),
        "fewer": [] if rows or none_older else _fewer(search),
        "archived_too": None if rows or before else _with_archived(search),
        "query": run_search.write(search),
        "before": before,
        "may_run": allows(scope_of(request.user), Scope.RUN),
        "may_keep": may(request, Scope.PUBLISH),
        "more": len(rows) > PAGE,
    }
    if not wants_fragment(request):
        return render(request, "runs/list.html", context | _form(search))
    response = render(request, "runs/_list.html", context)
    response["HX-Push-Url"] = _address(search)
    return response


def _form(search: RunSearch) -> dict[str, Any]:
    choices = run_filter_choices(standings=(), archived=search.archived)
    return {
        "chooser": Chooser(run_search.chips(search, choices)),
        "run_filter": run_filter.form(search.runs, choices),
        "name": search.name,
    }


def _fewer(search: RunSearch) -> list[tuple[str, str, int]]:
    """Return (condition in words, address without it, how many runs that finds) of each without which there are any."""
    without = [(text, _address(rest), len(matching_runs(rest))) for text, rest in run_search.conditions(search) if rest]
    return [one for one in without if one[2]]


def _with_archived(search: RunSearch) -> tuple[str, int] | None:
    """Return the address and number of the runs that are found if archived ones are searched too; None without any."""
    too = replace(search, archived=Archived.TOO)
    count = len(matching_runs(too))
    return (_address(too), count) if count else None


def _address(search: RunSearch) -> str:
    query = run_search.write(search)
    return reverse("runs:list") + (f"?{query}" if query else "")


@require_safe
@missing_is_404()
def detail(request: HttpRequest, run_id: int) -> HttpResponse:
    context = _context(request, run_id)
    return render(request, "runs/detail.html", context | {"stacks": bool(choices([run_id], limit=1))})


@require_safe
@missing_is_404()
def live(request: HttpRequest, run_id: int) -> HttpResponse:
    """What has changed of the page since the mark that is sent along; without one, and where that cannot be told, all
    of the page that changes while the run goes on."""
    known = Mark.parse(request.headers.get(HEADER, ""))
    changes = _changes(request, run_id, known) if known else None
    if changes is not None:
        response = render(request, "runs/_changes.html", changes)
    else:
        response = render(request, "runs/_live.html", _context(request, run_id))
        response["HX-Reswap"] = "outerHTML"
    patch_vary_headers(response, [HEADER])
    return response


def _context(request: HttpRequest, run_id: int) -> dict[str, Any]:
    run = run_row(run_id)
    many = run.trials_total > MANY_TRIALS
    outline = run_outline(run, timezone.now(), summaries=not many)
    place, shown = _place(request), _shown(request, outline)
    rights = _rights(request, run)
    if many:
        outline = with_summaries(outline, {*_in_rows(outline, shown), *drawn_configurations(outline)})
    detail = with_cells(outline, _of_page(shown) if many else None)
    panels = run_panels(detail, trial_url)
    first_filters = panels.panels[0].filters if panels.panels else {}
    context = _of_parts(detail, rights)
    parts = parts_of(request, context)
    mark = Mark(
        read=detail.mark,
        figures=detail.mark,
        largest=largest_value(detail),
        shape=shape_of(outline, shown, rights),
        parts=part_digests(parts),
        panels=panel_digests(panels),
    )
    return context | {
        "parts": parts,
        "mark": mark.write(),
        "matrix": run_matrix(detail, shown),
        "place": urlencode({name: value for name, value in place.items() if value}),
        "poll_s": POLL_MANY_S if many else POLL_S,
        "trials": _trials(),
        "panels": panels,
        "key": key(panels.series),
        "compare": urlstate.write(Selection((run.id,), first_filters)),
        "panels_compare": [urlstate.write(Selection((run.id,), panel.filters)) for panel in panels.panels],
        "standings": list(Standing),
        "means": PRIVATE if run.private else MEANS[Standing(run.standing)],
    }


def _changes(request: HttpRequest, run_id: int, known: Mark) -> dict[str, Any] | None:
    """Return what of a page has changed since; None where all of it is to be sent."""
    run = run_row(run_id)
    if run.state in ENDED_RUNS:
        return None
    outline = run_outline(run, timezone.now(), summaries=False)
    shown, rights = _shown(request, outline), _rights(request, run)
    if known.shape != shape_of(outline, shown, rights) or not known.has_place_in(outline):
        return None
    changed = changed_cells(run.id, _in_rows(outline, shown), known.read)
    redraw = bool(changed_cells(run.id, drawn_configurations(outline), known.figures))
    detail = _read_again(outline, changed, redraw=redraw)
    panels = run_panels(detail, trial_url) if redraw else None
    if not same_unit(detail, known.largest) or (panels and len(panels.panels) != len(known.panels)):
        return None
    figures = changed_figures(panels, known.panels) if panels else Figures([], known.panels, False)
    parts = parts_of(request, _of_parts(detail, rights))
    largest = largest_value(detail, known.largest)
    configurations, trials = {one.configuration for one in changed}, {one.trial_id for one in changed}
    rows, cells = changed_part(run_matrix(detail, shown, largest), configurations, trials)
    mark = Mark(
        read=detail.mark,
        figures=known.figures if figures.rest else detail.mark,
        largest=largest,
        shape=known.shape,
        parts=part_digests(parts),
        panels=figures.digests,
    )
    return {
        "mark": mark.write(),
        "parts": _changed_parts(parts, known.parts, mark.parts),
        "figures": figures.changed,
        "rows": rows,
        "cells": cells,
        "trials": _trials(),
    }


def _read_again(outline: RunDetail, changed: Sequence[ChangedCell], *, redraw: bool) -> RunDetail:
    """Return the run with what has changed: summaries and cells, and those of the figures where these are drawn."""
    of_figures = drawn_configurations(outline) if redraw else []
    with_values = with_summaries(outline, {*(one.configuration for one in changed), *of_figures})
    if redraw and outline.run.trials_total <= MANY_TRIALS:
        return with_cells(with_values)
    trials = tuple({one.trial_id for one in changed})
    return with_cells(with_values, Chosen(failed=MOST_FAILED, trials=trials, extremes=redraw))


def _changed_parts(parts: Mapping[str, Any], before: Sequence[str], now: Sequence[str]) -> dict[str, Any]:
    """Return those whose digests differ."""
    pairs = zip(parts.items(), before, now, strict=True)
    return {name: html for (name, html), earlier, later in pairs if earlier != later}


def _place(request: HttpRequest) -> dict[str, int | None]:
    """Return where the part of the matrix begins that is asked for."""
    return {name: number(request.GET.get(name, "")) for name in (ROW, REPLICATE)}


def _shown(request: HttpRequest, outline: RunDetail) -> Shown:
    place = _place(request)
    return shown_part(outline, place[ROW], place[REPLICATE])


def _in_rows(outline: RunDetail, shown: Shown) -> list[int]:
    """Return the indexes of the configurations that are shown."""
    return [row.index for row in outline.configurations[shown.rows.slice]]


def _trials() -> str:
    """Return the beginning of the addresses of trials: one for hundreds of cells."""
    return trial_url(0).removesuffix("0/")


def _of_parts(detail: RunDetail, rights: dict[str, bool]) -> dict[str, Any]:
    """Return what the parts of the page besides matrix and figures are made of."""
    run = detail.run
    return {
        "detail": detail,
        "run": run,
        "heading": _heading(detail),
        "ended": run.state in ENDED_RUNS,
        "no_room": why_no_trial_starts() if run.state == RunState.RUNNING and run.trials_waiting else "",
        "left_out": 0 if run.publication else _left_out(detail),
        **_noticed(detail),
        **rights,
    }


def _noticed(detail: RunDetail) -> dict[str, Any]:
    """Which trials make no progress, and what others failed of."""
    causes = failures(detail.configurations)
    return {
        "looks": [cell for row in detail.configurations for cell in row.cells if cell.look][:MOST_LOOKS],
        "failures": causes[:MOST_CAUSES],
        "more_causes": max(0, len(causes) - MOST_CAUSES),
        "failures_of": MOST_FAILED if detail.run.trials_failed > MOST_FAILED else None,
    }


def _of_page(shown: Shown) -> Chosen:
    """Return which trials the page of a large run speaks of."""
    rows, columns = shown.rows, shown.columns
    return Chosen((rows.first, rows.last), (columns.first, columns.last), failed=MOST_FAILED, extremes=True)


def _rights(request: HttpRequest, run: RunRow) -> dict[str, bool]:
    may_run, may_keep = may(request, Scope.RUN), may(request, Scope.PUBLISH)
    own = may_run and run.created_by == request.user.get_username()
    may_hide = own or may(request, Scope.ADMIN)
    return {"may_run": may_run, "may_keep": may_keep, "may_change": may_keep or own, "may_hide": may_hide}


def _left_out(detail: RunDetail) -> int:
    """Return how many combinations of levels the plan leaves out."""
    return prod(len(factor["levels"]) for factor in detail.factors) - detail.run.configurations


def _heading(detail: RunDetail) -> str:
    """How far the run is: '7 of 8 trials done, 1 failed in 3 min'."""
    run = detail.run
    if run.publication:
        trials = ngettext("{n:,} trial, not measured here", "{n:,} trials, not measured here", run.trials_total)
        return trials.format(n=run.trials_total)
    if run.state in ENDED_RUNS and run.started_at is None:
        return gettext("0 of {total} trials, cancelled before it started").format(total=run.trials_total)
    parts = [_trials_done(run), *_other_trials(run)]
    if run.trials_to_make:
        return joined([*parts, gettext("{n:,} of them still to be made").format(n=run.trials_to_make)])
    if run.ended_at and run.started_at:
        took = duration(seconds_between(run.started_at, run.ended_at))
        return gettext("{trials} in {time}").format(trials=joined(parts), time=took)
    if run.state == RunState.RUNNING and detail.left_s is not None:
        return joined([*parts, gettext("{time} left").format(time=duration(detail.left_s))])
    return joined(parts)


def _other_trials(run: RunRow) -> Iterator[str]:
    """Yield '1 failed', 'none running', '3 waiting'."""
    if run.trials_failed:
        yield gettext("{n} failed").format(n=run.trials_failed)
    if run.trials_cancelled:
        yield gettext("{n} cancelled").format(n=run.trials_cancelled)
    if run.state == RunState.RUNNING:
        yield gettext("{n} running").format(n=run.trials_running) if run.trials_running else gettext("none running")
        yield gettext("{n} waiting").format(n=run.trials_waiting)


def _trials_done(run: RunRow) -> str:
    if run.state == RunState.SCHEDULED:
        return gettext("Waits for its time: {total} trials").format(total=run.trials_total)
    if run.state not in ENDED_RUNS:
        return gettext("{ended} of {total} trials").format(ended=run.trials_ended, total=run.trials_total)
    if run.state == RunState.FAILED:
        return gettext("Failed: {done} of {total} trials done").format(done=run.trials_done, total=run.trials_total)
    return gettext("{done} of {total} trials done").format(done=run.trials_done, total=run.trials_total)


@require_safe
@missing_is_404()
def toml(request: HttpRequest, run_id: int) -> HttpResponse:
    run = Run.objects.only("toml", "name", "publication_id").get(pk=run_id)
    runs.require_measured(run)
    return toml_file(run.toml, run.name)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    runs.cancel_run(run_id, actor(request))
    messages.success(request, gettext("Cancelled. What runs now is stopped within seconds; what is done stays."))
    return redirect("runs:detail", run_id)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def retry(request: HttpRequest, run_id: int) -> HttpResponse:
    require_plan(request, runs.plan_of_run(run_id, kinds()), kinds())
    count = runs.retry_failed(run_id, actor(request))
    wake_dispatcher()
    notice = ngettext("Queued again: {n:,} failed trial.", "Queued again: {n:,} failed trials.", count)
    messages.success(request, notice.format(n=count))
    return redirect("runs:detail", run_id)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def retry_cancelled(request: HttpRequest, run_id: int) -> HttpResponse:
    require_plan(request, runs.plan_of_run(run_id, kinds()), kinds())
    count = runs.retry_cancelled(run_id, actor(request))
    wake_dispatcher()
    notice = ngettext("Queued again: {n:,} cancelled trial.", "Queued again: {n:,} cancelled trials.", count)
    messages.success(request, notice.format(n=count))
    return redirect("runs:detail", run_id)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def repeat(request: HttpRequest, run_id: int) -> HttpResponse:
    run = retry_after_discovery(
        lambda: runs.repeat_run(run_id, kinds(), user=person(request), actor=actor(request), as_admin=is_admin(request))
    )
    wake_dispatcher()
    notice = gettext("This is run {new}: run {old} again, on the installations as they are now.")
    messages.success(request, notice.format(new=run.pk, old=run_id))
    return redirect("runs:detail", run.pk)
