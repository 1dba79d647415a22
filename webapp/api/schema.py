"""The OpenAPI schema: authentication, errors, descriptions."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers

from webapp.api.limits import Limited
from webapp.api.parameters import KnownParameters

FIELDS = "fields"
_FIELDS = OpenApiParameter(
    FIELDS, OpenApiTypes.STR, description="Only these fields of each row, with commas between them; all without it."
)


class TokenScheme(OpenApiAuthenticationExtension):
    """Authentication by the header `Authorization: Bearer teiten_…`."""

    target_class = "webapp.access.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token of the account page or of /tokens/."}


class ProblemSerializer(serializers.Serializer[Any]):
    """One thing wrong with what was sent: the field, what is wrong, what to do."""

    field = serializers.CharField(read_only=True)
    what = serializers.CharField(read_only=True)
    todo = serializers.CharField(read_only=True)


class ErrorSerializer(serializers.Serializer[Any]):
    """What went wrong, where, why, and what to do; with `problems` where there are several."""

    kind = serializers.CharField(read_only=True)
    what = serializers.CharField(read_only=True)
    where = serializers.CharField(read_only=True)
    why = serializers.CharField(read_only=True)
    todo = serializers.CharField(read_only=True)
    retryable = serializers.BooleanField(read_only=True)
    problems = ProblemSerializer(many=True, read_only=True, required=False)


class FailureSerializer(serializers.Serializer[Any]):
    """The body of every response that is an error."""

    error = ErrorSerializer(read_only=True)


class Schema(AutoSchema):
    """Adds the error response to every endpoint, and describes an endpoint by the docstring of its own class."""

    def get_description(self) -> str:  # type: ignore[override]
        return cleandoc(vars(type(self.view)).get("__doc__") or "")

    def get_override_parameters(self) -> list[Any]:
        """Return those that every list has."""
        return [_FIELDS] if getattr(self.view, "action", "") == "list" else []

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        failure = self._get_response_for_code(FailureSerializer, "default", direction=direction)
        return bodies | {"default": failure | {"description": "An error."}}


class Description(Limited, KnownParameters, SpectacularAPIView):
    """OpenAPI 3 of everything, as YAML or JSON."""

    other_parameters = ("format", "lang")
