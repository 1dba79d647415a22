"""Endpoint of the kinds: the workloads, topologies and collectors that this Teiten has, with their parameters."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.conditions import CONDITIONS
from results.parameters import Parameter
from results.plan import Kinds
from results.queries.metrics import MetricRow
from results.specs import CollectorSpec, TopologySpec, WorkloadSpec
from webapp.api.common import Endpoint
from webapp.api.values import ValueSerializer, serializer_of
from workers.registry import kinds


class WorkloadSerializer(ValueSerializer):
    """A workload.

    - `headline`: the metric that is shown first
    - `minimum_version`: as PostgreSQL's server_version_num
    - `commands`: parameter → values with which a plan needs the scope `admin`
    """

    value = WorkloadSpec
    metrics = serializer_of(MetricRow)(many=True, read_only=True)


class TopologySerializer(ValueSerializer):
    """A topology.

    - `roles`: the roles that agents can play
    - `extensions`: extensions that the primary's installation must have
    """

    value = TopologySpec


class CollectorSerializer(ValueSerializer):
    """A collector.

    - `on`: the nodes that it watches
    - `needs`: programs that must be on the agent
    """

    value = CollectorSpec
    metrics = serializer_of(MetricRow)(many=True, read_only=True)


class KindsSerializer(serializers.Serializer[Any]):
    """All kinds. A factor may vary any of their parameters.

    - `conditions`: the keys that every plan has, whatever its workload
    """

    conditions = serializer_of(Parameter)(many=True, read_only=True)
    workloads = WorkloadSerializer(many=True, read_only=True)
    topologies = TopologySerializer(many=True, read_only=True)
    collectors = CollectorSerializer(many=True, read_only=True)


class AllKinds(Endpoint):
    queryset = models.Plan.objects.none()
    serializer_class = KindsSerializer

    @extend_schema(summary="Workloads, topologies and collectors with their parameters", operation_id="kinds")
    def retrieve(self, request: Request) -> Response:
        return self.respond(_contents(kinds()))


def _contents(registered: Kinds) -> dict[str, Any]:
    return {
        "conditions": CONDITIONS,
        "workloads": list(registered.workloads.values()),
        "topologies": list(registered.topologies.values()),
        "collectors": list(registered.collectors.values()),
    }
