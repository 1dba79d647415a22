"""Agents."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import agents as verbs
from results import models
from results.models.audit import Scope
from results.queries.agents import AgentDetail, AgentRow, agent_detail, agent_row, list_agents
from webapp.access import actor
from webapp.api.common import Endpoint, Links, fields_of, pages_by
from webapp.api.values import ValueSerializer
from webapp.problems import missing_is_404
from workers.tasks import contact_now


class AgentSerializer(ValueSerializer):
    """A machine that Teiten reaches over SSH. `key_path` refers to the key; the key itself is nowhere here.
    `busy`: the trial that holds its lease. `host_factors`: what plans may change there, and `not_back`: what is changed
    now."""

    value = AgentRow
    links = Links(self=("api:agent", "name"), page=("agents:detail", "name"))


class AgentDetailSerializer(ValueSerializer):
    """An agent with its latest facts, what changed in them since those before, and its latest trials."""

    value = AgentDetail
    leave_out = ("row",)
    agent = AgentSerializer(source="row", read_only=True)


class AgentFieldsSerializer(serializers.ModelSerializer[models.Agent]):
    """What can be set of an agent. `jump`: name of the agent through which this one is reached. `places`: storage
    places, name → folder."""

    jump = serializers.SlugRelatedField(
        slug_field="name", queryset=models.Agent.objects.all(), allow_null=True, required=False
    )

    class Meta:
        model = models.Agent
        fields = verbs.FIELDS


class FingerprintSerializer(serializers.Serializer[Any]):
    """The SHA-256 fingerprint that a person has compared: must be the `offered_fingerprint`."""

    fingerprint = serializers.CharField()


class Agents(Endpoint):
    write_scope = Scope.ADMIN
    queryset = models.Agent.objects.all()
    serializer_class = AgentSerializer
    pagination_class = pages_by("name")
    lookup_field = "name"

    @extend_schema(summary="All agents with what each is busy with")
    def list(self, request: Request) -> Response:
        return self.page_of(list_agents)

    @extend_schema(summary="One agent with its facts", responses=AgentDetailSerializer)
    def retrieve(self, request: Request, name: str) -> Response:
        with missing_is_404():
            found = agent_detail(name)
        return Response(AgentDetailSerializer(found, context=self.get_serializer_context()).data)

    @extend_schema(summary="Add an agent", request=AgentFieldsSerializer, responses={201: AgentSerializer})
    def create(self, request: Request) -> Response:
        made = verbs.create_agent(_checked(request), actor(request))
        return self.shown(agent_row(made.name), 201)

    @extend_schema(summary="Change an agent", request=AgentFieldsSerializer)
    def partial_update(self, request: Request, name: str) -> Response:
        agent = _agent(name)
        verbs.update_agent(agent, _checked(request, agent), actor(request))
        return self.shown(agent_row(agent.name))

    @extend_schema(summary="Accept the host key offered", request=FingerprintSerializer)
    def accept_host_key(self, request: Request, name: str) -> Response:
        agent = _agent(name)
        body = FingerprintSerializer(data=fields_of(request))
        body.is_valid(raise_exception=True)
        verbs.accept_host_key(agent, body.validated_data["fingerprint"], actor(request))
        return self.shown(agent_row(name))

    @extend_schema(summary="Reach the agent now", request=None)
    def contact(self, request: Request, name: str) -> Response:
        contact_now(_agent(name).pk)
        return self.shown(agent_row(name))


def _agent(name: str) -> models.Agent:
    with missing_is_404():
        return models.Agent.objects.get(name=name)


def _checked(request: Request, agent: models.Agent | None = None) -> dict[str, Any]:
    """The fields sent, of their types; what they may say is checked by the model itself."""
    sent = fields_of(request)
    if unknown := sorted(set(sent) - set(verbs.FIELDS)):
        raise exceptions.ValidationError(dict.fromkeys(unknown, "There is no such field."))
    body = AgentFieldsSerializer(agent, data=sent, partial=agent is not None)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)
