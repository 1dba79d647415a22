"""Endpoint of the kinds: the workloads, topologies and collectors that this Teiten has, with their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.kinds.conditions import CONDITIONS
from results.domain.kinds.parameters import Parameter
from results.domain.kinds.programs import Program
from results.domain.kinds.specs import CollectorSpec, RoleKind, TopologySpec, WorkloadSpec
from results.domain.plan import Kinds
from results.queries.shared.metrics import MetricRow
from webapp.api.common import Endpoint
from webapp.api.values import ValueSerializer, serializer_of
from workers.registry import kinds


class ProgramNames(serializers.DictField):
    """Role → names of the programs that its agents must have; `*`: every role that the kind works on."""

    child = serializers.ListField(child=serializers.CharField())

    def to_representation(self, value: Mapping[str, Sequence[Program]]) -> dict[str, list[str]]:
        return {role: [program.name for program in programs] for role, programs in value.items()}


class WorkloadSerializer(ValueSerializer):
    """A workload.

    - `headline`: the metric that is shown first
    - `minimum_version`: as PostgreSQL's server_version_num
    - `commands`: parameter → values with which a plan needs the scope `admin`
    - `programs`: role → programs that its agents must have
    """

    value = WorkloadSpec
    metrics = serializer_of(MetricRow)(many=True, read_only=True)
    programs = ProgramNames(read_only=True)


class TopologySerializer(ValueSerializer):
    """A topology.

    - `roles`: the roles that agents can play
    - `poolers`, `services`: the roles that are no PostgreSQL servers
    - `extensions`: extensions that the primary's installation must have
    """

    value = TopologySpec
    roles = serializers.ListField(source="role_names", child=serializers.CharField(), read_only=True)
    poolers = serializers.SerializerMethodField()
    services = serializers.SerializerMethodField()
    programs = ProgramNames(read_only=True)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_poolers(self, spec: TopologySpec) -> tuple[str, ...]:
        return spec.of_kind(RoleKind.POOLER, spec.role_names)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_services(self, spec: TopologySpec) -> tuple[str, ...]:
        return spec.of_kind(RoleKind.SERVICE, spec.role_names)


class CollectorSerializer(ValueSerializer):
    """A collector.

    - `on`: the nodes that it watches
    - `needs`: programs that must be on the nodes' agents
    - `programs`: the same by role
    """

    value = CollectorSpec
    metrics = serializer_of(MetricRow)(many=True, read_only=True)
    programs = ProgramNames(read_only=True)
    needs = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_needs(self, spec: CollectorSpec) -> list[str]:
        return [program.name for programs in spec.programs.values() for program in programs]


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
