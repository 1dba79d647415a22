"""Table access methods on one page: sizes, latencies, maintenance, and what each can do."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.queries.access_methods import access_methods
from results.queries.capabilities import capability_matrix
from webapp import urlstate
from webapp.charts.ready import values_figure
from webapp.charts.style import key
from webapp.pages.common import trial_url


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    found, matrix = access_methods(), capability_matrix()
    columns = list(dict.fromkeys(column for table in found.tables for column in table.columns))
    colours = dict(zip(columns, key([f"{method}, {build}" for method, build in columns]), strict=True))
    sections = []
    for place, table in enumerate(found.tables):
        ids = [pk for _, cells in table.lines for cell in cells if cell is not None for pk in cell.trial_ids]
        builds = dict.fromkeys(build for _, build in table.columns)
        section = {
            "id": f"values-{place}",
            "table": table,
            "figure": values_figure(table, columns, {pk: trial_url(pk) for pk in ids}),
            "key": [colours[column] for column in table.columns],
            "query": urlstate.write(table.selection),
            "heapless": [build for build in builds if ("heap", build) not in table.columns],
        }
        sections.append(section)
    context = {"found": found, "sections": sections, "matrix": matrix, "json": reverse("api:access-methods")}
    return render(request, "access_methods/index.html", context)
