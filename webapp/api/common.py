"""What the endpoints share: lists in pages, links, the renderer of large answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import orjson
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import exceptions, serializers, viewsets
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.pagination import CursorPagination
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from webapp import run_filter, run_search
from webapp.api.parameters import KnownParameters
from webapp.api.schema import Schema

Value = TypeVar("Value")
_TYPES = {run_filter.SINCE: OpenApiTypes.DATE, run_filter.UNTIL: OpenApiTypes.DATE}  # others: several texts


class OrjsonRenderer(JSONRenderer):
    """The JSON of responses with thousands of numbers, in a tenth of JSONRenderer's time."""

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        if data is None or self.get_indent(accepted_media_type or "", renderer_context or {}):
            return bytes(super().render(data, accepted_media_type, renderer_context))
        encoded = orjson.dumps(data, default=self.encoder_class().default)
        _break_reference_cycle(renderer_context or {})
        return encoded.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")  # as JSONRenderer does


def _break_reference_cycle(context: dict[str, Any]) -> None:
    """Unlink response and view, which refer to each other: a large response would wait for the garbage collector."""
    context.pop("response", None)
    if view := context.get("view"):
        del view.response


class Pages(CursorPagination):
    """{"results": […], "next": url or null, "previous": url or null}; `page_size` up to 1000."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 1000


def pages_by(order: str, size: int = 50) -> type[Pages]:
    """Return the pagination in the order of a unique column ('-id')."""
    return type("Pages", (Pages,), {"ordering": order, "page_size": size, "__doc__": Pages.__doc__})


class Endpoint(KnownParameters, viewsets.GenericViewSet[Any]):
    """Base of all resources.

    Lists choose their page by `queryset` and show the rows that `results.queries` makes of it, so that a page takes the
    same number of SQL queries whatever its length.
    """

    schema = Schema()
    filter_backends: Any = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse NUL bytes, which PostgreSQL's text cannot hold: nothing can have such a name."""
        super().initial(request, *args, **kwargs)
        for name, texts in (*request.query_params.lists(), *((k, [str(v)]) for k, v in kwargs.items())):
            if any("\x00" in text for text in texts):
                raise exceptions.ValidationError({name: "A NUL byte is not allowed."})

    def page_of(self, rows: Callable[[list[Any]], Sequence[Any]]) -> Response:
        """Return one page of the list.

        rows: function from the page's primary keys to what is shown of them, in any order
        """
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        positions = {entry.pk: position for position, entry in enumerate(page)}
        ordered = sorted(rows(list(positions)), key=lambda row: positions[_key(row)])
        return self.get_paginated_response(self.get_serializer(ordered, many=True).data)

    def get_queryset(self) -> QuerySet[Any]:
        queryset: QuerySet[Any] = super().get_queryset()
        return queryset.only("pk")

    def respond(self, value: object, status: int = 200) -> Response:
        return Response(self.get_serializer(value).data, status=status)

    def respond_all(self, values: Sequence[object]) -> Response:
        """Return a list that is never long as a page that is the only one."""
        data = self.get_serializer(values, many=True).data
        return Response({"next": None, "previous": None, "results": data})


class SinglePage(CursorPagination):
    """Describes in the schema what `Endpoint.respond_all` returns: a page without parameters to choose another."""

    page_size_query_param = None

    def get_schema_operation_parameters(self, view: object) -> list[Any]:
        return []


def _parameters(descriptions: Mapping[str, str]) -> list[OpenApiParameter]:
    return [
        OpenApiParameter(name, _TYPES.get(name, OpenApiTypes.STR), many=name in run_search.SEVERAL, description=text)
        for name, text in descriptions.items()
    ]


RUN_FILTER = _parameters(run_filter.DESCRIPTIONS)
RUN_SEARCH = _parameters(run_search.DESCRIPTIONS)


def _key(row: Any) -> Any:
    return row.id if hasattr(row, "id") else row.name


def fields_of(request: Request) -> dict[str, Any]:
    """Return the JSON object in the request's body. Raises ValidationError when it is none."""
    if not isinstance(request.data, dict):
        raise exceptions.ValidationError("The body is not a JSON object.")
    return dict(request.data)


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string", "format": "uri", "nullable": True}})
class Links(serializers.Field):
    """URLs that refer to a row: name → (route, fields of the row that are its arguments)."""

    def __init__(self, /, **routes: tuple[str, ...]) -> None:
        super().__init__(source="*", read_only=True)
        self.routes = routes

    def to_representation(self, row: Any) -> dict[str, str]:
        return {name: self._address(route, row) for name, route in self.routes.items()}

    def _address(self, route: tuple[str, ...], row: Any) -> str:
        name, *fields = route
        return address(self.context.get("request"), name, *(getattr(row, field) for field in fields))


def address(request: Request | None, route: str, *arguments: Any) -> str:
    """Return the absolute URL of a page or an endpoint."""
    return reverse(route, args=list(arguments), request=request)


class IgnoreAcceptNegotiation(BaseContentNegotiation):
    """Content negotiation of files, which are sent as they are whatever the Accept header."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


def attempt_number(request: Request) -> int | None:
    """Return the number in `?attempt=2`, None without it. Raises ValidationError."""
    text = request.query_params.get("attempt", "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise exceptions.ValidationError({"attempt": "This is not the number of an attempt."})
    return int(text)
