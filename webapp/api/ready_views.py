"""The ready views and the published tables: what their pages show."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.queries.access_methods import AccessMethods, AccessMethodTable, access_methods
from results.queries.publications import PublicationRow, list_publications
from results.queries.topologies import Topologies, TopologyTable, topologies
from results.queries.versions import VersionCell, VersionRow, Versions, versions
from webapp import urlstate
from webapp.api.common import Endpoint, Links, SinglePage, address
from webapp.api.values import ValueSerializer


class ComparedSerializer(ValueSerializer):
    """Shows where a figure is compared instead of its selection."""

    leave_out = ("selection",)
    comparison = serializers.SerializerMethodField()

    def get_comparison(self, value: Any) -> str:
        return f"{address(self.context['request'], 'api:comparison')}?{urlstate.write(value.selection)}"


class VersionCellSerializer(ComparedSerializer):
    """`speed`: against the row's base, above 1 is better. `kinds`: class of verdict → cells. `comparison`: of which."""

    value = VersionCell


class VersionRowSerializer(ComparedSerializer):
    """`cells`: one a version, null where there is nothing."""

    value = VersionRow
    cells = VersionCellSerializer(many=True, read_only=True)


class VersionsSerializer(ValueSerializer):
    """`means`: geometric mean of each version's rows, null where they refer to different versions."""

    value = Versions
    rows = VersionRowSerializer(many=True, read_only=True)


class AccessMethodTableSerializer(ComparedSerializer):
    """`lines`: [name, cells], a cell a column, null where there is nothing; `ratio` to the heap of the same build."""

    value = AccessMethodTable
    columns = serializers.ListField(child=serializers.ListField(child=serializers.CharField()), read_only=True)
    lines = serializers.SerializerMethodField()

    def get_lines(self, table: AccessMethodTable) -> list[dict[str, Any]]:
        return [
            {"name": name, "cells": [None if cell is None else vars(cell) for cell in cells]}
            for name, cells in table.lines
        ]


class AccessMethodsSerializer(ValueSerializer):
    """A table a metric."""

    value = AccessMethods
    tables = AccessMethodTableSerializer(many=True, read_only=True)


class TopologyTableSerializer(ComparedSerializer):
    """A run: totals, means of a node, and efficiency against one node."""

    value = TopologyTable


class TopologiesSerializer(ValueSerializer):
    """A table a run that has more than single servers."""

    value = Topologies
    tables = TopologyTableSerializer(many=True, read_only=True)


class PublicationSerializer(ValueSerializer):
    """A published table. `derived`: what its report computed, and what is recomputed. `remarks`: what is in doubt."""

    value = PublicationRow
    links = Links(run=("api:run", "run_id"), page=("published:detail", "slug"), file=("published:file", "slug"))


class VersionsView(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = VersionsSerializer

    @extend_schema(
        summary="Versions of PostgreSQL side by side, as ratios",
        operation_id="versions",
        parameters=[
            OpenApiParameter("workload", OpenApiTypes.STR, description="A row a configuration of this workload."),
            OpenApiParameter("baseline", OpenApiTypes.STR, description="A major version; without it each row's own."),
            OpenApiParameter("version", OpenApiTypes.STR, many=True, description="Only these major versions."),
        ],
    )
    def retrieve(self, request: Request) -> Response:
        asked = request.query_params
        return self.respond(versions(asked.get("workload", ""), asked.get("baseline", ""), asked.getlist("version")))


class AccessMethodsView(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = AccessMethodsSerializer

    @extend_schema(summary="Table access methods, each against the heap of its build", operation_id="access_methods")
    def retrieve(self, request: Request) -> Response:
        return self.respond(access_methods())


class TopologiesView(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = TopologiesSerializer

    @extend_schema(summary="Topologies by kind and number of nodes", operation_id="topologies")
    def retrieve(self, request: Request) -> Response:
        return self.respond(topologies())


class Publications(Endpoint):
    queryset = models.Publication.objects.all()
    serializer_class = PublicationSerializer
    pagination_class = SinglePage

    @extend_schema(summary="Published tables, whose figures were not measured here")
    def list(self, request: Request) -> Response:
        return self.respond_all(list_publications())
