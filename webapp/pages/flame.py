"""Where the processor's time goes: flame charts of trials and configurations, and two of them function by function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_safe

from results.domain.measurement.call_stacks import (
    Change,
    Moved,
    Stacks,
    by_function,
    cut_share,
    merged,
    moved_own,
    moved_total,
    unnamed_share,
)
from results.domain.messages import gettext_lazy as _
from results.queries.runs.documents import documents_of
from results.queries.runs.trials import shown_attempt
from results.queries.shared.ids import NotFound
from results.queries.why.stacks import Choice, Comparison, Profile, choices, compared, profile
from webapp.charts.flame import flame_figure
from webapp.language import joined
from webapp.pages.common import number
from webapp.problems import missing_is_404
from webapp.templatetags.teiten import configuration

MOST_ROWS = 40
MOST_OTHERS = 12
_WORTH_SAYING = 0.05  # of the samples


@require_safe
@missing_is_404()
def trial(request: HttpRequest, trial_id: int) -> HttpResponse:
    """One attempt's flame chart: a part of its trial's page, or a page."""
    attempt = shown_attempt(trial_id, number(request.GET.get("attempt", "")))
    documents = documents_of(attempt.id, "stacks")
    if not documents:
        raise NotFound(_("No call stacks were sampled in trial {trial}.", trial=trial_id))
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
        messages.append(gettext("Only time in user mode was seen, not the kernel's."))
    unnamed, cut = unnamed_share(stacks), cut_share(stacks)
    if unnamed > _WORTH_SAYING:
        words = gettext(
            "{share:.0%} of the samples are in functions without a known name: the build's symbols are missing."
        )
        messages.append(words.format(share=unnamed))
    if any("no callers" in label for label in how):
        messages.append(gettext("Callers could not be found."))
    elif cut > _WORTH_SAYING:
        messages.append(
            gettext("The callers of {share:.0%} of the samples are not known to the end.").format(share=cut)
        )
    return messages


def _comparison(comparison: Comparison, by_total: bool) -> dict[str, Any]:
    visible = [change for change in comparison.changes if change.visible]
    shown = (sorted(visible, key=lambda change: -abs(change.total_points)) if by_total else visible)[:MOST_ROWS]
    name_a, name_b = names(comparison.a, comparison.b)
    sides = (_side("a", name_a, comparison.a), _side("b", name_b, comparison.b))
    return {
        "comparison": comparison,
        "a": comparison.a,
        "b": comparison.b,
        "common": _common(comparison.a, comparison.b),
        "rows": shown,
        "by_total": by_total,
        "here": f"{reverse('flame')}?{urlencode({'a': comparison.a.key, 'b': comparison.b.key})}",
        "sentence": sentence(comparison, name_a, name_b),
        "moved_left_out": _moved_functions(comparison.changes) - _moved_functions(shown),
        "left_out": len(comparison.changes) - len(shown),
        "sides": sides,
        "side_a": sides[0],
        "side_b": sides[1],
        "swapped": f"{reverse('flame')}?{urlencode({'a': comparison.b.key, 'b': comparison.a.key})}",
        "json": f"{reverse('api:flame')}?{urlencode({'a': comparison.a.key, 'b': comparison.b.key})}",
    }


def _moved_functions(changes: Sequence[Change]) -> int:
    return sum(change.own_beyond_chance or change.total_beyond_chance for change in changes)


def sentence(comparison: Comparison, name_a: str, name_b: str) -> str:
    """How many functions changed by more than chance, which are those whose differences the table has in bold."""
    if not comparison.alike:
        return gettext("a and b were sampled in different ways: no difference below is called more than chance.")
    own, total = moved_own(comparison.changes), moved_total(comparison.changes)
    number = len(comparison.changes)
    if not own.count and not total.count:
        words = gettext(
            "None of {number} functions changed its share from a ({name_a}) to b ({name_b}) by more than chance "
            "explains."
        )
        return words.format(number=number, name_a=name_a, name_b=name_b)
    of_own = ngettext("{n} changed its self share", "{n} changed their self share", own.count)
    of_total = ngettext("{n} its share with callees", "{n} their share with callees", total.count)
    words = gettext(
        "Of {number} functions, {of_own} and {of_total} from a ({name_a}) to b ({name_b}), by more than chance changes "
        "that of a single function. These differences are bold."
    )
    return words.format(
        number=number,
        of_own=_with_directions(of_own, own),
        of_total=_with_directions(of_total, total),
        name_a=name_a,
        name_b=name_b,
    )


def _with_directions(words: str, moved: Moved) -> str:
    """A clause on how many functions moved, and which way if any did."""
    clause = words.format(n=moved.count)
    if not moved.count:
        return clause
    directions = gettext("{clause} ({larger} larger in b, {smaller} smaller)")
    return directions.format(clause=clause, larger=moved.larger, smaller=moved.smaller)


def names(a: Profile, b: Profile) -> tuple[str, str]:
    """What tells two profiles apart, in words: the levels that differ, else the run, else the trials."""
    factors = [*a.levels, *(factor for factor in b.levels if factor not in a.levels)]
    differing = [factor for factor in factors if a.levels.get(factor) != b.levels.get(factor)]
    same_run, configurations = a.run_id == b.run_id, a.key[0] == b.key[0] == "c"
    name_a, name_b = (_name(side, differing, run=not same_run, trials=not configurations) for side in (a, b))
    return name_a, name_b


def _name(side: Profile, factors: Sequence[str], *, run: bool, trials: bool) -> str:
    words = [configuration({factor: side.levels[factor]}) for factor in factors if factor in side.levels]
    if run:
        words.append(gettext("run {id}").format(id=side.run_id))
    if trials:
        ids = joined(map(str, side.trials))
        words.append(ngettext("trial {ids}", "trials {ids}", len(side.trials)).format(ids=ids))
    return " · ".join(words) or configuration(side.levels)


def _common(a: Profile, b: Profile) -> str:
    """The levels that both have, in words; '' for none."""
    levels = {factor: level for factor, level in a.levels.items() if b.levels.get(factor) == level}
    return configuration(levels) if levels else ""


@dataclass(frozen=True)
class Side:
    """One of the two that are compared.

    letter: a or b.
    name: what tells it from the other, in words.
    address: of its flame chart."""

    letter: str
    name: str
    profile: Profile
    warnings: list[str]
    address: str


def _side(letter: str, name: str, of: Profile) -> Side:
    return Side(letter, name, of, warnings(of.stacks, of.how), f"{reverse('flame')}?{urlencode({'a': of.key})}")
