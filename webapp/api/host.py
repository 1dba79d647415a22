"""Endpoints of an agent's host factors: the scope `read` sees them, `admin` defines them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import hostfactors, models
from results.domain.kinds.host_factors import HostFactor, factor_of, read
from results.models.audit import Scope
from webapp.access import actor
from webapp.api.common import Endpoint, SinglePage, fields_of
from webapp.api.schema import refuses
from webapp.api.values import serializer_of
from webapp.problems import missing_is_404


class HostLevelFieldsSerializer(serializers.Serializer[Any]):
    """One level of a host factor.

    - `apply`, `check`, `revert`: shell scripts
    - `expected`: what `check` must print; without it, `check` must end with status 0
    """

    apply = serializers.CharField()
    check = serializers.CharField()
    expected = serializers.CharField(required=False)
    revert = serializers.CharField(required=False)


class HostFactorFieldsSerializer(serializers.Serializer[Any]):
    """A host factor, with the keys of its TOML (docs/host-factors.md)."""

    help = serializers.CharField(required=False)
    show = serializers.CharField()
    revert = serializers.CharField(required=False)
    roles = serializers.ListField(child=serializers.CharField(), required=False)
    needs_stopped_servers = serializers.BooleanField(required=False)
    keeps_data_apart = serializers.BooleanField(required=False)
    levels = serializers.DictField(child=HostLevelFieldsSerializer())


class HostTomlSerializer(serializers.Serializer[Any]):
    """Host factors as TOML, a table for each."""

    toml = serializers.CharField()


class HostFactors(Endpoint):
    write_scope = Scope.ADMIN
    queryset = models.HostFactor.objects.all()
    serializer_class = serializer_of(HostFactor)
    pagination_class = SinglePage

    @extend_schema(summary="An agent's host factors")
    def list(self, request: Request, name: str) -> Response:
        return self.respond_all(_factors(name))

    @refuses(422)
    @extend_schema(
        summary="Define the host factors of a TOML text",
        request=HostTomlSerializer,
        responses={201: serializer_of(HostFactor)(many=True)},
    )
    def create(self, request: Request, name: str) -> Response:
        agent = _agent(name)
        body = HostTomlSerializer(data=fields_of(request))
        body.is_valid(raise_exception=True)
        hostfactors.define(agent, read(body.validated_data["toml"]), actor(request))
        return Response(self.get_serializer(_factors(name), many=True).data, status=201)

    @extend_schema(summary="One host factor")
    def retrieve(self, request: Request, name: str, factor: str) -> Response:
        with missing_is_404():
            row = models.HostFactor.objects.get(agent__name=name, name=factor)
        return self.respond(read(row.toml)[0])

    @refuses(422)
    @extend_schema(summary="Define or replace a host factor", request=HostFactorFieldsSerializer)
    def update(self, request: Request, name: str, factor: str) -> Response:
        definition = factor_of(factor, fields_of(request))
        hostfactors.define(_agent(name), [definition], actor(request))
        return self.respond(definition)

    @extend_schema(summary="Remove a host factor", responses={204: None})
    def destroy(self, request: Request, name: str, factor: str) -> Response:
        with missing_is_404():
            hostfactors.remove(_agent(name), factor, actor(request))
        return Response(status=204)


def _agent(name: str) -> models.Agent:
    with missing_is_404():
        return models.Agent.objects.get(name=name)


def _factors(name: str) -> list[HostFactor]:
    with missing_is_404():
        agent = models.Agent.objects.prefetch_related("host_factors").get(name=name)
    return list(hostfactors.known_host(agent).factors.values())
