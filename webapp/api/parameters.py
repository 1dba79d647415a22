"""The query parameters of an endpoint: those that its OpenAPI description names, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from webapp import urlstate


class KnownParameters:
    """Mixin of views: a query parameter that the endpoint does not have is an error. What is misspelled would else be
    left out of the question, and its answer taken for that to another one.

    other_parameters: what it has besides those that its description names."""

    other_parameters: tuple[str, ...] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)  # type: ignore[misc]
        handler = getattr(self, "action", None) or (request.method or "").lower()
        if hasattr(self, handler) and handler not in ("options", "metadata"):
            view_class: Any = type(self)
            require_known(request, query_names(view_class, handler))


def require_known(request: Request, known: tuple[str, ...]) -> None:
    """Raise TeitenError for a parameter of the address that is none of these. One of them that ends in '<…>' stands for
    all that begin like it."""
    prefixes = tuple(name.partition("<")[0] for name in known if "<" in name)
    for name in request.query_params:
        if name not in known and not (prefixes and name.startswith(prefixes)):
            raise urlstate.unknown_parameter(name, known)


@cache
def query_names(view_class: Any, handler: str) -> tuple[str, ...]:
    """Return the names of all query parameters of one of a view's methods."""
    return tuple(dict.fromkeys(_names(view_class, handler)))


def _names(view_class: Any, handler: str) -> Iterator[str]:
    for parameter in _described(view_class, handler):
        if parameter.location == OpenApiParameter.QUERY:
            yield parameter.name
    if handler == "list":
        yield from view_class.filterset_class.base_filters if hasattr(view_class, "filterset_class") else ()
        yield from _of_pages(view_class.pagination_class)
    yield from view_class.other_parameters


def _described(view_class: Any, handler: str) -> list[OpenApiParameter]:
    """Return the parameters that `extend_schema` gave the method, with those that all such methods have."""
    method = getattr(view_class, handler)
    own, common = getattr(method, "kwargs", {}).get("schema"), type(view_class.schema)
    schema = type("Described", (own, common), {})() if own else common()
    schema.view = view_class(request=None, kwargs={}, action=handler)
    schema.method = "GET"
    described: list[OpenApiParameter] = schema.get_override_parameters()
    return described


def _of_pages(pagination: Any) -> tuple[str, ...]:
    """Return what chooses a page; nothing of a list that is one page."""
    if not issubclass(pagination, CursorPagination) or pagination.page_size_query_param is None:
        return ()
    return pagination.cursor_query_param, pagination.page_size_query_param, "ordering"
