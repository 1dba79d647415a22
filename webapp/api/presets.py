"""Endpoints of the ready views (versions, access methods, topologies) and of the published tables."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.queries.comparison.cells import Point
from results.queries.presets.access_methods import AccessMethods, AccessMethodTable, access_methods
from results.queries.presets.publications import PublicationRow, list_publications
from results.queries.presets.sources import trial_ids
from results.queries.presets.topologies import Topologies, TopologyTable, topologies
from results.queries.presets.version_rows import VersionCell, VersionRow
from results.queries.presets.versions import METRICS, Versions, versions
from webapp import run_filter, urlstate
from webapp.api.common import RUN_FILTER, Endpoint, IgnoreAcceptNegotiation, Links, address, pages_by
from webapp.api.values import ValueSerializer
from webapp.versions.copies import FORMATS, copied


class ComparedSerializer(ValueSerializer):
    """Base of figures: shows the address of the figure's comparison instead of its selection."""

    leave_out: tuple[str, ...] = ("selection",)
    comparison = serializers.SerializerMethodField()

    def get_comparison(self, value: Any) -> str:
        return f"{address(self.context['request'], 'api:comparison')}?{urlstate.write(value.selection)}"


class VersionCellSerializer(ComparedSerializer):
    """One version's performance in a row.

    - `ratio`, `low`, `high`: to the row's base, with the 95 % interval; above 1 is better, but of a chosen metric it is
      that of its values
    - `speed`: the same, turned so that above 1 is better
    - `at`: the configuration with the greatest decided difference
    - `kinds`: kind of verdict → number of cells
    - `comparison`: address of the comparison that shows these cells
    """

    value = VersionCell


class VersionRowSerializer(ComparedSerializer):
    """One configuration.

    - `cells`: one a version, null where the version has no trials
    - `measured`: whether the workload has the chosen metric
    """

    value = VersionRow
    cells = VersionCellSerializer(many=True, read_only=True)


class VersionsSerializer(ValueSerializer):
    """Versions of PostgreSQL side by side.

    - `base`: version that most rows refer to
    - `means`: geometric mean of each version's rows that refer to `base`, null where it has none
    - `intervals`: the same with its 95 % interval
    """

    value = Versions
    rows = VersionRowSerializer(many=True, read_only=True)


class AccessMethodTableSerializer(ComparedSerializer):
    """One metric of several access methods.

    - `run_ids`: the runs compared
    - `lines`: name and cells, a cell a column, null where nothing was measured; `ratio` of a cell is to the heap of the
      same build
    """

    value = AccessMethodTable
    leave_out = ("selection", "wholes")
    run_ids = serializers.ListField(child=serializers.IntegerField(), read_only=True)
    columns = serializers.ListField(child=serializers.ListField(child=serializers.CharField()), read_only=True)
    lines = serializers.SerializerMethodField()

    def get_lines(self, table: AccessMethodTable) -> list[dict[str, Any]]:
        lines = []
        for name, cells in table.lines:
            lines.append({"name": name, "cells": [None if cell is None else _cell(cell) for cell in cells]})
        return lines


def _cell(point: Point) -> dict[str, Any]:
    verdict = point.verdict
    return {
        "value": point.value,
        "ratio": point.ratio if verdict else None,
        "kind": verdict.kind if verdict else "",
        "n": point.n,
        "trial_ids": trial_ids([point]),
    }


class AccessMethodsSerializer(ValueSerializer):
    """Access methods compared, a table a metric."""

    value = AccessMethods
    tables = AccessMethodTableSerializer(many=True, read_only=True)


class TopologyTableSerializer(ComparedSerializer):
    """The topologies of one run: totals, means of a node, and efficiency against one node."""

    value = TopologyTable


class TopologiesSerializer(ValueSerializer):
    """Topologies compared, a table for each run that has more than single servers."""

    value = Topologies
    tables = TopologyTableSerializer(many=True, read_only=True)


class PublicationSerializer(ValueSerializer):
    """A published table.

    - `derived`: what its report computed from its figures, beside what Teiten computes from them
    - `remarks`: what is in doubt
    """

    value = PublicationRow
    links = Links(run=("api:run", "run_id"), page=("published:detail", "slug"), file=("published:file", "slug"))


VERSIONS_QUESTION = [
    OpenApiParameter("workload", OpenApiTypes.STR, description="A row a configuration of this workload."),
    OpenApiParameter("baseline", OpenApiTypes.STR, description="A major version; without it each row's own."),
    OpenApiParameter("version", OpenApiTypes.STR, many=True, description="Only these major versions."),
    OpenApiParameter(
        "metric", OpenApiTypes.STR, enum=list(METRICS), description="Without it each workload's own first metric."
    ),
    *RUN_FILTER,
]


def _versions(request: Request) -> Versions:
    query = request.query_params
    workload, baseline, metric = (query.get(name, "") for name in ("workload", "baseline", "metric"))
    return versions(workload, baseline, query.getlist("version"), metric, run_filter.read(query))


class VersionsView(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = VersionsSerializer

    @extend_schema(
        summary="Versions of PostgreSQL side by side, as ratios",
        operation_id="versions",
        parameters=VERSIONS_QUESTION,
    )
    def retrieve(self, request: Request) -> Response:
        return self.respond(_versions(request))


class VersionsCopy(Endpoint):
    queryset = models.Run.objects.all()
    content_negotiation_class = IgnoreAcceptNegotiation

    @extend_schema(
        summary="The table of versions as text, Markdown or HTML",
        operation_id="versions_copy",
        parameters=[
            OpenApiParameter("form", OpenApiTypes.STR, OpenApiParameter.PATH, enum=list(FORMATS)),
            *VERSIONS_QUESTION,
        ],
        responses={(200, form.content_type): OpenApiTypes.STR for form in FORMATS.values()},
    )
    def retrieve(self, request: Request, form: str) -> HttpResponse:
        if form not in FORMATS:
            raise Http404(f"There are {', '.join(f'versions.{name}' for name in FORMATS)}.")
        query = request.META.get("QUERY_STRING", "")
        page = address(request, "versions") + (f"?{query}" if query else "")
        text = FORMATS[form].written(copied(_versions(request), page, timezone.now()))
        return HttpResponse(
            text,
            content_type=f"{FORMATS[form].content_type}; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="versions.{form}"'},
        )


class AccessMethodsView(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = AccessMethodsSerializer

    @extend_schema(
        summary="Table access methods, each against the heap of its build",
        operation_id="access_methods",
        parameters=RUN_FILTER,
    )
    def retrieve(self, request: Request) -> Response:
        return self.respond(access_methods(run_filter.read(request.query_params)))


class TopologiesView(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = TopologiesSerializer

    @extend_schema(summary="Topologies by kind and number of nodes", operation_id="topologies", parameters=RUN_FILTER)
    def retrieve(self, request: Request) -> Response:
        return self.respond(topologies(chosen=run_filter.read(request.query_params)))


class Publications(Endpoint):
    queryset = models.Publication.objects.filter(program="")
    serializer_class = PublicationSerializer
    pagination_class = pages_by("year", 100)
    row_key = "slug"

    @extend_schema(summary="Published tables, whose figures were not measured here")
    def list(self, request: Request) -> Response:
        return self.page_of(lambda slugs: list_publications(slugs=slugs))
