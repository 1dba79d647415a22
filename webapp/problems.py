"""Errors → a page, a fragment, or problem JSON. The words are those of the error itself."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.core.exceptions import ValidationError as ModelInvalid
from django.db import Error as DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.defaults import server_error
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from results import warehouse
from results.domain.errors import AgentError, AwayError, PlanError, StateError, TeitenError
from results.queries import NotFound

log = logging.getLogger(__name__)
_STATUS: list[tuple[type[TeitenError], int]] = [
    (PlanError, 422),
    (StateError, 409),
    (AgentError, 502),
    (AwayError, 503),
]
_RETRY_AFTER = {"Retry-After": "10"}  # seconds: a warehouse that is restarted is away for about so long
_JSON_PATHS = ("/api/", "/health")


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
        if problem := _away(exception):
            return _unavailable(request, problem)
        if not isinstance(exception, TeitenError):
            return None
        template = "parts/_problem.html" if getattr(request, "htmx", False) else "problem.html"
        return render(request, template, {"problem": exception.as_dict()}, status=status_of(exception))


def failed(request: HttpRequest) -> HttpResponse:
    """The view of what no other has caught (Django's handler500): a visitor is looked up before any view begins."""
    problem = _away(sys.exc_info()[1])
    return _unavailable(request, problem) if problem else server_error(request)


def _away(exception: BaseException | None) -> AwayError | None:
    """What a visitor is told when the warehouse is away: where it is, is the log's affair, as nobody can be asked who
    the visitor is."""
    if isinstance(exception, DatabaseError) and warehouse.is_away(exception):
        warehouse.hang_up()
    elif not isinstance(exception, AwayError):
        return None
    log.error("the warehouse is away: %s", exception)
    return AwayError(
        "The warehouse does not answer.",
        where="warehouse",
        why="PostgreSQL, in which all results are, is stopped or starts anew, or cannot be reached from here.",
        todo="Try again in a moment. Where it lasts, manage.py doctor on the server says what to do.",
    )


def _unavailable(request: HttpRequest, problem: AwayError) -> HttpResponse:
    """Without a look at who is signed in. A fragment leaves what is shown as it is, so that it goes on asking."""
    if request.path.startswith(_JSON_PATHS):
        return JsonResponse({"error": problem.as_dict()}, status=503, headers=_RETRY_AFTER)
    fragment = "HX-Request" in request.headers
    headers = _RETRY_AFTER | ({"HX-Reswap": "none"} if fragment else {})
    context = {"problem": problem.as_dict(), "again": request.method in ("GET", "HEAD") and request.get_full_path()}
    return HttpResponse(
        render_to_string("parts/_away.html" if fragment else "503.html", context), status=503, headers=headers
    )


def api_exception(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Every error of the API has one shape: {"error": {kind, what, where, why, todo, retryable[, problems]}}."""
    if problem := _away(exception):
        return Response({"error": problem.as_dict()}, status=503, headers=_RETRY_AFTER)
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
