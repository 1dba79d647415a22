"""Versions of PostgreSQL as a heat table of ratios."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from results.queries.presets.versions import Versions, versions
from results.queries.shared.run_filter import run_filter_choices
from webapp import run_filter
from webapp.charts.presets import versions_figure
from webapp.charts.style import key
from webapp.chooser import Chip, Chips, Chooser, text_choice
from webapp.pages.common import wants_fragment
from webapp.versions.copies import FORMATS, copied
from webapp.versions.grid import carried, grid, metric_chips


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    names = ("workload", "baseline", "metric")
    chosen = {name: request.GET.get(name, "") for name in names}
    only = [text for text in request.GET.getlist("version") if text]
    runs = run_filter.read(request.GET)
    table = versions(chosen["workload"], chosen["baseline"], only, chosen["metric"], runs)
    pairs = [*chosen.items(), *(("version", text) for text in only), *run_filter.pairs(runs)]
    query = urlencode([(name, text) for name, text in pairs if text])
    address = reverse("versions") + (f"?{query}" if query else "")
    context = _context(table) | {"chooser": chooser(table, only), "query": query}
    context["copies"] = _copies(table, request.build_absolute_uri(address))
    context["run_filter"] = run_filter.form(runs, run_filter_choices())
    context |= {"counts": table, "carried": carried(pairs)}
    template = "versions/_versions.html" if wants_fragment(request) else "versions/index.html"
    response = render(request, template, context)
    response["HX-Push-Url"] = address
    return response


def chooser(versions: Versions, only: Collection[str]) -> Chooser | None:
    """None where there is no version to choose.

    only: the versions chosen; empty for all of them."""
    if not versions.known:
        return None
    chips = [Chip(text, text in only, empty=text not in versions.beside) for text in versions.known]
    return Chooser(
        chips=(
            metric_chips(versions.metric),
            Chips("version", gettext("versions"), tuple(chips), note="" if only else gettext("all")),
        ),
        choices=(
            text_choice(
                "workload",
                gettext("workload"),
                ("", *versions.workloads),
                versions.workload,
                gettext("all, one row each"),
            ),
            text_choice(
                "baseline", gettext("baseline"), ("", *versions.known), versions.baseline, gettext("the row's own")
            ),
        ),
    )


def _context(versions: Versions) -> dict[str, Any]:
    context = grid(versions)
    urls = [[url for _shown, url, _why in cells] for _row, cells in context["rows"]]
    marks = zip(key(versions.versions), versions.versions, strict=True)
    return context | {
        "key": [mark for mark, version in marks if _is_drawn(version, versions)],
        "figure": versions_figure(versions, urls) if versions.rows else None,
    }


def _copies(versions: Versions, address: str) -> list[tuple[str, str, str]]:
    """Return (name, label, text) of each form in which the table can be copied."""
    if not versions.rows:
        return []
    table = copied(versions, address, timezone.now())
    return [(name, one.label, one.written(table)) for name, one in FORMATS.items()]


def _is_drawn(version: str, versions: Versions) -> bool:
    """Return whether the figure has a dot of the version."""
    index = versions.versions.index(version)
    cells = [(row.base, row.cells[index]) for row in versions.rows]
    return any(cell and cell.ratio and version != base for base, cell in cells)
