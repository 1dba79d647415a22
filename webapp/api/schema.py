"""The OpenAPI schema: authentication, errors, descriptions."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any, Literal, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.renderers import SafeDumper  # type: ignore[attr-defined]
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework import serializers
from rest_framework.request import Request

from results.domain.messages import Message
from webapp.api.limits import Limited
from webapp.api.parameters import KnownParameters
from webapp.language import active_language

FIELDS = "fields"
_REFUSES = "refuses"
SafeDumper.add_representer(Message, lambda dumper, text: dumper.represent_str(str(text)))
Handler = TypeVar("Handler", bound=Callable[..., Any])
ERRORS = {
    400: "The request is wrong, or what it asks for cannot be had so.",
    401: "The token is unknown or revoked, or none was sent where one is needed.",
    403: "The visitor may not do this.",
    404: "There is nothing of that name or number, or no page at that cursor.",
    406: "The answer cannot be had in a form that the Accept header names.",
    409: "What is there now does not allow it.",
    413: "The body is larger than this endpoint reads, or has no Content-Length.",
    415: "The body is not in a form that this endpoint reads.",
    422: "The plan, the host factor or the file has problems; `problems` has each.",
    429: "There were too many requests in this minute, or too many streams are open.",
    502: "The agent did not do what it was told to.",
    503: "The warehouse does not answer, or others wait for the same already.",
}
_OF_THE_SERVER = "The address has more than 4094 bytes. gunicorn says so itself, not in JSON."
_EVERYWHERE = (400, 401, 429, 503)
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
    problems = ProblemSerializer(many=True, required=False)


class FailureSerializer(serializers.Serializer[Any]):
    """The body of every response that is an error."""

    error = ErrorSerializer(read_only=True)


def refuses(*statuses: int) -> Callable[[Handler], Handler]:
    """Decorate an endpoint's method whose errors have these statuses too, beside those of every method like it."""

    def decorate(method: Handler) -> Handler:
        setattr(method, _REFUSES, statuses)
        return method

    return decorate


class Schema(AutoSchema):
    """Adds the error responses to every endpoint, and describes an endpoint by the docstring of its own class."""

    def get_description(self) -> str:  # type: ignore[override]
        return cleandoc(vars(type(self.view)).get("__doc__") or "")

    def get_override_parameters(self) -> list[Any]:
        """Return those that every list has."""
        return [_FIELDS] if getattr(self.view, "action", "") == "list" else []

    def _get_paginator(self) -> Any:
        """Return none where a list is answered to a change: it is never in pages."""
        return super()._get_paginator() if getattr(self.view, "action", "") == "list" else None

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        for status in sorted(self._error_statuses()):
            failure = self._get_response_for_code(FailureSerializer, str(status), direction=direction)
            bodies[str(status)] = failure | {"description": ERRORS[status]}
        return bodies | {"414": {"description": _OF_THE_SERVER}}

    def _error_statuses(self) -> set[int]:
        """Return those that follow from what the operation is, and those that `refuses` adds."""
        action, pages = getattr(self.view, "action", ""), getattr(self.view, "pagination_class", None)
        statuses = {*_EVERYWHERE, *getattr(getattr(self.view, action, None), _REFUSES, ())}
        in_pages = action == "list" and getattr(pages, "page_size_query_param", None)
        if "{" in self.path or in_pages:
            statuses.add(404)
        if self.method != "GET":
            statuses |= {403, 413}
        if not getattr(self.view.content_negotiation_class, "ignores_accept", False):
            statuses.add(406)
        if self._get_request_body():
            statuses.add(415)
        return statuses


class Description(Limited, KnownParameters, SpectacularAPIView):
    """OpenAPI 3 of everything, as YAML or JSON."""

    other_parameters = ("format", "lang")


class Reference(SpectacularSwaggerView):
    """Swagger UI, over the schema in the language of its page."""

    def _get_schema_url(self, request: Request) -> str:
        return f"{super()._get_schema_url(request)}?lang={active_language()}"
