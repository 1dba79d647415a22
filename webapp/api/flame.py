"""Two sampled profiles, function by function: the same question as on the page."""

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
from results.queries.stacks import Comparison, Profile, compared
from webapp.api.common import Endpoint, Links, address
from webapp.api.values import ValueSerializer
from webapp.problems import missing_is_404


class ProfileSerializer(ValueSerializer):
    """Stacks of a trial, or of a configuration's counted trials together. `how`: event and callers; `:u` means user
    mode only."""

    value = Profile
    leave_out = ("stacks",)
    samples = serializers.IntegerField(read_only=True)
    links = Links(run=("api:run", "run_id"))


class ChangeSerializer(ValueSerializer):
    """One function's shares in percent of the samples: own (in itself), total (with what it calls). points: b minus a;
    margin: half the width of its 95 % interval, as if samples were independent."""

    value = Change


class DifferenceSerializer(ValueSerializer):
    """A dimension that is not the same; null where a side lacks it."""

    value = KeyDifference


class FlameSerializer(ValueSerializer):
    """Every function of either, the greatest change of its own share first. `alike` false: not sampled in one way, and
    not comparable."""

    value = Comparison
    a = ProfileSerializer(read_only=True)
    b = ProfileSerializer(read_only=True)
    differs = DifferenceSerializer(many=True, read_only=True)
    changes = ChangeSerializer(many=True, read_only=True)
    alike = serializers.BooleanField(read_only=True)
    links = serializers.SerializerMethodField()

    def get_links(self, found: Comparison) -> dict[str, str]:
        query = f"a={found.a.key}&b={found.b.key}"
        return {name: f"{address(self.context['request'], route)}?{query}" for name, route in _ROUTES.items()}


_ROUTES = {"self": "api:flame", "page": "flame"}


def _side(name: str) -> OpenApiParameter:
    text = "A trial by its id ('57'), or a configuration: 'c' and its id ('c12')."
    return OpenApiParameter(name, OpenApiTypes.STR, description=text, required=True)


class Flames(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = FlameSerializer

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
            return self.shown(compared(**sides))
