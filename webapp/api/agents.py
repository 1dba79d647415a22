"""Endpoints of agents."""

from __future__ import annotations

from typing import Any

from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import agents as operations
from results import models
from results.agent_removal import archive_agent, delete_agent, restore_agent
from results.models.audit import Scope
from results.queries.agents.agents import AgentDetail, AgentRow, agent_detail, agent_row, list_agents
from results.queries.agents.loss import AgentLoss, agent_loss
from webapp.access import actor
from webapp.api.common import Endpoint, Links, fields_of, pages_by
from webapp.api.flags import FlagFilter
from webapp.api.schema import refuses
from webapp.api.values import ValueSerializer
from webapp.problems import missing_is_404
from workers.tasks import contact_now


class AgentSerializer(ValueSerializer):
    """A machine that Teiten reaches over SSH.

    - `key_path`: path of the private key on the worker; the key itself is nowhere here
    - `allows_code`: whether operators may bring code: scripts, queries, commands, settings that name a program
    - `archived`: off the lists, not enabled and not contacted
    - `busy`: the trial that holds the agent's lease
    - `host_factors`: what plans may change on the machine
    - `not_back`: what is changed now and not reverted yet
    """

    value = AgentRow
    links = Links(self=("api:agent", "name"), page=("agents:detail", "name"))


class AgentDetailSerializer(ValueSerializer):
    """An agent with its latest facts, what changed in them since those before, and its latest trials."""

    value = AgentDetail
    leave_out = ("row",)
    agent = AgentSerializer(source="row", read_only=True)


class AgentFieldsSerializer(serializers.ModelSerializer[models.Agent]):
    """What can be set of an agent.

    - `jump`: name of the agent through which this one is reached
    - `places`: storage places, name → directory
    - `allows_code`: whether operators may bring code; then whoever may run plans can run any program there
    """

    jump = serializers.SlugRelatedField(
        slug_field="name", queryset=models.Agent.objects.all(), allow_null=True, required=False
    )

    class Meta:
        model = models.Agent
        fields: tuple[str, ...] = operations.FIELDS


class AgentChangeSerializer(AgentFieldsSerializer):
    """What can be changed of an agent; `archived` alone, without other fields."""

    archived = serializers.BooleanField(required=False, help_text="Off the lists and not contacted, or on them.")

    class Meta(AgentFieldsSerializer.Meta):
        fields = (*operations.FIELDS, "archived")


class AgentLossSerializer(ValueSerializer):
    """What hangs on an agent that is to be archived or deleted.

    - `folders`: on the machine, in which things stay
    - `behind`: agents that are reached through it
    - `keeps_on_lists`, `keeps_it`: why it cannot be archived, or deleted; "" where it can
    """

    value = AgentLoss
    keeps_on_lists = serializers.CharField(read_only=True)
    keeps_it = serializers.CharField(read_only=True)


class AgentFilter(filters.FilterSet):
    archived = FlagFilter(label="Agents that are archived; without it, those that are not.")

    def filter_queryset(self, queryset: Any) -> Any:
        chosen = super().filter_queryset(queryset)
        return chosen.filter(archived=False) if self.form.cleaned_data["archived"] is None else chosen


class FingerprintSerializer(serializers.Serializer[Any]):
    """The SHA-256 fingerprint that a person has compared; it must be the agent's `offered_fingerprint`."""

    fingerprint = serializers.CharField()


class Agents(Endpoint):
    write_scope = Scope.ADMIN
    queryset = models.Agent.objects.all()
    serializer_class = AgentSerializer
    pagination_class = pages_by("name")
    lookup_field = "name"
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = AgentFilter

    @extend_schema(summary="All agents with what each is busy with")
    def list(self, request: Request) -> Response:
        return self.page_of(list_agents)

    @extend_schema(summary="One agent with its facts", responses=AgentDetailSerializer)
    def retrieve(self, request: Request, name: str) -> Response:
        with missing_is_404():
            detail = agent_detail(name)
        return Response(AgentDetailSerializer(detail, context=self.get_serializer_context()).data)

    @extend_schema(summary="Add an agent", request=AgentFieldsSerializer, responses={201: AgentSerializer})
    def create(self, request: Request) -> Response:
        agent = operations.create_agent(_validated_fields(request), actor(request))
        return self.respond(agent_row(agent.name), 201)

    @refuses(409)
    @extend_schema(summary="Change an agent, archive it, or put it back", request=AgentChangeSerializer)
    def partial_update(self, request: Request, name: str) -> Response:
        agent = _agent(name)
        if "archived" in fields_of(request):
            change = archive_agent if _archived(request, agent) else restore_agent
            change(name, actor(request))
            return self.respond(agent_row(name))
        operations.update_agent(agent, _validated_fields(request, agent), actor(request))
        return self.respond(agent_row(agent.name))

    @refuses(409)
    @extend_schema(summary="Delete an agent for good", responses={200: AgentLossSerializer})
    def destroy(self, request: Request, name: str) -> Response:
        with missing_is_404():
            return Response(AgentLossSerializer(delete_agent(name, actor(request))).data)

    @extend_schema(summary="What hangs on an agent", responses=AgentLossSerializer)
    def loss(self, request: Request, name: str) -> Response:
        with missing_is_404():
            return Response(AgentLossSerializer(agent_loss(name)).data)

    @refuses(409)
    @extend_schema(summary="Accept the host key offered", request=FingerprintSerializer)
    def accept_host_key(self, request: Request, name: str) -> Response:
        agent = _agent(name)
        body = FingerprintSerializer(data=fields_of(request))
        body.is_valid(raise_exception=True)
        operations.accept_host_key(agent, body.validated_data["fingerprint"], actor(request))
        return self.respond(agent_row(name))

    @refuses(409, 502)
    @extend_schema(summary="Reach the agent now", request=None)
    def contact(self, request: Request, name: str) -> Response:
        contact_now(_agent(name).pk)
        return self.respond(agent_row(name))


def _agent(name: str) -> models.Agent:
    with missing_is_404():
        return models.Agent.objects.get(name=name)


def _archived(request: Request, agent: models.Agent) -> bool:
    fields = fields_of(request)
    if set(fields) != {"archived"}:
        raise exceptions.ValidationError({"archived": "Send no other field beside it."})
    body = AgentChangeSerializer(agent, data=fields, partial=True)
    body.is_valid(raise_exception=True)
    return bool(body.validated_data["archived"])


def _validated_fields(request: Request, agent: models.Agent | None = None) -> dict[str, Any]:
    """Return the fields of the request, converted to their types; the model itself checks their values."""
    fields = fields_of(request)
    if unknown := sorted(set(fields) - set(operations.FIELDS)):
        raise exceptions.ValidationError(dict.fromkeys(unknown, "There is no such field."))
    body = AgentFieldsSerializer(agent, data=fields, partial=agent is not None)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)
