"""The comparison: the same question, in the same words of the URL, as on the page."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.queries.comparison import Comparison, Point, Replicate, Selection, compare
from results.queries.facets import Facet
from webapp import urlstate
from webapp.api.common import Endpoint, Links, address
from webapp.api.values import ValueSerializer


class SelectionSerializer(ValueSerializer):
    """What is compared, with the default choices filled in."""

    value = Selection
    filters = serializers.DictField(child=serializers.ListField(child=serializers.CharField()), read_only=True)


class ReplicateSerializer(ValueSerializer):
    """One trial's value."""

    value = Replicate
    links = Links(
        trial=("api:trial", "trial_id"), bundle=("api:bundle", "trial_id"), page=("trials:detail", "trial_id")
    )


class PointSerializer(ValueSerializer):
    """One cell, in the unit of `metric`. `ratio`: its median to the baseline's at the same x. `configurations` > 1:
    something else varies within the cell."""

    value = Point
    unit = serializers.SerializerMethodField()
    values = ReplicateSerializer(many=True, read_only=True)

    def get_unit(self, point: Point) -> str:
        return str(self.context["unit"])


class FacetSerializer(ValueSerializer):
    """A dimension of the runs, with the number of trials of each value."""

    value = Facet
    values = serializers.SerializerMethodField()

    def get_values(self, facet: Facet) -> list[dict[str, Any]]:
        return [{"value": text, "trials": trials} for text, trials in facet.values]


class ComparisonSerializer(ValueSerializer):
    """A median and every replicate for each cell (x, series). `mixed`: dimensions that vary within a cell.
    `excluded`: trials that are in no cell."""

    value = Comparison
    leave_out = ("first",)
    selection = SelectionSerializer(read_only=True)
    points = PointSerializer(many=True, read_only=True)
    facets = FacetSerializer(many=True, read_only=True)
    links = serializers.SerializerMethodField()

    def get_links(self, found: Comparison) -> dict[str, str]:
        query = urlstate.write(found.selection)
        request = self.context["request"]
        names = {"self": "api:comparison", "page": "comparison"}
        return {name: f"{address(request, route)}?{query}" for name, route in names.items()}


def _text(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, description=description)


class Comparisons(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = ComparisonSerializer

    @extend_schema(
        summary="One metric over one dimension, a series for each value of another",
        operation_id="comparison",
        parameters=[
            _text("run", "Ids of runs, with commas between them."),
            _text("x", "A dimension; without it the factor with the most numbers."),
            _text("series", "A dimension; 'none' for a single line; without it the installation, where it varies."),
            _text("metric", "Name of a metric; without it the first of the runs."),
            _text("node", "Role; without it the metric's first."),
            _text("label", "Which of the metric's values; without it the total."),
            _text("baseline", "The series that ratios refer to; without it the first."),
            _text("filter.<dimension>", "Values let through, with commas between them."),
        ],
    )
    def retrieve(self, request: Request) -> Response:
        found = compare(urlstate.read(request.META.get("QUERY_STRING", "")))
        context = {**self.get_serializer_context(), "unit": found.metric.unit}
        return Response(ComparisonSerializer(found, context=context).data)
