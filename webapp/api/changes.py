"""Endpoint of what changed between the sides of a comparison."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.queries.changes.changes import Change, Changes, what_changed
from webapp import urlstate
from webapp.api.common import Endpoint, address
from webapp.api.comparison import QUESTION, FacetSerializer, SelectionSerializer
from webapp.api.values import ValueSerializer
from webapp.changes.state import GROUP, of_metric, place_of, query_of
from webapp.problems import missing_is_404


class DecidedChangeSerializer(ValueSerializer):
    """One metric in one cell, of which a difference is decided.

    - `group`: first part of the metric's name
    - `part`: which of the metric's values, '' for the whole
    - `x`, `series`, `panel`: the cell; `base`: the series that it is compared with
    - `base_value`, `value`: medians, in `unit`
    - `verdict`: of the comparison of that metric
    - `with_mean_latency`: throughput of clients in a closed loop, from which their mean latency follows
    """

    value = Change
    links = serializers.SerializerMethodField()

    def get_links(self, change: Change) -> dict[str, str]:
        request, changes = self.context["request"], self.context["changes"]
        place = place_of(change, changes)
        return {
            "comparison": f"{address(request, 'api:comparison')}?{of_metric(change, changes)}",
            "why": f"{address(request, 'api:why')}?{place}",
            "page": f"{address(request, 'why')}?{place}",
        }


class ChangesSerializer(ValueSerializer):
    """What changed, regressions first, then improvements, then what has no better direction; of each the greatest
    effect first, by the absolute logarithm of the ratio.

    - `hidden`: changes beyond those listed
    - `groups`: group of metrics → how many changes it has
    - `kinds`: class of verdict → cells of metrics
    - `basis`: what the verdicts rest on; `is_weak`: whether that is little
    """

    value = Changes
    selection = SelectionSerializer(read_only=True)
    changes = DecidedChangeSerializer(many=True, read_only=True)
    facets = FacetSerializer(many=True, read_only=True)
    links = serializers.SerializerMethodField()

    def get_links(self, _: Changes) -> dict[str, str]:
        request, query = self.context["request"], self.context["query"]
        return {name: f"{address(request, route)}?{query}" for name, route in _ROUTES.items()}


_ROUTES = {"self": "api:changes", "page": "changes"}


class WhatChanged(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = ChangesSerializer

    @extend_schema(
        summary="What changed between the sides of a comparison, over all metrics",
        operation_id="changes",
        parameters=[
            *QUESTION,
            OpenApiParameter(
                GROUP,
                OpenApiTypes.STR,
                description="Only metrics of this group: tps, latency, wal and so on, the first part of their names.",
            ),
        ],
    )
    def retrieve(self, request: Request) -> Response:
        """Return every metric of every cell of which a difference is decided. The cells are the configurations that two
        series have in common: `x`, `panel` and `metric` say nothing."""
        with missing_is_404():
            selection = urlstate.read(request.META.get("QUERY_STRING", ""), (GROUP,))
            group = request.query_params.get(GROUP, "")
            changes = what_changed(selection, group)
        context: dict[str, Any] = {
            **self.get_serializer_context(),
            "changes": changes,
            "query": query_of(selection, group),
        }
        return Response(ChangesSerializer(changes, context=context).data)
