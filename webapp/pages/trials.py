"""One trial: its numbers, its time, its conditions, and its raw files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from results import runs
from results.environment import LayerKind, flatten
from results.models import Attempt
from results.models.audit import Scope
from results.queries.trials import AttemptRow, LayerRow, TrialDetail, histograms_of, series_of, trial_detail
from results.states import TrialState
from webapp import bundles
from webapp.access import actor, allows, needs, scope_of
from webapp.charts.trial import NAMES, timeline
from webapp.pages.common import number
from webapp.pages.numbers import facts, groups, headline_row
from webapp.problems import missing_is_404
from webapp.templatetags.teiten import configuration
from workers.tasks import ring

TEXT_LIMIT = 2_000_000


@require_safe
@missing_is_404()
def detail(request: HttpRequest, trial_id: int) -> HttpResponse:
    found = trial_detail(trial_id, number(request.GET.get("attempt", "")))
    attempt, ended = found.attempt, found.state not in (TrialState.WAITING, TrialState.RUNNING)
    context = {
        "trial": found,
        "attempt": attempt,
        "name": configuration(found.levels),
        "headline": headline_row(found.measurements, found.headline),
        "facts": facts(found.measurements),
        "groups": groups(found.measurements, found.headline),
        "phases": phases(attempt) if attempt else (),
        "figure": _figure(found) if attempt else None,
        "settings": _content(found.layers, LayerKind.SETTINGS),
        "layers": [(layer, flatten(layer.content)) for layer in found.layers if layer.kind != LayerKind.SETTINGS],
        "problem": (attempt.error if attempt else None) or found.error,
        "checks_passed": _all_passed(attempt),
        "ended": ended,
        "live": not ended and (attempt is None or attempt.number == found.attempts[-1].number),
        "may_run": allows(scope_of(request.user), Scope.RUN),
    }
    return render(request, "trials/detail.html", context)


def _all_passed(attempt: AttemptRow | None) -> bool:
    return attempt is not None and bool(attempt.checks) and all(check["passed"] for check in attempt.checks)


def _figure(found: TrialDetail) -> dict[str, Any] | None:
    attempt = found.attempt
    assert attempt is not None
    duration = None
    if attempt.measured_from and attempt.measured_to:
        duration = (attempt.measured_to - attempt.measured_from).total_seconds()
    nodes = found.spec.get("agents", {})
    return timeline(series_of(attempt.id, NAMES), histograms_of(attempt.id), attempt.events, duration, nodes)


def _content(layers: tuple[LayerRow, ...], kind: LayerKind) -> list[tuple[str, Mapping[str, Any]]]:
    return [(layer.node, layer.content) for layer in layers if layer.kind == kind]


@dataclass(frozen=True)
class Phase:
    """x, width: place in the bar, in thousandths."""

    name: str
    seconds: float
    ok: bool
    x: float
    width: float


def phases(attempt: AttemptRow) -> tuple[Phase, ...]:
    whole = sum(float(phase["seconds"]) for phase in attempt.phases) or 1.0
    found: list[Phase] = []
    x = 0.0
    for phase in attempt.phases:
        width = 1000 * float(phase["seconds"]) / whole
        found.append(
            Phase(str(phase["name"]), float(phase["seconds"]), bool(phase["ok"]), round(x, 2), round(width, 2))
        )
        x += width
    return tuple(found)


@require_safe
@missing_is_404()
def file(request: HttpRequest, trial_id: int, attempt_number: int, name: str) -> HttpResponse:
    """A raw file as plain text, or, with ?download, as a file. Never as HTML: it is what a tool printed."""
    attempt = Attempt.objects.get(trial_id=trial_id, number=attempt_number)
    content = bundles.member(attempt, name)
    if "download" in request.GET or len(content) > TEXT_LIMIT or b"\0" in content[:8192]:
        headers = {"Content-Disposition": f'attachment; filename="{_plain(name)}"'}
        return HttpResponse(content, content_type="application/octet-stream", headers=headers)
    return HttpResponse(content, content_type="text/plain; charset=utf-8")


@require_safe
@missing_is_404()
def bundle(request: HttpRequest, trial_id: int, attempt_number: int) -> HttpResponseBase:
    attempt = Attempt.objects.get(trial_id=trial_id, number=attempt_number)
    return bundles.whole(attempt, trial_id)


def _plain(name: str) -> str:
    last = name.rpartition("/")[2]
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in last)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def cancel(request: HttpRequest, trial_id: int) -> HttpResponse:
    runs.cancel_trial(trial_id, actor(request))
    messages.success(request, "Cancelled.")
    return redirect("trials:detail", trial_id)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def retry(request: HttpRequest, trial_id: int) -> HttpResponse:
    runs.retry_trial(trial_id, actor(request))
    ring()
    messages.success(request, "Queued again.")
    return redirect("trials:detail", trial_id)
