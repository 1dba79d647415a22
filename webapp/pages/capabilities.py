"""What table access methods can do: capabilities × builds, the newest answer in each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from results.domain.messages import localized
from results.domain.states import Standing
from results.queries.agents.capabilities import (
    FILTERS,
    MOST_BUILDS,
    WORKLOAD,
    CapabilityMatrix,
    Line,
    capability_matrix,
)
from results.queries.shared.run_filter import run_filter_choices
from webapp import run_filter
from webapp.chooser import Chip, Chips, Chooser, title
from webapp.language import joined
from webapp.pages.common import wants_fragment

_ONLY = "only"
_DIFFERING = "differing"
_MOST_NAMED = 8
_ANSWER = (Standing.KEPT, Standing.EXPLORATORY)  # an excluded run answers no check


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    chosen = {name: _chosen(request, name) for name in FILTERS}
    differing = request.GET.get(_ONLY) == _DIFFERING
    runs = replace(run_filter.read(request.GET), agents=())  # the agent is a filter of answers
    matrix = capability_matrix(chosen, runs, MOST_BUILDS)
    query = "&".join(text for text in (urlencode(chosen, doseq=True), run_filter.write(runs)) if text)
    context = {
        "matrix": matrix,
        "groups": _groups(matrix, differing),
        "chooser": chooser(matrix, chosen, differing),
        "sentence": sentence(matrix),
        "is_filtered": any(chosen.values()) or bool(runs),
        "run_filter": run_filter.form(runs, run_filter_choices(_ANSWER, WORKLOAD), leave_out=[run_filter.AGENT]),
        "json": _address("api:capabilities", query),
    }
    fragment = wants_fragment(request)
    response = render(request, f"capabilities/{'_capabilities' if fragment else 'index'}.html", context)
    response["HX-Push-Url"] = _address("capabilities", query, f"{_ONLY}={_DIFFERING}" if differing else "")
    return response


def _chosen(request: HttpRequest, name: str) -> list[str]:
    """The values of a filter, each once."""
    return list(dict.fromkeys(value for value in request.GET.getlist(name) if value))


def _address(page: str, *queries: str) -> str:
    query = "&".join(part for part in queries if part)
    return f"{reverse(page)}?{query}" if query else reverse(page)


def sentence(matrix: CapabilityMatrix) -> tuple[str, str]:
    """(how many capabilities hold on all builds shown, which do not or are not known)."""
    lines, builds = matrix.lines, matrix.builds
    partial = [localized(line.title) for line in lines if not line.alike]
    count = gettext("{n} of {all} capabilities hold on this build.")
    if len(builds) > 1:
        count = gettext("{n} of {all} capabilities hold on all {builds} builds.")
    named = joined(partial[:_MOST_NAMED])
    if len(partial) > _MOST_NAMED:
        named = gettext("{names} and {n} more").format(names=named, n=len(partial) - _MOST_NAMED)
    return count.format(n=len(lines) - len(partial), all=len(lines), builds=len(builds)), named


def _groups(matrix: CapabilityMatrix, differing: bool) -> list[tuple[str, list[Line]]]:
    """(name, lines) of each group with a line to show."""
    shown = []
    for name, lines in matrix.groups:
        listed = [line for line in lines if not (differing and line.alike)]
        if listed:
            shown.append((name, listed))
    return shown


def _named(values: Sequence[str]) -> list[str]:
    """Published figures have no agent."""
    return list(filter(None, values))


def chooser(matrix: CapabilityMatrix, chosen: Mapping[str, Sequence[str]], differing: bool) -> Chooser | None:
    """The filters with something to choose; of the capabilities, which are many, only those chosen. None where there
    is nothing to choose."""
    filters = []
    for name in FILTERS:
        values = chosen[name] if name == "capability" else _named(matrix.choices[name])
        unknown = [value for value in chosen[name] if value not in values]
        if len(values) > 1 or chosen[name]:
            chips = [Chip(value, value in chosen[name]) for value in (*values, *unknown)]
            filters.append(Chips(name, title(name), tuple(chips)))
    if not (filters or differing or _groups(matrix, differing)):
        return None
    only = Chip(_DIFFERING, differing, text=gettext("only what is not “yes” everywhere"))
    return Chooser(chips=(*filters, Chips(_ONLY, gettext("show"), (only,))))
