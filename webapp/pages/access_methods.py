"""Table access methods on one page: what each costs and saves against the heap, and what it can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.domain.messages import localized
from results.queries.agents.capabilities import HeldCapabilities, checked_attempts, held_capabilities
from results.queries.presets.access_method_summary import Summary, SummaryRow, summary
from results.queries.presets.access_methods import WORKLOAD, AccessMethodTable, access_methods
from results.queries.shared.run_filter import run_filter_choices
from webapp import run_filter, urlstate
from webapp.charts.presets import access_methods_figure
from webapp.charts.style import key
from webapp.language import joined
from webapp.links import trial_urls
from webapp.pages.common import wants_fragment


@dataclass(frozen=True)
class Section:
    """Tables under one heading.

    tables: (table, its comparison's query, builds without a heap)."""

    title: str
    tables: tuple[tuple[AccessMethodTable, str, tuple[str, ...]], ...]

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(localized(table.metric.label) for table, _, _ in self.tables))


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    runs = run_filter.read(request.GET)
    methods = access_methods(runs)
    checked = checked_attempts()
    grouped = groupby(methods.tables, key=lambda table: table.group)
    query = run_filter.write(runs)
    suffix = f"?{query}" if query else ""
    context = _summary(summary(methods), held_capabilities(checked)) | {
        "sections": [_section(title, list(tables)) for title, tables in grouped],
        "checked_builds": len({attempt.build for attempt in checked}),
        "run_filter": run_filter.form(runs, run_filter_choices(workload=WORKLOAD)),
        "counts": methods,
        "json": reverse("api:access-methods") + suffix,
    }
    template = "access_methods/_access_methods.html" if wants_fragment(request) else "access_methods/index.html"
    response = render(request, template, context)
    response["HX-Push-Url"] = reverse("access-methods") + suffix
    return response


def _summary(found: Summary, held: Mapping[tuple[str, str], HeldCapabilities]) -> dict[str, Any]:
    """Return what the first table and its figure show.

    held: by access method and installation."""
    columns = list(dict.fromkeys((row.access_method, row.installation) for row in found.rows))
    has_ratios = any(cell.compared for row in found.rows for cell in row.cells if cell)
    others = [column for column in columns if column[0] != "heap"]
    return {
        "questions": [(name, table, urlstate.write(table.selection)) for name, table in found.questions],
        "rows": [(row, _capabilities(row, held.get((row.access_method, row.installation)))) for row in found.rows],
        "several_runs": len({row.run_ids for row in found.rows}) > 1,
        "figure": access_methods_figure(found, others, trial_urls()) if has_ratios else None,
        "key": key([joined([method, build]) for method, build in others]),
    }


def _capabilities(row: SummaryRow, held: HeldCapabilities | None) -> tuple[HeldCapabilities, str] | None:
    """Return how many capabilities hold, and the address of the answers; None where none was checked."""
    if held is None:
        return None
    of_build = {"installation": row.installation, "access_method": row.access_method, "agent": held.agent}
    query = urlencode({name: level for name, level in of_build.items() if level})
    return held, f"{reverse('capabilities')}?{query}"


def _section(title: str, tables: Sequence[AccessMethodTable]) -> Section:
    shown = []
    for table in tables:
        builds = dict.fromkeys(build for _, build in table.columns)
        heapless = tuple(build for build in builds if ("heap", build) not in table.columns)
        shown.append((table, urlstate.write(table.selection), heapless))
    return Section(title, tuple(shown))
