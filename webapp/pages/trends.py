"""Trends: configuration families over dates, versions or commits, with changes of level and annotations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from results import annotating, models
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.statistics.verdict import Kind
from results.domain.units import format_number, format_quantity, scale_for
from results.models.audit import Scope
from results.queries.shared.configurations import ConfigurationRow, configurations
from results.queries.shared.run_filter import RunFilterChoices, run_filter_choices
from results.queries.shared.side_by_side import RUN, VERSION, side_by_side
from results.queries.trends.annotations import AnnotationRow, list_annotations
from results.queries.trends.environment_changes import EnvironmentChange
from results.queries.trends.families import (
    DATE,
    Family,
    TrendSelection,
    followed_runs,
    released,
    shortest,
)
from results.queries.trends.trends import Followed, Shift, Trend, TrendLine, TrendPoint, followed
from results.queries.trends.trends_state import trends_state
from webapp import run_filter
from webapp.access import actor, allows, needs, person, scope_of
from webapp.charts.style import key
from webapp.charts.trends import axis_words, logarithmic, trends_figure
from webapp.computed import families_of, trend_of
from webapp.conditional import conditional_response
from webapp.language import joined
from webapp.links import difference_url, trial_url, trial_urls
from webapp.pages.common import moment, wants_fragment
from webapp.problems import missing_is_404
from webapp.trends import state as trendstate
from webapp.trends.chooser import chooser
from webapp.trends.state import HELD, METRIC_WAS
from webapp.trends.words import change_words, kind_words, points_words

MOST_ROWS = 20
MOST_TRIALS = 40  # of a cell, that are named
MOST_ENVIRONMENTS = 20


@dataclass(frozen=True)
class _Around:
    """What a page shows around a trend.

    now: the minute, for who may annotate; '' for others, whose page is the same later."""

    annotations: Sequence[AnnotationRow]
    run_choices: RunFilterChoices
    now: str


@require_safe
@missing_is_404()
def index(request: HttpRequest) -> HttpResponseBase:
    selection = trendstate.read(request.META["QUERY_STRING"])
    if not (selection.plan or selection.workload):
        return _page(request, selection, [], lambda chosen: _choices(followed()))
    runs = followed_runs(selection)
    state = trends_state(runs)
    around = _Around(
        annotations=list_annotations(plan=selection.plan),
        run_choices=run_filter_choices(),
        now=f"{datetime.now(UTC):%Y-%m-%dT%H:%M}" if allows(scope_of(request.user), Scope.PUBLISH) else "",
    )

    def made() -> HttpResponse:
        known = families_of(runs, state)

        def context_of(chosen: TrendSelection) -> dict[str, Any]:
            trend = trend_of(chosen, runs, known, state)
            return {**_context(trend, chosen, around, request), **_other_runs(chosen, trend.earlier)}

        return _page(request, selection, known, context_of)

    return conditional_response(request, f"{state}\n{around}", made)


def _page(
    request: HttpRequest,
    selection: TrendSelection,
    known: Sequence[Family],
    context_of: Callable[[TrendSelection], dict[str, Any]],
) -> HttpResponse:
    """Return the page of a selection, or the way to its shortest address.

    context_of: what its template takes, by the shortest selection."""
    chosen = shortest(_without_leftovers(selection, known, request.GET), known)
    short = trendstate.write(chosen)
    fragment = wants_fragment(request)
    address = reverse("trends") + (f"?{short}" if short else "")
    if not fragment and short != request.META["QUERY_STRING"]:
        return redirect(address)
    template = "trends/_trends.html" if fragment else "trends/index.html"
    response = render(request, template, {"selection": chosen, "query": short, **context_of(chosen)})
    response["HX-Push-Url"] = address
    return response


def _choices(plans: Sequence[Followed]) -> dict[str, Any]:
    """Return what can be followed: what has kept runs, and what has none yet."""
    return {"choices": [one for one in plans if one.runs], "unkept": [one for one in plans if not one.runs]}


def _without_leftovers(selection: TrendSelection, known: Sequence[Family], form: QueryDict) -> TrendSelection:
    """A form sends all its fields, some as they stood before another was changed."""
    if form.get(METRIC_WAS, selection.metric) != selection.metric:
        selection = replace(selection, node="", label="")
    return released(selection, known, form.getlist(HELD)) if HELD in form else selection


@require_POST
@needs(Scope.PUBLISH)
def annotate(request: HttpRequest) -> HttpResponse:
    """Store a remark on a moment.

    Fields: `plan_only`, the name of the plan whose trends show it; `query`, of the trend to return to."""
    text, at = request.POST.get("text", ""), moment(request.POST.get("at", ""), "at")
    annotating.annotate(text, at, plan=request.POST.get("plan_only", ""), user=person(request), actor=actor(request))
    messages.success(request, gettext("Noted on the axis."))
    return _back(request)


@require_POST
@needs(Scope.PUBLISH)
@missing_is_404()
def remove_annotation(request: HttpRequest, annotation_id: int) -> HttpResponse:
    """By its author or an administrator."""
    annotation = models.Annotation.objects.get(pk=annotation_id)
    if not may_remove(request, annotation.created_by_id):
        raise PermissionDenied(_("Only its author or an administrator may remove an annotation."))
    annotating.remove(annotation, actor(request))
    messages.success(request, gettext("Removed."))
    return _back(request)


def may_remove(request: HttpRequest, author_id: int | None) -> bool:
    someone = person(request)
    own = someone is not None and someone.pk == author_id
    return own or allows(scope_of(request.user), Scope.ADMIN)


@dataclass(frozen=True)
class ShiftRow:
    """A change as the page tells it. runs: of the two points.

    words: its kind.
    environment: what changed around, between the same levels."""

    shift: Shift
    last: TrendPoint
    first: TrendPoint
    before: str
    after: str
    words: str
    percent: str
    comparison: str
    difference: str
    environment: EnvironmentChange | None


@dataclass(frozen=True)
class LevelCell:
    """A point of a line in the table.

    n: how many trials it is made of.
    trials: (number, address, value and run in words) of the first of them."""

    median: str
    n: int
    trials: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True)
class LevelRow:
    """One level of x as a row of the table.

    cells: a cell a line, None where the line has no point."""

    level: str
    run_id: int | None
    at: datetime
    versions: str
    cells: tuple[LevelCell | None, ...]


def _context(trend: Trend, shortest_selection: TrendSelection, around: _Around, request: HttpRequest) -> dict[str, Any]:
    """shortest_selection: the selection without what holds anyway."""
    metric = localized(trend.metric.label)
    names = [line.name or metric for line in trend.lines]
    which = joined(text for text in (trend.selection.label, trend.selection.node) if text)
    figure = trends_figure(trend, around.annotations, trial_url=trial_urls(), difference_url=difference_url)
    return {
        "trend": trend,
        "chosen": trend.selection,
        "key": key(names) if len(names) > 1 else [],
        "figure": figure if trend.lines else None,
        "sentences": sentences(trend),
        "shifts": shift_rows(trend, _configurations(trend)),
        "names": names,
        "logarithmic": logarithmic(trend),
        "by_date": trend.selection.x == DATE,
        "annotations": [(one, may_remove(request, one.author_id)) for one in around.annotations],
        "may_annotate": allows(scope_of(request.user), Scope.PUBLISH),
        "now": around.now,
        "chooser": chooser(trend),
        "run_filter": run_filter.form(trend.selection.runs, around.run_choices, leave_out=[run_filter.PLAN]),
        "counts": trend,
        "what": gettext("{metric} ({which})").format(metric=metric, which=which) if which else metric,
        "x": axis_words(trend.selection.x),
        "json": f"{reverse('api:trends')}?{trendstate.write(shortest_selection)}",
        **_environments(trend),
        **_levels(trend),
    }


def _other_runs(selection: TrendSelection, earlier: int | None) -> dict[str, str]:
    """Return the addresses of the same trend of the runs before these, and of the newest, '' where it shows them."""

    def address(before: int | None) -> str:
        return f"{reverse('trends')}?{trendstate.write(replace(selection, before=before))}"

    return {"earlier": address(earlier) if earlier else "", "newest": address(None) if selection.before else ""}


def _environments(trend: Trend) -> dict[str, Any]:
    """Changes of the environment, the newest first."""
    newest = trend.environments[::-1][:MOST_ENVIRONMENTS]
    return {
        "environments": [(one, difference_url(one.left_trial, one.right_trial)) for one in newest],
        "more_environments": max(len(trend.environments) - MOST_ENVIRONMENTS, 0),
    }


def _levels(trend: Trend) -> dict[str, Any]:
    medians = [point.median for line in trend.lines for point in line.points]
    unit = scale_for(max(medians, default=1.0), trend.metric.unit)
    return {
        "level_rows": level_rows(trend, unit, MOST_ROWS),
        "more_levels": max(len(trend.levels) - MOST_ROWS, 0),
        "unit": unit[1],
    }


def sentences(trend: Trend) -> list[tuple[str, str, Kind | None, str]]:
    """Each sentence once, with the lines that it is true of, and the kind of the last change in words."""
    lines_of: dict[tuple[str, Kind | None], list[str]] = {}
    for line in trend.lines:
        name, text, kind = sentence(trend, line)
        lines_of.setdefault((text, kind), []).append(name)
    return [(joined(names), text, kind, kind_words(kind) if kind else "") for (text, kind), names in lines_of.items()]


def sentence(trend: Trend, line: TrendLine) -> tuple[str, str, Kind | None]:
    """(line, what is known of its level, whether the last change was for better or worse)."""
    points = points_words(trend.selection.x, len(line.points))
    if len(line.points) < trend.fewest:
        text = gettext("{points} so far; a change of level takes at least {fewest} to be told from chance.")
        return line.name, text.format(points=points, fewest=trend.fewest), None
    if not line.shifts:
        return line.name, gettext("no change of level in {points}.").format(points=points), None
    last = line.shifts[-1]
    since = line.points[last.first]
    when = since.level
    if trend.selection.x == DATE:
        when = gettext("{day} (run {run})").format(day=f"{since.at:%Y-%m-%d}", run=since.level)
    return line.name, gettext("{change} since {when}.").format(change=change_words(last), when=when), last.kind


def shift_rows(trend: Trend, rows_of: Mapping[int, Sequence[ConfigurationRow]]) -> list[ShiftRow]:
    """Newest first.

    rows_of: run → its configurations."""
    around = {(name, one.left, one.right): one for one in trend.environments for name in one.lines}
    rows = []
    for line in trend.lines:
        for shift in line.shifts:
            last, first = line.points[shift.last], line.points[shift.first]
            rows.append(
                ShiftRow(
                    shift,
                    last,
                    first,
                    format_quantity(shift.before, trend.metric.unit),
                    format_quantity(shift.after, trend.metric.unit),
                    kind_words(shift.kind),
                    change_words(shift),
                    f"{reverse('comparison')}?{_beside(trend, last, first, rows_of)}",
                    difference_url(last.values[-1].trial_id, first.values[-1].trial_id),
                    around.get((line.name, last.level, first.level)),
                )
            )
    return sorted(rows, key=lambda row: row.first.at.date(), reverse=True)


def _configurations(trend: Trend) -> Mapping[int, Sequence[ConfigurationRow]]:
    """Run → configurations, of the runs on either side of a change. One query, none without changes."""
    ends = [(line.points[shift.last], line.points[shift.first]) for line in trend.lines for shift in line.shifts]
    rows = configurations(list({run for last, first in ends for run in (last.runs[-1], first.runs[0])}))
    return {run: list(several) for run, several in groupby(rows, lambda row: row.run_id)}


def _beside(
    trend: Trend, last: TrendPoint, first: TrendPoint, rows_of: Mapping[int, Sequence[ConfigurationRow]]
) -> str:
    """Query string of the comparison of the runs, or versions, between which a change lies."""
    chosen = trend.selection
    runs = dict.fromkeys((last.runs[-1], first.runs[0]))
    by_version = chosen.x == VERSION or len(runs) == 1
    held = {**chosen.filters, **{name: (value,) for name, value in trend.held.items()}}
    filters = {name: values for name, values in held.items() if name not in ("installation", "version", "major")}
    if by_version:
        filters["version"] = (*last.versions[-1:], *first.versions[:1])
    return side_by_side(
        [row for run in runs for row in rows_of[run]],
        last.versions[-1] if by_version else str(last.runs[-1]),
        by=VERSION if by_version else RUN,
        filters=filters,
        texts={"metric": chosen.metric, "node": chosen.node, "label": chosen.label},
    )


def level_rows(trend: Trend, unit: tuple[float, str], most: int | None = None) -> list[LevelRow]:
    """Newest, or last in order, first. Medians in the unit that is shown."""
    points_of = [{point.level: point for point in line.points} for line in trend.lines]
    levels = trend.levels[::-1][:most]
    return [_level_row(level, [points.get(level) for points in points_of], trend, unit) for level in levels]


def _level_row(level: str, points: Sequence[TrendPoint | None], trend: Trend, unit: tuple[float, str]) -> LevelRow:
    """Return the row of one level.

    points: one a line."""
    there = [point for point in points if point is not None]
    versions = dict.fromkeys(version for point in there for version in point.versions)
    return LevelRow(
        level=level,
        run_id=there[0].runs[0] if trend.selection.x == DATE else None,
        at=min(point.at for point in there),
        versions=joined(versions),
        cells=tuple(_level_cell(point, trend.metric.unit, unit) if point else None for point in points),
    )


def _level_cell(point: TrendPoint, unit: str, shown: tuple[float, str]) -> LevelCell:
    """Return the cell of one point.

    unit: the metric's.
    shown: that of the table."""
    text = gettext("{value}, run {run}")
    trials = tuple(
        (one.trial_id, trial_url(one.trial_id), text.format(value=format_quantity(one.value, unit), run=one.run_id))
        for one in point.values[:MOST_TRIALS]
    )
    return LevelCell(format_number(point.median / shown[0]), point.n, trials)


def _back(request: HttpRequest) -> HttpResponse:
    query = trendstate.write(trendstate.read(request.POST.get("query", "")))
    return redirect(reverse("trends") + (f"?{query}" if query else ""))
