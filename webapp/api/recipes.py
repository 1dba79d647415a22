"""Endpoints of ready plans: published experiments that need a size and agents."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain import plan as plans
from results.domain.plan.recipes import Recipe
from results.queries.agents.agents import list_agents
from webapp.api.common import Endpoint, Links, SinglePage, fields_of
from webapp.api.schema import refuses
from webapp.api.values import ValueSerializer
from webapp.forms.recipes import complete_options, find_recipe, recipes
from workers.registry import kinds


class ReadyPlanSerializer(ValueSerializer):
    """A published experiment.

    - `size`: the parameter that scales it, from `laptop` to `report`
    - `compare`: what of the agent is compared: installations, builds (an installation with an access method), or one
      installation
    """

    value = Recipe
    leave_out: tuple[str, ...] = ("mapping",)
    links = Links(
        self=("api:ready-plan", "slug"), plan=("api:ready-plan-plan", "slug"), page=("plans:ready-detail", "slug")
    )


class ReadyPlanDetailSerializer(ReadyPlanSerializer):
    """A published experiment with its plan, which names no agents and no installations yet."""

    leave_out = ()


class ChoiceSerializer(serializers.Serializer[Any]):
    """What a ready plan leaves to choose."""

    size = serializers.FloatField(required=False, help_text="The size; a laptop's without it.")
    agents = serializers.DictField(child=serializers.CharField(), help_text="Role → agent.")
    installations = serializers.ListField(
        required=False, child=serializers.CharField(), help_text="Names or versions. All of the agent's without them."
    )
    builds = serializers.ListField(
        required=False,
        child=serializers.CharField(),
        help_text="'installation access-method', where it compares builds.",
    )
    name = serializers.CharField(required=False, max_length=120, help_text="The plan's name.")
    whole = serializers.BooleanField(
        required=False, help_text="All its levels, replicates and seconds; without it the short form, for a first look."
    )


class ReadyPlanPlanSerializer(serializers.Serializer[Any]):
    """The plan as the keys of its TOML, and as TOML: to store, preview or run."""

    plan = serializers.DictField(read_only=True)
    toml = serializers.CharField(read_only=True)


class ReadyPlans(Endpoint):
    queryset = models.Plan.objects.none()
    serializer_class = ReadyPlanSerializer
    pagination_class = SinglePage

    @extend_schema(summary="All ready plans", operation_id="ready_plans_list")
    def list(self, request: Request) -> Response:
        return self.respond_all(recipes().plans)

    @extend_schema(summary="One ready plan", operation_id="ready_plans_retrieve", responses=ReadyPlanDetailSerializer)
    def retrieve(self, request: Request, slug: str) -> Response:
        data = ReadyPlanDetailSerializer(find_recipe(slug), context=self.get_serializer_context()).data
        return Response(data)

    @refuses(422)
    @extend_schema(
        summary="The plan that a choice makes of it",
        operation_id="ready_plans_plan",
        request=ChoiceSerializer,
        responses=ReadyPlanPlanSerializer,
    )
    def plan(self, request: Request, slug: str) -> Response:
        """Return the plan; nothing is stored."""
        recipe, body = find_recipe(slug), ChoiceSerializer(data=fields_of(request))
        body.is_valid(raise_exception=True)
        choice = body.validated_data
        choice["size"] = _without_fraction(choice.get("size"))
        mapping = recipe.plan(**complete_options(recipe, choice, list_agents()))
        chosen_plan = plans.from_mapping(mapping, kinds())
        return Response({"plan": chosen_plan.to_mapping(), "toml": plans.to_toml(chosen_plan)})


def _without_fraction(size: float | None) -> float | int | None:
    """Return a whole number as int: JSON does not distinguish 10 from 10.0."""
    return int(size) if size is not None and size.is_integer() else size
