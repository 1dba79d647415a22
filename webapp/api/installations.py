"""Endpoint of the PostgreSQL installations on the agents."""

from __future__ import annotations

from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.queries.agents.agents import InstallationRow, list_installations
from webapp.api.common import Endpoint, pages_by
from webapp.api.flags import FlagFilter
from webapp.api.values import serializer_of


class InstallationFilter(filters.FilterSet):
    agent = filters.CharFilter("agent__name", label="Name of an agent.")
    present = FlagFilter(label="Only those that are (or are not) there any more.")


class Installations(Endpoint):
    queryset = models.Installation.objects.all()
    serializer_class = serializer_of(InstallationRow)
    pagination_class = pages_by("id")
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = InstallationFilter

    @extend_schema(summary="All installations")
    def list(self, request: Request) -> Response:
        return self.page_of(lambda ids: list_installations(ids=ids))
