"""The root of the API, and the answer at addresses that do not exist."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, HttpResponsePermanentRedirect
from django.urls import ResolverMatch, is_valid_path
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from results import models
from webapp.api.common import Endpoint, address

RESOURCES = (
    "agents",
    "installations",
    "plans",
    "ready-plans",
    "runs",
    "trials",
    "measurements",
    "metrics",
    "noise",
    "kinds",
    "comparison",
    "versions",
    "access-methods",
    "topologies",
    "publications",
    "reports",
    "imports",
    "citations",
    "references",
    "trends",
    "annotations",
    "capabilities",
    "tokens",
    "schema",
    "docs",
)


class RootSerializer(serializers.Serializer[Any]):
    """Addresses of the resources, by name."""

    links = serializers.DictField(child=serializers.URLField(), read_only=True)


class Root(Endpoint):
    queryset = models.Run.objects.none()
    serializer_class = RootSerializer

    @extend_schema(summary="The resources", operation_id="root")
    def retrieve(self, request: Request) -> Response:
        return self.respond({"links": {name: address(request, f"api:{name}") for name in RESOURCES}})


class UnknownAddress(APIView):
    """Answers where no endpoint is: redirects a GET that lacks its last slash, else 404."""

    schema = None

    def get(self, request: Request, rest: str) -> HttpResponse:
        if not rest.endswith("/") and self._exists_with_slash(request):
            query = request.META.get("QUERY_STRING", "")
            return HttpResponsePermanentRedirect(f"{request.path}/{'?' if query else ''}{query}")
        raise exceptions.NotFound(f"There is nothing at {request.path}. See /api/v1/docs/.")

    def post(self, request: Request, rest: str) -> HttpResponse:
        hint = " The address ends with a slash." if self._exists_with_slash(request) else ""
        raise exceptions.NotFound(f"There is nothing at {request.path}.{hint}")

    put = patch = delete = post

    @staticmethod
    def _exists_with_slash(request: Request) -> bool:
        match = is_valid_path(f"{request.path}/")
        return isinstance(match, ResolverMatch) and match.url_name != "nowhere"
