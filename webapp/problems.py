"""Errors → a page, a fragment, or problem JSON. The words are those of the error itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.core.exceptions import ValidationError as ModelInvalid
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from results.errors import AgentError, PlanError, StateError, TeitenError
from results.queries import NotFound

_STATUS: list[tuple[type[TeitenError], int]] = [(PlanError, 422), (StateError, 409), (AgentError, 502)]


def status_of(error: TeitenError) -> int:
    return next((code for kind, code in _STATUS if isinstance(error, kind)), 400)


@contextmanager
def missing_is_404() -> Iterator[None]:
    """What a query or a verb does not find is nothing at this address. Also a decorator of pages."""
    try:
        yield
    except (NotFound, ObjectDoesNotExist) as error:
        raise Http404(str(error)) from error


class ProblemMiddleware:
    """Shows a TeitenError that a view let through. PostgreSQL holds no text with a NUL byte: no page is called so."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        texts = [request.path, *(text for _, several in request.GET.lists() for text in several)]
        if not request.path.startswith("/api/") and any("\0" in text for text in texts):
            raise Http404("No address has a NUL byte.")
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, TeitenError):
            return None
        template = "parts/_problem.html" if getattr(request, "htmx", False) else "problem.html"
        return render(request, template, {"problem": exception.as_dict()}, status=status_of(exception))


def api_exception(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Every error of the API has one shape: {"error": {kind, what, where, why, todo, retryable[, problems]}}."""
    if isinstance(exception, TeitenError):
        set_rollback()
        return Response({"error": exception.as_dict()}, status=status_of(exception))
    if isinstance(exception, Http404):
        exception = exceptions.NotFound(str(exception) or None)
    if isinstance(exception, PermissionDenied):
        exception = exceptions.PermissionDenied(str(exception) or None)
    if isinstance(exception, ModelInvalid):
        exception = exceptions.ValidationError(exception.message_dict)
    if not isinstance(exception, exceptions.APIException):
        return None
    set_rollback()
    headers = {}
    if header := getattr(exception, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if wait := getattr(exception, "wait", None):
        headers["Retry-After"] = str(int(wait))
    return Response({"error": _described(exception)}, status=exception.status_code, headers=headers)


def _described(exception: exceptions.APIException) -> dict[str, Any]:
    body: dict[str, Any] = {"kind": "api", "what": "", "where": "", "why": "", "todo": "", "retryable": False}
    if isinstance(exception, exceptions.ValidationError):
        body["kind"], body["what"] = "invalid", "Some fields are not right."
        body["problems"] = _problems(exception.detail)
        body["where"] = ", ".join(problem["field"] for problem in body["problems"])
        return body
    if exception.status_code == status.HTTP_404_NOT_FOUND:
        body["kind"] = "not-found"
    if exception.status_code in (status.HTTP_401_UNAUTHORIZED, status.HTTP_403_FORBIDDEN):
        body["kind"] = "access"
        body["todo"] = getattr(exception, "todo", "Send 'Authorization: Bearer <token>' with the scope needed.")
    body["what"] = str(exception.detail)
    return body


def _problems(detail: Any, field: str = "") -> list[dict[str, str]]:
    if isinstance(detail, dict):
        return [p for key, value in detail.items() for p in _problems(value, f"{field}.{key}".strip("."))]
    if isinstance(detail, list):
        return [p for value in detail for p in _problems(value, field)]
    return [{"field": field, "what": str(detail), "todo": ""}]
