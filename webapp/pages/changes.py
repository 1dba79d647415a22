"""What changed between the sides of a comparison: every metric, only what is decided."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from results.domain.statistics.verdict import Kind
from results.queries.changes.changes import Change, Changes, what_changed
from results.queries.shared.selection import Selection
from webapp import urlstate
from webapp.changes import words
from webapp.changes.state import GROUP, of_metric, place_of, query_of
from webapp.chooser import MOST_CHIPS, Chip, Chips, Chooser, by_title, text_choice, title
from webapp.pages.common import wants_fragment
from webapp.problems import missing_is_404

UNFOLDED = 20  # changes of a heading; the rest is folded below them


@require_safe
@missing_is_404()
def index(request: HttpRequest) -> HttpResponse:
    """?<the comparison's query>&group=latency."""
    selection = urlstate.read(request.META["QUERY_STRING"], (GROUP,))
    group = request.GET.get(GROUP, "")
    query = query_of(selection, group)
    context: dict[str, Any] = {"selection": selection, "query": query}
    if selection.runs:
        context |= _context(what_changed(selection, group), selection, group)
    response = render(request, "changes/_changes.html" if wants_fragment(request) else "changes/index.html", context)
    response["HX-Push-Url"] = f"{reverse('changes')}?{query}"
    return response


def _context(changes: Changes, selection: Selection, group: str) -> dict[str, Any]:
    sections = []
    for heading, several in groupby(changes.changes, words.heading):
        rows = [_row(change, changes) for change in several]
        sections.append((heading, len(rows), rows[:UNFOLDED], rows[UNFOLDED:]))
    return {
        "changes": changes,
        "sections": sections,
        "sentence": words.sentence(changes),
        "chooser": _chooser(changes, selection, group),
        "comparison": urlstate.write(replace(selection, x=changes.selection.x, series=changes.selection.series)),
        "series": title(changes.selection.series or ""),
        "group": group,
        "undecided": Kind.TOO_FEW in changes.kinds,
    }


def _row(change: Change, changes: Changes) -> dict[str, Any]:
    return {
        "change": change,
        "name": words.name(change),
        "place": words.place(change, changes),
        "sides": words.sides(change, changes),
        "comparison": of_metric(change, changes),
        "cell": place_of(change, changes),
    }


def _chooser(changes: Changes, selection: Selection, group: str) -> Chooser:
    """What can be filtered by: levels of the cells' dimensions and groups of metrics. The rest of the query goes
    along."""
    filtered = {facet.name for facet in changes.facets}
    chips = []
    for facet in by_title(changes.facets):
        chosen = selection.filters.get(facet.name, ())
        levels = tuple(Chip(text, text in chosen, trials, empty=not trials) for text, trials in facet.values)
        many = len(levels) > MOST_CHIPS
        chips.append(Chips(urlstate.FILTER + facet.name, title(facet.name), levels, many=many))
    groups = ("", *dict.fromkeys((*changes.groups, *([group] if group else []))))
    return Chooser(
        chips=tuple(chips),
        choices=(text_choice(GROUP, gettext("metrics"), groups, group, gettext("all")),),
        hidden=_kept(selection, filtered),
    )


def _kept(selection: Selection, filtered: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return the fields of the rest.

    filtered: dimensions that have chips."""
    fields = [("run", ",".join(map(str, selection.runs)))]
    if selection.series is not None:
        fields.append(("series", selection.series or urlstate.NO_SERIES))
    fields += [(name, text) for name in ("x", "panel", "baseline") if (text := getattr(selection, name))]
    for name, levels in selection.filters.items():
        fields += [(urlstate.FILTER + name, level) for level in levels if name not in filtered]
    return tuple(fields)
