"""Where the processor's time goes: flame charts of trials and configurations, and two of them function by function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from results.domain.measurement.call_stacks import Stacks, by_function, cut_share, merged, unnamed_share
from results.queries.runs.documents import documents_of
from results.queries.runs.trials import shown_attempt
from results.queries.shared.ids import NotFound
from results.queries.why.stacks import Choice, Comparison, Profile, choices, compared, profile
from webapp.charts.flame import flame_figure
from webapp.pages.common import number
from webapp.problems import missing_is_404

MOST_ROWS = 40
MOST_OTHERS = 12
LEAST_POINTS = 0.05  # less is rounded to nothing
_WORTH_SAYING = 0.05  # of the samples


@require_safe
@missing_is_404()
def trial(request: HttpRequest, trial_id: int) -> HttpResponse:
    """One attempt's flame chart: a part of its trial's page, or a page."""
    attempt = shown_attempt(trial_id, number(request.GET.get("attempt", "")))
    documents = documents_of(attempt.id, "stacks")
    if not documents:
        raise NotFound(f"No call stacks were sampled in trial {trial_id}.")
    context = {
        "trial_id": trial_id,
        "number": attempt.number,
        **_others(choices(trial_id=trial_id)),
        **chart(merged(document.content for document in documents), [document.label for document in documents]),
    }
    return render(request, "flame/_trial.html" if "HX-Request" in request.headers else "flame/trial.html", context)


@require_safe
@missing_is_404()
def index(request: HttpRequest) -> HttpResponse:
    """?a= and ?b= as `why.stacks.profile` reads them; a alone is drawn; ?run= limits what is offered."""
    a, b = request.GET.get("a", ""), request.GET.get("b", "")
    context: dict[str, Any] = {"chosen_a": a, "chosen_b": b}
    if a and b:
        comparison = compared(a, b)
        context |= _comparison(comparison, by_total=request.GET.get("by") == "total")
        runs = {comparison.a.run_id, comparison.b.run_id}
    elif a:
        one = profile(a)
        context |= {"a": one, **chart(one.stacks, one.how)}
        runs = {one.run_id}
    else:
        runs = {run for text in request.GET.getlist("run") if (run := number(text))}
    context["choices"] = choices(sorted(runs))
    return render(request, "flame/index.html", context)


def _others(choices: Sequence[Choice]) -> dict[str, Any]:
    """What the trial's own configuration may be compared with; nothing where the trial counts for none."""
    own = next((choice for choice in choices if choice.own), None)
    others = [choice for choice in choices if own and not choice.own]
    return {"own": own, "others": others[:MOST_OTHERS], "more": max(0, len(others) - MOST_OTHERS)}


def chart(stacks: Stacks, how: Sequence[str]) -> dict[str, Any]:
    """What the flame chart's template shows of stacks."""
    return {
        "figure": flame_figure(stacks),
        "samples": sum(stacks.values()),
        "functions": len(by_function(stacks)),
        "how": sorted(set(how)),
        "warnings": warnings(stacks, how),
    }


def warnings(stacks: Stacks, how: Sequence[str]) -> list[str]:
    """What a reader must know before believing the shares."""
    messages = []
    if any(":u" in label for label in how):
        messages.append("Only time in user mode was seen, not the kernel's.")
    unnamed, cut = unnamed_share(stacks), cut_share(stacks)
    if unnamed > _WORTH_SAYING:
        messages.append(
            f"{unnamed:.0%} of the samples are in functions without a known name: the build's symbols are missing."
        )
    if any("no callers" in label for label in how):
        messages.append("Callers could not be found.")
    elif cut > _WORTH_SAYING:
        messages.append(f"The callers of {cut:.0%} of the samples are not known to the end.")
    return messages


def _comparison(comparison: Comparison, by_total: bool) -> dict[str, Any]:
    visible = [c for c in comparison.changes if max(abs(c.own_points), abs(c.total_points)) >= LEAST_POINTS]
    shown = sorted(visible, key=lambda change: -abs(change.total_points)) if by_total else visible
    return {
        "comparison": comparison,
        "a": comparison.a,
        "b": comparison.b,
        "rows": shown[:MOST_ROWS],
        "by_total": by_total,
        "here": f"{reverse('flame')}?{urlencode({'a': comparison.a.key, 'b': comparison.b.key})}",
        "beyond": sum(change.own_beyond_chance for change in comparison.changes),
        "left_out": len(comparison.changes) - len(shown[:MOST_ROWS]),
        "sides": [_side("a", comparison.a), _side("b", comparison.b)],
        "swapped": f"{reverse('flame')}?{urlencode({'a': comparison.b.key, 'b': comparison.a.key})}",
        "json": f"{reverse('api:flame')}?{urlencode({'a': comparison.a.key, 'b': comparison.b.key})}",
    }


@dataclass(frozen=True)
class Side:
    """One of the two that are compared.

    address: of its flame chart."""

    name: str
    profile: Profile
    warnings: list[str]
    address: str


def _side(name: str, of: Profile) -> Side:
    return Side(name, of, warnings(of.stacks, of.how), f"{reverse('flame')}?{urlencode({'a': of.key})}")
