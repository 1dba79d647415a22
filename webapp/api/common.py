"""What the endpoints share: lists in pages, links, the renderer of large answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, TypeVar

import orjson
from django.core.exceptions import ValidationError as ModelInvalid
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import exceptions, serializers, viewsets
from rest_framework.metadata import SimpleMetadata
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.utils.urls import remove_query_param

from results.domain.document_limits import is_storable
from results.domain.errors import TeitenError
from results.domain.nearest import suggestion
from webapp import run_filter, run_search
from webapp.api.limits import Limited
from webapp.api.parameters import KnownParameters
from webapp.api.schema import FIELDS, Schema

Value = TypeVar("Value")
ORDERING = "ordering"
_CURSOR = re.compile(r"[A-Za-z0-9+/]+={0,2}")  # Base64
_STAND_IN = 71940583026  # no host, port or path has this number
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
    offset_cutoff = 10**9  # any number of rows may have the same value of the column that they are sorted by
    orderings: tuple[str, ...] = ()

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the cursor of the address. Raises NotFound for what is none, or none of this list."""
        self.require_cursor(request.query_params.get(self.cursor_query_param))
        cursor = super().decode_cursor(request)
        if cursor is not None and cursor.position is not None and not _may_stand(cursor.position, self._column):
            raise self.no_cursor()
        return cursor

    def require_cursor(self, text: str | None) -> None:
        """Raise NotFound for a text that cannot be a cursor."""
        if text is not None and not _CURSOR.fullmatch(text):
            raise self.no_cursor()

    def no_cursor(self) -> exceptions.NotFound:
        return exceptions.NotFound(self.invalid_cursor_message)

    def get_page_size(self, request: Request) -> int:
        """Return how many rows a page has. Raises TeitenError for what is no number of rows."""
        text = request.query_params.get(self.page_size_query_param, "")
        if text and not (text.isascii() and text.isdigit() and text.strip("0")):
            todo = f"Write a whole number from 1 to {self.max_page_size}."
            raise TeitenError(f"{text[:40]!r} is not a number of rows.", where=self.page_size_query_param, todo=todo)
        return super().get_page_size(request) or self.page_size

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        name = self.get_ordering(request, queryset, view)[0].removeprefix("-")
        self._column = queryset.model._meta.get_field(name)
        page: list[Any] | None = super().paginate_queryset(queryset, request, view)
        self._full_size = self.page_size
        self.page_size = len(page or ()) or self.page_size  # by a full page's the links of others would skip rows
        return page

    def get_previous_link(self) -> str | None:
        """Return the address of the page before. Within rows of one value it is so many rows back: the way that DRF
        goes there leaves rows out."""
        cursor: Cursor | None = self.cursor
        if cursor is None or cursor.reverse or cursor.offset < self._full_size:
            return super().get_previous_link()
        before = cursor._replace(offset=cursor.offset - self._full_size)
        if before.position is None and not before.offset:
            return remove_query_param(str(self.base_url), self.cursor_query_param)
        return self.encode_cursor(before)

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """Return the column that is asked for, and the primary key, which tells rows apart that have the same in it."""
        asked = request.query_params.get(ORDERING, "") or str(self.ordering)
        name = asked.removeprefix("-")
        require_one_of(ORDERING, "ordering", name, self.orderings)
        if name == queryset.model._meta.pk.name:
            return (asked,)
        return (asked, "-pk" if asked.startswith("-") else "pk")

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        several = [f"{sign}{name}" for name in self.orderings for sign in ("", "-")]
        text = "Column by which rows are sorted, with a '-' for the greatest first."
        own = {"name": ORDERING, "in": "query", "schema": {"type": "string", "enum": several}, "description": text}
        return [*super().get_schema_operation_parameters(view), own]


def _may_stand(position: Any, column: Any) -> bool:
    """Return whether a column can have the value at which a page is said to begin."""
    try:
        value = column.to_python(position)
    except ModelInvalid:
        return False
    if isinstance(value, datetime):
        return timezone.is_aware(value)
    return -(2**63) <= value < 2**63 if isinstance(value, int) else is_storable(position)


def require_one_of(where: str, kind: str, name: str, known: Sequence[str]) -> None:
    """Raise TeitenError for a name that is none of these, with the one that was probably meant."""
    if name not in known:
        raise TeitenError(f"There is no {kind} {name!r}.", where=where, todo=suggestion(name, known))


def pages_by(order: str, size: int = 50, *others: str) -> type[Pages]:
    """Return the pagination in the order of a column without nulls ('-id').

    others: columns without nulls that may be asked for instead."""
    orderings = (order.removeprefix("-"), *others)
    own = {"ordering": order, "page_size": size, "orderings": orderings, "__doc__": Pages.__doc__}
    return type("Pages", (Pages,), own)


class Formats(DefaultContentNegotiation):
    """The form of an answer by its `format`, else by the Accept header."""

    def filter_renderers(self, renderers: Any, format: str) -> Any:
        require_one_of("format", "format", format, [renderer.format for renderer in renderers])
        return super().filter_renderers(renderers, format)


class Methods(SimpleMetadata):
    """The answer to OPTIONS: what the endpoint is called and takes; its fields are in the OpenAPI description."""

    def determine_actions(self, request: Request, view: Any) -> dict[str, Any]:
        return {}


class Endpoint(Limited, KnownParameters, viewsets.GenericViewSet[Any]):
    """Base of all resources.

    Lists choose their page by `queryset` and show the rows that `results.queries` makes of it, so that a page takes the
    same number of SQL queries whatever its length.

    row_key: field of a row by which its `queryset` knows it too
    """

    schema = Schema()
    metadata_class = Methods
    content_negotiation_class: Any = Formats
    filter_backends: Any = ()
    row_key = "id"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse NUL bytes and halves of characters, which no text of PostgreSQL has: nothing can have such a name."""
        super().initial(request, *args, **kwargs)
        for name, texts in (*request.query_params.lists(), *((k, [str(v)]) for k, v in kwargs.items())):
            if not all(map(is_storable, texts)):
                raise exceptions.ValidationError({name: "A NUL byte, or half a character, is not allowed."})

    def page_of(self, rows: Callable[[list[Any]], Sequence[Any]]) -> Response:
        """Return one page of the list.

        rows: function from the page's keys (`row_key`) to what is shown of them, in any order
        """
        return self.get_paginated_response(self.shown(self.ordered(rows)))

    def page_of_models(self) -> Response:
        """Return one page of the list, of the models themselves."""
        return self.get_paginated_response(self.shown(self._entries()))

    def ordered(self, rows: Callable[[list[Any]], Sequence[Any]]) -> list[Any]:
        """Return the rows of a page, as `page_of` does."""
        key = attrgetter(self.row_key)
        positions = {key(entry): position for position, entry in enumerate(self._entries())}
        return sorted(rows(list(positions)), key=lambda row: positions[key(row)])

    def _entries(self) -> list[Any]:
        return self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []

    def shown(self, rows: Sequence[object]) -> list[dict[str, Any]]:
        """Return rows of a list with the fields that are asked for. Raises TeitenError."""
        every: Any = self.get_serializer(rows, many=True)
        names, data = chosen_fields(self.request, list(every.child.fields)), every.data
        return [{name: row[name] for name in names} for row in data] if FIELDS in self.request.query_params else data

    def get_queryset(self) -> QuerySet[Any]:
        """Return what the pages of the list are chosen from, with the columns alone that tell where a page begins."""
        queryset: QuerySet[Any] = super().get_queryset()
        pages: Any = self.pagination_class
        asked = (self.request.query_params.get(ORDERING, "") or str(pages.ordering)).removeprefix("-")
        sorted_by = [asked] if asked in pages.orderings else []
        return queryset.only("pk", self.row_key, *sorted_by)

    def respond(self, value: object, status: int = 200) -> Response:
        return Response(self.get_serializer(value).data, status=status)

    def respond_all(self, values: Sequence[object]) -> Response:
        """Return a list that is never long as a page that is the only one."""
        return Response({"next": None, "previous": None, "results": self.shown(values)})


class SinglePage(CursorPagination):
    """Describes in the schema what `Endpoint.respond_all` returns: a page without parameters to choose another."""

    page_size_query_param = None
    orderings = ()

    def get_schema_operation_parameters(self, view: object) -> list[Any]:
        return []


def chosen_fields(request: Request, known: Sequence[str]) -> list[str]:
    """Return the names in `?fields=a,b`, in their order; all without it. Raises TeitenError for an unknown one."""
    names = [name for text in request.query_params.getlist(FIELDS) for name in text.split(",") if name]
    for name in names:
        require_one_of(FIELDS, "field", name, known)
    return list(dict.fromkeys(names)) or list(known)


def _parameters(descriptions: Mapping[str, str]) -> list[OpenApiParameter]:
    return [
        OpenApiParameter(name, _TYPES.get(name, OpenApiTypes.STR), many=name in run_search.SEVERAL, description=text)
        for name, text in descriptions.items()
    ]


RUN_FILTER = _parameters(run_filter.DESCRIPTIONS)
RUN_SEARCH = _parameters(run_search.DESCRIPTIONS)


def fields_of(request: Request) -> dict[str, Any]:
    """Return the JSON object in the request's body. Raises ValidationError when it is none."""
    if not isinstance(request.data, dict):
        raise exceptions.ValidationError("The body is not a JSON object.")
    return dict(request.data.items())


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string", "format": "uri", "nullable": True}})
class Links(serializers.Field):
    """URLs that refer to a row: name → (route, fields of the row that are its arguments)."""

    def __init__(self, /, **routes: tuple[str, ...]) -> None:
        super().__init__(source="*", read_only=True)
        self.routes = routes
        self._forms: dict[str, str] = {}  # of addresses that have only numbers, by route: of all rows of an answer

    def to_representation(self, row: Any) -> dict[str, str]:
        return {name: self._address(route, row) for name, route in self.routes.items()}

    def _address(self, route: tuple[str, ...], row: Any) -> str:
        name, *fields = route
        arguments = [getattr(row, field) for field in fields]
        if not all(type(argument) is int for argument in arguments):
            return address(self.context.get("request"), name, *arguments)
        if name not in self._forms:
            self._forms[name] = address_form(self.context.get("request"), name, len(arguments))
        return self._forms[name].format(*arguments)


def address(request: Request | None, route: str, *arguments: Any) -> str:
    """Return the absolute URL of a page or an endpoint."""
    return reverse(route, args=list(arguments), request=request)


def address_form(request: Request | None, route: str, count: int) -> str:
    """Return the absolute URL of a page or an endpoint with a {} for each of its numbers: `reverse()` takes too long to
    be called for each row of a list."""
    form = address(request, route, *range(_STAND_IN, _STAND_IN + count)).replace("{", "{{").replace("}", "}}")
    for number in range(_STAND_IN, _STAND_IN + count):
        form = form.replace(str(number), "{}")
    return form


class IgnoreAcceptNegotiation(BaseContentNegotiation):
    """Content negotiation of files, which are sent as they are whatever the Accept header."""

    ignores_accept = True

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
