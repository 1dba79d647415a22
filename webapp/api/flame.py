"""Endpoint of flame graphs: two sampled CPU profiles, function by function, as on the page."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.environment.layers import KeyDifference
from results.domain.measurement.call_stacks import Change
from results.queries.why.stacks import Comparison, Profile, compared
from webapp.api.common import Endpoint, Links, address
from webapp.api.schema import refuses
from webapp.api.values import ValueSerializer
from webapp.problems import missing_is_404


class ProfileSerializer(ValueSerializer):
    """Sampled stacks of a trial, or of all trials of a configuration that count.

    - `how`: the sampled event and how callers were recorded; `:u` means user mode only
    """

    value = Profile
    leave_out = ("stacks",)
    samples = serializers.IntegerField(read_only=True)
    links = Links(run=("api:run", "run_id"))


class ChangeSerializer(ValueSerializer):
    """One function's shares of the samples, in percent.

    - `own`: in the function itself; `total`: with the functions that it calls
    - `points`: percentage points, b minus a
    - `margin`: half the width of the 95 % interval, as if samples were independent
    """

    value = Change


class DifferenceSerializer(ValueSerializer):
    """A dimension in which the two differ; null where a side lacks it."""

    value = KeyDifference


class FlameSerializer(ValueSerializer):
    """Every function of either profile, the greatest change of its own share first.

    - `alike`: whether both were sampled in the same way; else they are not comparable
    """

    value = Comparison
    a = ProfileSerializer(read_only=True)
    b = ProfileSerializer(read_only=True)
    differs = DifferenceSerializer(many=True, read_only=True)
    changes = ChangeSerializer(many=True, read_only=True)
    alike = serializers.BooleanField(read_only=True)
    links = serializers.SerializerMethodField()

    def get_links(self, comparison: Comparison) -> dict[str, str]:
        query = f"a={comparison.a.key}&b={comparison.b.key}"
        return {name: f"{address(self.context['request'], route)}?{query}" for name, route in _ROUTES.items()}


_ROUTES = {"self": "api:flame", "page": "flame"}


def _side(name: str) -> OpenApiParameter:
    text = "A trial by its id ('57'), or a configuration: 'c' and its id ('c12')."
    return OpenApiParameter(name, OpenApiTypes.STR, description=text, required=True)


class Flames(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = FlameSerializer

    @refuses(404)
    @extend_schema(
        summary="Where the processor's time goes, of two function by function",
        operation_id="flame",
        parameters=[_side("a"), _side("b")],
    )
    def retrieve(self, request: Request) -> Response:
        sides: dict[str, Any] = {name: request.query_params.get(name, "") for name in ("a", "b")}
        if missing := {name: ["Name a trial or a configuration."] for name, key in sides.items() if not key}:
            raise exceptions.ValidationError(missing)
        with missing_is_404():
            return self.respond(compared(**sides))
