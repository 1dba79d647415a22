"""Errors → a page, a fragment, or problem JSON. The words are those of the error itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as ModelInvalid
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from results.errors import AgentError, PlanError, StateError, TeitenError

_STATUS: list[tuple[type[TeitenError], int]] = [(PlanError, 422), (StateError, 409), (AgentError, 502)]


def status_of(error: TeitenError) -> int:
    return next((code for kind, code in _STATUS if isinstance(error, kind)), 400)


class ProblemMiddleware:
    """Shows a TeitenError that a view let through."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
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
        exception = exceptions.NotFound()
    if isinstance(exception, PermissionDenied):
        exception = exceptions.PermissionDenied()
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
        body["kind"], body["todo"] = "access", "Send 'Authorization: Bearer <token>' with the scope needed."
    body["what"] = str(exception.detail)
    return body


def _problems(detail: Any, field: str = "") -> list[dict[str, str]]:
    if isinstance(detail, dict):
        return [p for key, value in detail.items() for p in _problems(value, f"{field}.{key}".strip("."))]
    if isinstance(detail, list):
        return [p for value in detail for p in _problems(value, field)]
    return [{"field": field, "what": str(detail), "todo": ""}]
