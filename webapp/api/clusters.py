"""Endpoints of the clusters on an agent: the scope `read` sees them, `admin` removes them."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.models.audit import Scope
from results.queries.agents.agents import AgentRow, agent_row
from results.queries.agents.clusters import AgentClusters, agent_clusters
from webapp.access import actor
from webapp.api.common import Endpoint, fields_of
from webapp.api.schema import refuses
from webapp.api.values import serializer_of
from webapp.problems import missing_is_404
from workers.registry import kinds
from workers.tasks import remove_clusters


class DirectoriesSerializer(serializers.Serializer[Any]):
    """Clusters to remove, by their directories."""

    directories = serializers.ListField(child=serializers.CharField(), allow_empty=False)


class Clusters(Endpoint):
    write_scope = Scope.ADMIN
    queryset = models.Cluster.objects.all()
    serializer_class = serializer_of(AgentClusters)

    @extend_schema(summary="The clusters on an agent, and when each is removed")
    def retrieve(self, request: Request, name: str) -> Response:
        return self.respond(agent_clusters(_agent(name), kinds(), timezone.now()))

    @refuses(409, 502)
    @extend_schema(summary="Remove clusters of an agent now", request=DirectoriesSerializer)
    def remove(self, request: Request, name: str) -> Response:
        agent = _agent(name)
        body = DirectoriesSerializer(data=fields_of(request))
        body.is_valid(raise_exception=True)
        remove_clusters(agent.id, body.validated_data["directories"], actor(request))
        return self.respond(agent_clusters(_agent(name), kinds(), timezone.now()))


def _agent(name: str) -> AgentRow:
    with missing_is_404():
        return agent_row(name)
