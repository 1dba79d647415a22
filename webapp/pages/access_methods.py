"""Table access methods on one page: sizes, latencies, maintenance, and what each can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.queries.agents.capabilities import capability_matrix
from results.queries.presets.access_methods import AccessMethodTable, access_methods
from results.queries.presets.sources import trial_ids
from webapp import urlstate
from webapp.charts.presets import values_figure
from webapp.charts.style import key
from webapp.links import trial_url

Column = tuple[str, str]  # access method, installation


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    methods, matrix = access_methods(), capability_matrix()
    columns = list(dict.fromkeys(column for table in methods.tables for column in table.columns))
    colours = dict(zip(columns, key([f"{method}, {build}" for method, build in columns]), strict=True))
    sections = [_section(number, table, columns, colours) for number, table in enumerate(methods.tables)]
    context = {"sections": sections, "matrix": matrix, "json": reverse("api:access-methods")}
    return render(request, "access_methods/index.html", context)


def _section(
    number: int, table: AccessMethodTable, columns: Sequence[Column], colours: Mapping[Column, object]
) -> dict[str, Any]:
    """Return one section of the page.

    columns: of all tables, each with a colour."""
    cells = [cell for _, row in table.lines for cell in row if cell is not None]
    urls = {trial_id: trial_url(trial_id) for trial_id in trial_ids(cells)}
    builds = dict.fromkeys(build for _, build in table.columns)
    return {
        "id": f"values-{number}",
        "table": table,
        "figure": values_figure(table, columns, urls),
        "key": [colours[column] for column in table.columns],
        "query": urlstate.write(table.selection),
        "heapless": [build for build in builds if ("heap", build) not in table.columns],
    }
