"""One trial: its numbers, its time, its conditions, and its raw files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from results import runs
from results.domain.environment.layers import LayerKind, flatten
from results.domain.measurement.activity import sample_in, stalls_in
from results.domain.measurement.query_plans import read_plan
from results.domain.measurement.series import Series
from results.domain.messages import gettext_lazy as _
from results.domain.states import TrialState
from results.models import Attempt, Trial
from results.models.audit import Scope
from results.queries.agents.capabilities import answers_of
from results.queries.runs.documents import document, document_heads
from results.queries.runs.steps import steps_of
from results.queries.runs.trials import (
    AttemptRow,
    LayerRow,
    TrialDetail,
    histograms_of,
    series_of,
    shown_attempt,
    trial_detail,
)
from results.ranges import why_missing
from webapp import bundles
from webapp.access import actor, allows, needs, require_plan, scope_of
from webapp.charts import topology, waits
from webapp.charts.events import event_key, event_words
from webapp.charts.steps import steps_of_trial
from webapp.charts.trial import NAMES, TimeView, timeline
from webapp.language import joined
from webapp.pages.common import number
from webapp.pages.trial_tables import BY_PART, by_load, facts, groups, headline_row, is_result, tables
from webapp.pages.trial_tracks import drawn, missing, options, series_names, time_view
from webapp.problems import missing_is_404
from webapp.templatetags.teiten import configuration
from workers.registry import kinds
from workers.tasks import wake_dispatcher

TEXT_LIMIT = 2_000_000
WIRES = (
    ("load", _("load")),
    ("queries", _("queries")),
    ("sync", _("replication, waited for")),
    ("async", _("replication")),
    ("control", _("control")),
    ("broken", _("broken")),
)
_ELSEWHERE = (LayerKind.SETTINGS, LayerKind.DEFAULTS)  # a table of their own, and the page that compares environments


@require_safe
@missing_is_404()
def detail(request: HttpRequest, trial_id: int) -> HttpResponse:
    trial = trial_detail(trial_id, number(request.GET.get("attempt", "")))
    attempt = trial.attempt
    view = time_view(request.GET, trial.series)
    series = series_of(trial.run_id, attempt.id, (*NAMES, *topology.NAMES, *series_names(view))) if attempt else []
    agents: Mapping[str, str] = trial.spec.get("agents", {})
    context = {
        "trial": trial,
        "attempt": attempt,
        "name": configuration(trial.levels),
        "waits": waits.key(series) if drawn(view, "waits") else [],
        "cpu_key": drawn(view, "cpu"),
        "settings": _content(trial.layers, LayerKind.SETTINGS),
        "layers": [(layer, flatten(layer.content)) for layer in trial.layers if layer.kind not in _ELSEWHERE],
        "problem": (attempt.error if attempt else None) or trial.error,
        "agents": agents,
        "waits_on": joined(dict.fromkeys(agents.values())),
        "may_run": allows(scope_of(request.user), Scope.RUN),
        **_state(trial),
        **_measurements(trial),
        **_topology(trial, series),
    }
    if attempt:
        context |= _attempt(trial, attempt, series, view)
    return render(request, "trials/detail.html", context)


def _state(trial: TrialDetail) -> dict[str, bool]:
    """live: whether the page asks for itself anew, which it does not while it shows an earlier attempt."""
    ended = trial.state not in (TrialState.WAITING, TrialState.RUNNING)
    newest = trial.attempt is None or trial.attempt.number == trial.attempts[-1].number
    return {"ended": ended, "live": newest and not ended}


def _measurements(trial: TrialDetail) -> dict[str, Any]:
    loads, other_rows = by_load(trial.measurements, trial.spec.get("loads", ()))
    summary = [row for row in other_rows if is_result(row) and not row.label]
    labelled, rows = tables([row for row in other_rows if not is_result(row) or row.label])
    return {
        "headline": headline_row(trial.measurements, trial.headline),
        "facts": facts(trial.measurements),
        "by_load": loads,
        "summary": groups(summary, trial.headline),
        "result_tables": [table for table in labelled if table.title == BY_PART],
        "tables": [table for table in labelled if table.title != BY_PART],
        "groups": groups(rows, trial.headline),
    }


def _attempt(trial: TrialDetail, attempt: AttemptRow, series: Sequence[Series], view: TimeView) -> dict[str, Any]:
    heads = document_heads(attempt.id)
    kinds = {head.kind for head in heads}
    duration_s = _duration_s(attempt)
    latencies = histograms_of(trial.run_id, attempt.id)
    return {
        "phases": phases(attempt),
        "steps": [(steps, steps_of_trial(steps)) for steps in steps_of(attempt.id)],
        "figure": timeline(series, latencies, attempt.events, duration_s, trial.spec.get("agents", {}), view),
        "view": view,
        "duration_s": duration_s,
        "options": options(trial.series, view),
        "missing": missing(trial, attempt, duration_s, "" if trial.series else why_missing([trial.run_id])),
        "event_key": event_key(attempt.events),
        "event_words": {event["kind"]: event_words(str(event["kind"])) for event in attempt.events},
        "stacks": "stacks" in kinds,
        "answers": answers_of(attempt.id) if "capability" in kinds else (),
        "plans": [head.label for head in heads if head.kind == "plan"],
        "look": None if attempt.error else sample_in(attempt.notes),
        "stalls": stalls_in(attempt.notes),
        "checks_passed": bool(attempt.checks) and all(check["passed"] for check in attempt.checks),
    }


def _topology(trial: TrialDetail, series: Sequence[Series]) -> dict[str, Any]:
    """The arrangement as it stood in the attempt, or as it will."""
    attempt = trial.attempt
    drawing = topology.draw(
        trial.spec,
        attempt.checks if attempt else (),
        series,
        attempt.events if attempt else (),
        _duration_s(attempt) if attempt else None,
        known.roles if (known := kinds().topologies.get(trial.spec.get("topology", ""))) else (),
    )
    looks = drawing.looks if drawing else ()
    wires = [(look, words) for look, words in WIRES if look in looks]
    return {"drawing": drawing, "wire_key": wires, "width": topology.WIDTH, "height": topology.HEIGHT}


def _duration_s(attempt: AttemptRow) -> float | None:
    if attempt.measured_from and attempt.measured_to:
        return (attempt.measured_to - attempt.measured_from).total_seconds()
    return None


def _content(layers: tuple[LayerRow, ...], kind: LayerKind) -> list[tuple[str, Mapping[str, Any]]]:
    return [(layer.node, layer.content) for layer in layers if layer.kind == kind]


@dataclass(frozen=True)
class Phase:
    """One phase of an attempt.

    x, width: place in the bar, in thousandths."""

    name: str
    seconds: float
    ok: bool
    x: float
    width: float


def phases(attempt: AttemptRow) -> tuple[Phase, ...]:
    total_s = sum(float(phase["seconds"]) for phase in attempt.phases) or 1.0
    bar: list[Phase] = []
    x = 0.0
    for phase in attempt.phases:
        seconds = float(phase["seconds"])
        width = 1000 * seconds / total_s
        bar.append(Phase(str(phase["name"]), seconds, bool(phase["ok"]), round(x, 2), round(width, 2)))
        x += width
    return tuple(bar)


@require_safe
@missing_is_404()
def plan(request: HttpRequest, trial_id: int, attempt_number: int, label: str) -> HttpResponse:
    """How the server ran one query."""
    attempt = shown_attempt(trial_id, attempt_number)
    content = document(attempt.id, "plan", label).content
    context = {"trial_id": trial_id, "number": attempt.number, "label": label, "plan": read_plan(content)}
    return render(request, "trials/plan.html", context)


@require_safe
@missing_is_404()
def file(request: HttpRequest, trial_id: int, attempt_number: int, name: str) -> HttpResponse:
    """A raw file as plain text, or, with ?download, as a file. Never as HTML: it is what a tool printed."""
    attempt = Attempt.objects.get(trial_id=trial_id, number=attempt_number)
    content = bundles.read_file(attempt, name)
    if "download" in request.GET or len(content) > TEXT_LIMIT or b"\0" in content[:8192]:
        headers = {"Content-Disposition": f'attachment; filename="{_plain(name)}"'}
        return HttpResponse(content, content_type="application/octet-stream", headers=headers)
    return HttpResponse(content, content_type="text/plain; charset=utf-8")


@require_safe
@missing_is_404()
def bundle(request: HttpRequest, trial_id: int, attempt_number: int) -> HttpResponseBase:
    attempt = Attempt.objects.get(trial_id=trial_id, number=attempt_number)
    return bundles.download(attempt, trial_id)


def _plain(name: str) -> str:
    file_name = name.rpartition("/")[2]
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in file_name)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def cancel(request: HttpRequest, trial_id: int) -> HttpResponse:
    runs.cancel_trial(trial_id, actor(request))
    messages.success(request, gettext("Cancelled."))
    return redirect("trials:detail", trial_id)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def retry(request: HttpRequest, trial_id: int) -> HttpResponse:
    run_id = Trial.objects.values_list("run_id", flat=True).get(pk=trial_id)
    require_plan(request, runs.plan_of_run(run_id, kinds()), kinds())
    runs.retry_trial(trial_id, actor(request))
    wake_dispatcher()
    messages.success(request, gettext("Queued again."))
    return redirect("trials:detail", trial_id)
