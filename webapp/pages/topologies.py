"""Topologies: totals, means of a node, and efficiency against one node."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.domain.messages import Message, localized
from results.queries.presets.publications import list_publications
from results.queries.presets.topologies import TopologyTable, topologies
from results.queries.runs.runs import list_runs
from results.queries.shared.run_filter import run_filter_choices
from webapp import run_filter, urlstate
from webapp.charts.presets import topology_figure
from webapp.charts.style import key
from webapp.chooser import title
from webapp.language import in_english, joined
from webapp.links import trial_urls
from webapp.pages.common import wants_fragment
from workers.registry import kinds


def _for_reader(table: TopologyTable) -> TopologyTable:
    """Return the table with topologies by their titles; in English by their keys, as plans have them."""
    if in_english():
        return table
    lines = tuple(replace(line, kind=_titled(line.kind)) for line in table.lines)
    return replace(table, lines=lines, one=_titled(table.one))


def _titled(text: str) -> str:
    """Return a text about topologies with the title of each in place of its key."""
    if isinstance(text, Message) and text.values:
        values = {name: _titled(value) if isinstance(value, str) else value for name, value in text.values.items()}
        return Message(text.id, text.plural, text.number, values, text.context)
    topology = kinds().topologies.get(text)
    return topology.title if topology else text


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    chosen = run_filter.read(request.GET)
    all_topologies = topologies(chosen=chosen)
    runs = {run.id: run for run in list_runs(ids=[table.run_id for table in all_topologies.tables], limit=None)}
    remarks = {publication.run_id: publication.remarks for publication in list_publications()}
    address = trial_urls()
    sections = [
        {
            "id": f"run-{table.run_id}",
            "table": table,
            "run": runs[table.run_id],
            "remarks": remarks.get(table.run_id, ()),
            "figure": topology_figure(table, address),
            "key": key([localized(kind) for kind in dict.fromkeys(line.kind for line in table.lines)]),
            "query": urlstate.write(table.selection),
            "mixed": joined(map(title, table.mixed)),
        }
        for table in map(_for_reader, all_topologies.tables)
    ]
    query = run_filter.write(chosen)
    context = {
        "topologies": all_topologies,
        "sections": sections,
        "run_filter": run_filter.form(chosen, run_filter_choices()),
        "counts": all_topologies,
        "json": reverse("api:topologies") + (f"?{query}" if query else ""),
    }
    template = "topologies/_topologies.html" if wants_fragment(request) else "topologies/index.html"
    response = render(request, template, context)
    response["HX-Push-Url"] = reverse("topologies") + (f"?{query}" if query else "")
    return response
