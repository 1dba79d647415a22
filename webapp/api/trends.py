"""Endpoint of trends, with the query parameters of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from math import isfinite
from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.queries.trends.families import FamilyFacet, followed_runs
from results.queries.trends.trends import Shift, Trend, TrendLine, TrendPoint, TrendValue
from results.queries.trends.trends_state import trends_state
from webapp.api.common import RUN_FILTER, Endpoint, Links, OrjsonRenderer, address, address_form
from webapp.api.values import ValueSerializer
from webapp.computed import families_of, trend_of
from webapp.conditional import conditional_response
from webapp.trends import state as trendstate

LINKS = {
    name: (route, "trial_id")
    for name, route in (("trial", "api:trial"), ("bundle", "api:bundle"), ("page", "trials:detail"))
}


class TrendValueSerializer(ValueSerializer):
    """One trial's value."""

    value = TrendValue
    links = Links(**LINKS)


class TrendPointSerializer(ValueSerializer):
    """The median of all trials of a line at one level of x, in the unit of `metric`."""

    value = TrendPoint
    values = TrendValueSerializer(many=True, read_only=True)

    def to_representation(self, point: TrendPoint) -> dict[str, Any]:
        """Return what the fields would, in a tenth of the time: a trend has thousands of values."""
        links = self._links
        return {
            "level": point.level,
            "at": _moment(point.at),
            "versions": list(point.versions),
            "runs": list(point.runs),
            "median": _finite(point.median),
            "values": [
                {
                    "trial_id": one.trial_id,
                    "attempt_id": one.attempt_id,
                    "run_id": one.run_id,
                    "block": one.block,
                    "at": _moment(one.at),
                    "value": _finite(one.value),
                    "links": {name: of_trial(one.trial_id) for name, of_trial in links.items()},
                }
                for one in point.values
            ],
        }

    @cached_property
    def _links(self) -> dict[str, Callable[[int], str]]:
        request = self.context["request"]
        return {name: address_form(request, route, 1).format for name, (route, _) in LINKS.items()}


def _moment(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


class ShiftSerializer(ValueSerializer):
    """A change of level between two neighbouring points.

    - `last`, `first`: indexes in `points`, from 0, of the points before and after it
    """

    value = Shift
    leave_out = ("line",)


class TrendLineSerializer(ValueSerializer):
    """The points of one configuration family."""

    value = TrendLine
    points = TrendPointSerializer(many=True, read_only=True)
    shifts = ShiftSerializer(many=True, read_only=True)


class FamilyFacetSerializer(ValueSerializer):
    """A dimension that families differ in, with the number of done trials of each value."""

    value = FamilyFacet
    leave_out = ("factor",)
    values = serializers.SerializerMethodField()

    def get_values(self, facet: FamilyFacet) -> list[dict[str, Any]]:
        return [{"value": text, "trials": trials} for text, trials in facet.values]


class TrendSerializer(ValueSerializer):
    """Lines of points in the order of x, with changes of level and changes of the environment between neighbours.

    - `held`: dimensions that are held at one value unless a filter says otherwise
    - `runs`: how many of the kept runs these are, the newest, or the newest before run `before`
    - `earlier`: the value of `before` that asks for those before them; null where there are none
    """

    value = Trend
    leave_out = ("first_series",)
    lines = TrendLineSerializer(many=True, read_only=True)
    facets = FamilyFacetSerializer(many=True, read_only=True)
    links = serializers.SerializerMethodField()

    def get_links(self, trend: Trend) -> dict[str, str]:
        query = trendstate.write(trend.selection)
        request = self.context["request"]
        names = {"self": "api:trends", "page": "trends"}
        links = {name: f"{address(request, route)}?{query}" for name, route in names.items()}
        earlier = trendstate.write(replace(trend.selection, before=trend.earlier))
        return links | ({"earlier": f"{address(request, 'api:trends')}?{earlier}"} if trend.earlier else {})


def _text(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, description=description)


class Trends(Endpoint):
    queryset = models.Run.objects.all()
    renderer_classes = [OrjsonRenderer]
    serializer_class = TrendSerializer

    @extend_schema(
        summary="One metric of the same configurations over dates, versions or commits",
        operation_id="trends",
        parameters=[
            _text("plan", "Name of a plan: all its runs. Without plan and workload: of everything."),
            _text("workload", "Name of a workload: all its runs."),
            _text("x", "date, version or commit; without it date."),
            _text("series", "A dimension, or several with commas; 'none' for a single line."),
            _text("metric", "Name of a metric; without it the first of the newest run."),
            _text("node", "Role; without it the metric's first, which the answer names."),
            _text("label", "Which of the metric's values; without it the total, or the first where there is none."),
            *(parameter for parameter in RUN_FILTER if parameter.name in trendstate.RUNS),
            OpenApiParameter(
                trendstate.BEFORE,
                OpenApiTypes.INT,
                description="Only runs with a smaller number, such as `earlier` of an answer.",
            ),
            _text("filter.<dimension>", "Values let through, with commas between them."),
        ],
    )
    def retrieve(self, request: Request) -> HttpResponseBase:
        selection = trendstate.read(request.META.get("QUERY_STRING", ""))
        runs = followed_runs(selection)
        state = trends_state(runs)

        def made() -> Response:
            return self.respond(trend_of(selection, runs, families_of(runs, state), state))

        return conditional_response(request, state, made)
