"""Endpoints of plans."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models, stored_plans
from results.domain import plan as plans
from results.domain.errors import Problem
from results.domain.kinds.conditions import CONDITIONS, TEXTS
from results.domain.kinds.parameters import Kind, Parameter
from results.domain.plan import Plan, PlanDraft
from results.domain.secrets import masked_toml
from results.plan_check import complete_plan
from results.preview import Preview, preview
from results.queries.runs.plan_loss import PlanLoss, plan_loss
from results.queries.runs.plans import PlanDetail, PlanRow, list_plans, plan_detail
from results.schedules import Schedule, plan_schedule
from webapp.access import actor, is_admin, person, refused_code, require_plan_deletion, require_standing
from webapp.api.common import Endpoint, IgnoreAcceptNegotiation, Links, fields_of, pages_by
from webapp.api.flags import FlagFilter
from webapp.api.schema import refuses
from webapp.api.values import Field, ValueSerializer
from webapp.problems import in_json, missing_is_404
from workers.registry import kinds
from workers.tasks import retry_after_discovery


class PlanSerializer(ValueSerializer):
    """A plan in a list.

    - `schedule`: minute hour day month weekday (UTC), empty when there is none
    - `make_up`: whether one run makes up for those that the schedule missed while nothing of Teiten ran
    """

    value = PlanRow
    links = Links(self=("api:plan", "id"), toml=("api:plan-toml", "id"), page=("plans:detail", "id"))


class PlanDetailSerializer(ValueSerializer):
    """A plan with its TOML, its latest runs, and what its schedule missed lately.

    - `missed`: times without a run: `cause` is down (nothing looked at the schedule), going (the run before had not
      ended) or refused (the plan could not be run), `why` says it in words
    """

    value = PlanDetail
    leave_out = ("row", "runs")
    plan = PlanSerializer(source="row", read_only=True)
    run_ids = serializers.SerializerMethodField()

    def get_run_ids(self, detail: PlanDetail) -> list[int]:
        return [run.id for run in detail.runs]


class PlanLossSerializer(ValueSerializer):
    """What goes with a plan when it is deleted.

    - `has_runs`: whether runs were made of it; then it cannot be deleted, only archived
    - `keeps_it`: why it cannot be deleted; "" where it can
    """

    value = PlanLoss
    leave_out = ("created_by_id",)
    keeps_it = serializers.CharField(read_only=True)


class PlanChangeSerializer(serializers.Serializer[Any]):
    archived = serializers.BooleanField(help_text="Off the list, which ends its schedule, or on it.")


class PreviewSerializer(ValueSerializer):
    """What a plan would do.

    - `seconds_from`: what the estimate of `seconds` rests on
    - `refused`: code of the plan that an agent takes from administrators only: `field`, `what`, `todo` of each. Who
      asks may store the plan, but not run it; empty for an administrator
    """

    value = Preview
    configurations = serializers.SerializerMethodField()
    refused = serializers.SerializerMethodField()

    def get_configurations(self, preview: Preview) -> list[dict[str, Any]]:
        return [{"name": name, "levels": dict(levels)} for name, levels in preview.configurations]

    def get_refused(self, preview: Preview) -> list[dict[str, str]]:
        refused: list[Problem] = self.context["refused"]
        return [in_json(problem.as_dict()) for problem in refused]


class PlanFieldsSerializer(serializers.Serializer[Any]):
    """A plan: either `toml`, or the keys of the TOML as JSON. An error names every problem of the plan."""

    toml = serializers.CharField(required=False, help_text="The plan as TOML; then no other key.")
    agents = serializers.DictField(required=False, child=serializers.CharField(), help_text="Role → agent.")
    parameters = serializers.DictField(required=False, help_text="Parameters of the workload.")
    topology_parameters = serializers.DictField(required=False, help_text="Parameters of the topology.")
    settings = serializers.DictField(required=False, help_text="PostgreSQL settings.")
    factors = serializers.DictField(
        required=False,
        child=serializers.ListField(child=serializers.JSONField()),
        help_text="Target → levels: values, or {label, values: {target: value}}.",
    )
    exclude = serializers.ListField(
        required=False, child=serializers.DictField(), help_text="Combinations left out: factor → level."
    )
    initdb = serializers.ListField(required=False, child=serializers.CharField())
    collectors = serializers.ListField(required=False, child=serializers.CharField())
    required_collectors = serializers.ListField(required=False, child=serializers.CharField())

    def get_fields(self) -> dict[str, Field]:
        return {parameter.name: _field(parameter) for parameter in (*TEXTS, *CONDITIONS)} | super().get_fields()


_FIELD_TYPES: dict[Kind, type[Field]] = {
    Kind.INTEGER: serializers.IntegerField,
    Kind.NUMBER: serializers.FloatField,
    Kind.BOOLEAN: serializers.BooleanField,
}


def _field(parameter: Parameter) -> Field:
    field_type = _FIELD_TYPES.get(parameter.kind, serializers.CharField)
    return field_type(required=False, help_text=parameter.help)


def plan_from(fields: dict[str, Any]) -> Plan:
    """Return the plan of a request's fields. Raises PlanError with every problem."""
    return complete_plan(_draft_from(fields), kinds())


def _draft_from(fields: dict[str, Any]) -> PlanDraft:
    if "toml" not in fields:
        return plans.draft_of(fields, kinds())
    if set(fields) != {"toml"} or not isinstance(fields["toml"], str):
        raise exceptions.ValidationError({"toml": "Send the TOML as text, and no other key beside it."})
    return plans.draft_of_toml(fields["toml"], kinds())


def stored_plan(plan_id: int) -> models.Plan:
    with missing_is_404():
        return models.Plan.objects.get(pk=plan_id)


class PlanFilter(filters.FilterSet):
    workload = filters.CharFilter(label="Name of a workload.")
    archived = FlagFilter(label="Archived plans, or those in use.")


class Plans(Endpoint):
    queryset = models.Plan.objects.all()
    serializer_class = PlanSerializer
    pagination_class = pages_by("name")
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = PlanFilter

    @extend_schema(summary="All plans")
    def list(self, request: Request) -> Response:
        return self.page_of(lambda ids: list_plans(archived=True, ids=ids))

    @extend_schema(summary="One plan", responses=PlanDetailSerializer)
    def retrieve(self, request: Request, pk: int) -> Response:
        return self._respond_with(pk)

    @refuses(422)
    @extend_schema(summary="Store a plan", request=PlanFieldsSerializer, responses={201: PlanDetailSerializer})
    def create(self, request: Request) -> Response:
        plan = plan_from(fields_of(request))
        require_standing(request, plan)
        stored = stored_plans.save_plan(plan, kinds(), user=person(request), actor=actor(request))
        return self._respond_with(stored.pk, 201)

    @refuses(409, 422)
    @extend_schema(summary="Replace a plan", request=PlanFieldsSerializer, responses=PlanDetailSerializer)
    def update(self, request: Request, pk: int) -> Response:
        stored = stored_plan(pk)
        plan = plan_from(fields_of(request))
        require_standing(request, plan)
        stored_plans.save_plan(
            plan, kinds(), user=person(request), actor=actor(request), stored=stored, as_admin=is_admin(request)
        )
        return self._respond_with(pk)

    @refuses(409)
    @extend_schema(
        summary="Archive a plan, or put it back", request=PlanChangeSerializer, responses=PlanDetailSerializer
    )
    def partial_update(self, request: Request, pk: int) -> Response:
        stored, body = stored_plan(pk), PlanChangeSerializer(data=fields_of(request))
        body.is_valid(raise_exception=True)
        change = stored_plans.archive_plan if body.validated_data["archived"] else stored_plans.restore_plan
        change(stored, actor(request))
        return self._respond_with(pk)

    @refuses(409)
    @extend_schema(summary="Delete a plan for good", responses={200: PlanLossSerializer})
    def destroy(self, request: Request, pk: int) -> Response:
        stored = stored_plan(pk)
        require_plan_deletion(request, [stored.created_by_id])
        loss = plan_loss(pk)
        stored_plans.delete_plan(stored, actor(request))
        return Response(PlanLossSerializer(loss).data)

    @extend_schema(summary="What goes when a plan is deleted", responses=PlanLossSerializer)
    def loss(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            return Response(PlanLossSerializer(plan_loss(pk)).data)

    @refuses(422)
    @extend_schema(summary="What a plan would do", request=PlanFieldsSerializer, responses=PreviewSerializer)
    def preview(self, request: Request) -> Response:
        plan = plan_from(fields_of(request))
        result = retry_after_discovery(lambda: preview(plan, kinds()))
        context = {"refused": refused_code(request, plan, kinds())}
        return Response(PreviewSerializer(result, context=context).data)

    def _respond_with(self, pk: int, status: int = 200) -> Response:
        with missing_is_404():
            detail = plan_detail(pk)
        data = PlanDetailSerializer(detail, context=self.get_serializer_context()).data
        return Response(data, status=status)


class ScheduleSerializer(ValueSerializer):
    """What a cron line does with a plan. All times are UTC.

    - `line`: minute hour day month weekday; empty, as all others are then, where the plan has no schedule
    - `next_runs`: the next times that it names
    - `shortest_s`: seconds between the two of its times that are closest to each other
    - `seconds`: estimated duration of a run, `seconds_from` what it rests on, or why it is null
    - `too_frequent`: whether a run takes longer than `shortest_s`
    """

    value = Schedule


class PlanSchedule(Endpoint):
    queryset = models.Plan.objects.all()
    serializer_class = ScheduleSerializer

    @refuses(404, 422)
    @extend_schema(
        summary="The schedule of a plan, or what a cron line would do",
        operation_id="plans_schedule",
        parameters=[
            OpenApiParameter("line", OpenApiTypes.STR, description="A cron line (UTC), instead of the plan's own.")
        ],
    )
    def retrieve(self, request: Request, pk: int) -> Response:
        stored_plan(pk)
        schedule = plan_schedule(pk, kinds(), timezone.now(), request.query_params.get("line"))
        return Response(ScheduleSerializer(schedule).data)


class PlanToml(Endpoint):
    queryset = models.Plan.objects.all()
    content_negotiation_class = IgnoreAcceptNegotiation

    @extend_schema(
        summary="A plan as TOML",
        operation_id="plans_toml",
        responses={(200, "application/toml"): OpenApiTypes.STR},
    )
    def retrieve(self, request: Request, pk: int) -> HttpResponse:
        disposition = f'attachment; filename="plan-{pk}.toml"'
        return HttpResponse(
            masked_toml(stored_plan(pk).toml),
            content_type="application/toml; charset=utf-8",
            headers={"Content-Disposition": disposition},
        )
