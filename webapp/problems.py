"""Responses to errors: a page, a fragment, or JSON, with the error's own words."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, SuspiciousOperation
from django.core.exceptions import ValidationError as ModelInvalid
from django.db import Error as DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.views.defaults import bad_request, page_not_found, server_error
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from results import replica, warehouse
from results.domain.document_limits import is_storable
from results.domain.errors import (
    AgentError,
    AwayError,
    BodyError,
    BusyError,
    CodeError,
    ImportedFileError,
    PlanError,
    StateError,
    TeitenError,
    restored,
)
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.queries.shared.ids import NotFound

log = logging.getLogger(__name__)
_STATUS: list[tuple[type[TeitenError], int]] = [
    (CodeError, 403),
    (PlanError, 422),
    (ImportedFileError, 422),
    (StateError, 409),
    (BodyError, 413),
    (AgentError, 502),
    (AwayError, 503),
    (BusyError, 503),
]
_SEND_TOKEN = _("Send 'Authorization: Bearer <token>' with the scope needed.")
_RETRY_AFTER = {"Retry-After": "10"}  # seconds: a warehouse that is restarted is away for about so long
_AGAIN = _("Try again in a moment. Where it lasts, manage.py doctor on the server says what to do.")
_JSON_PATHS = ("/api/", "/metrics")


def status_of(error: TeitenError) -> int:
    return next((code for kind, code in _STATUS if isinstance(error, kind)), 400)


@contextmanager
def missing_is_404() -> Iterator[None]:
    """Turn a query's or an operation's not-found error into 404; a context manager, or a decorator of pages."""
    try:
        yield
    except (NotFound, ObjectDoesNotExist) as error:
        raise Http404(_message(error)) from error


def _message(exception: Exception) -> str:
    """Return what an exception says: a message still, where it is one."""
    is_text = len(exception.args) == 1 and isinstance(exception.args[0], str)
    return exception.args[0] if is_text else str(exception)


class ProblemMiddleware:
    """Shows errors that a view did not handle, and refuses texts that PostgreSQL cannot hold: 404 in an address, 400 in
    a form."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_of_programs(request) and not all(map(is_storable, (request.path, *_texts(request.GET)))):
            raise Http404(_("No address has a NUL byte."))
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_arguments: Any) -> HttpResponse | None:
        if is_of_programs(request) or all(map(is_storable, _texts(request.POST))):
            return None
        what = _("A field has a NUL byte, or half a character.")
        return self.process_exception(request, TeitenError(what, where="form", todo=_("Write it anew.")))

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if replica.is_of_replica(exception) and (match := request.resolver_match):
            replica.read_again_from_primary(exception)
            try:
                response: HttpResponse = match.func(request, *match.args, **match.kwargs)
            except (TeitenError, DatabaseError) as error:
                exception = error
            else:
                return response
        if problem := _away(exception):
            return _unavailable(request, problem)
        if not isinstance(exception, TeitenError):
            return None
        template = "parts/_problem.html" if getattr(request, "htmx", False) else "problem.html"
        return render(request, template, {"problem": restored(exception.as_dict())}, status=status_of(exception))


def _texts(fields: QueryDict) -> Iterator[str]:
    for name, values in fields.lists():
        yield name
        yield from values


def forbidden_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the answer to a visitor who may not do this (Django's handler403, whose own knows English only)."""
    return render(request, "403.html", {"exception": _message(exception)}, status=403)


def not_found_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the answer where no address is (Django's handler404)."""
    if is_of_programs(request):
        text = gettext("There is nothing at {path}. See /api/v1/docs/.").format(path=request.path)
        return _json(exceptions.NotFound(text))
    return page_not_found(request, exception)


def bad_request_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the answer to what Django cannot read (its handler400)."""
    if is_of_programs(request):
        return _json(exceptions.ParseError(gettext("The request cannot be read.")))
    return bad_request(request, exception)


def _json(exception: exceptions.APIException) -> JsonResponse:
    return JsonResponse({"error": _error_body(exception)}, status=exception.status_code)


def server_error_page(request: HttpRequest) -> HttpResponse:
    """Return the page of errors outside of views (Django's handler500), as of the middleware that reads the visitor."""
    problem = _away(sys.exc_info()[1])
    return _unavailable(request, problem) if problem else server_error(request)


def _away(exception: BaseException | None) -> AwayError | None:
    """Return the error to show when the warehouse is away or cannot answer now, None for any other exception.

    Its address is only in the log: without the warehouse, nobody knows who the visitor is.
    """
    if isinstance(exception, DatabaseError) and warehouse.is_away(exception):
        warehouse.drop_connection()
    elif isinstance(exception, DatabaseError) and warehouse.is_transient(exception):
        log.error("the warehouse could not answer: %s", exception)
        return AwayError(
            _("The warehouse could not answer this time."),
            where="warehouse",
            why=_("PostgreSQL lacked memory, disk space or processes, or two transactions met; its log says which."),
            todo=_AGAIN,
        )
    elif not isinstance(exception, AwayError):
        return None
    log.error("the warehouse is away: %s", exception)
    return AwayError(
        _("The warehouse does not answer."),
        where="warehouse",
        why=_("PostgreSQL, in which all results are, is stopped or starts anew, or cannot be reached from here."),
        todo=_AGAIN,
    )


def is_of_programs(request: HttpRequest) -> bool:
    """Return whether errors at this address are JSON."""
    return request.path.startswith(_JSON_PATHS)


def forbidden(message: str) -> JsonResponse:
    """Return the API's answer to a visitor who may not do this."""
    return _json(exceptions.PermissionDenied(localized(message)))


def refused(request: HttpRequest, error: TeitenError) -> HttpResponse:
    """Return the response to a request of which only the headers were read: who the visitor is, is not known."""
    status_code = status_of(error)
    if is_of_programs(request):
        return JsonResponse({"error": in_json(error.as_dict())}, status=status_code)
    template = "parts/_problem.html" if "HX-Request" in request.headers else "refused.html"
    return HttpResponse(render_to_string(template, {"problem": restored(error.as_dict())}), status=status_code)


def _unavailable(request: HttpRequest, problem: AwayError) -> HttpResponse:
    """Return 503 without reading the session. A fragment leaves the page as it is, which therefore polls again."""
    if is_of_programs(request):
        return JsonResponse({"error": in_json(problem.as_dict())}, status=503, headers=_RETRY_AFTER)
    fragment = "HX-Request" in request.headers
    headers = _RETRY_AFTER | ({"HX-Reswap": "none"} if fragment else {})
    again = request.method in ("GET", "HEAD") and request.get_full_path()
    context = {"problem": restored(problem.as_dict()), "again": again}
    return HttpResponse(
        render_to_string("parts/_away.html" if fragment else "503.html", context), status=503, headers=headers
    )


def api_exception(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Return the API's response to an exception: {"error": {kind, what, where, why, todo, retryable[, problems]}}."""
    if replica.is_of_replica(exception):
        raise exception  # ProblemMiddleware reads the request again
    if problem := _away(exception):
        return Response({"error": in_json(problem.as_dict())}, status=503, headers=_RETRY_AFTER)
    if isinstance(exception, TeitenError):
        set_rollback()
        return Response({"error": in_json(exception.as_dict())}, status=status_of(exception))
    exception = _of_the_api(exception)
    if not isinstance(exception, exceptions.APIException):
        return None
    set_rollback()
    headers = {}
    if header := getattr(exception, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if wait := getattr(exception, "wait", None):
        headers["Retry-After"] = str(int(wait))
    return Response({"error": _error_body(exception)}, status=exception.status_code, headers=headers)


def in_json(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error as the API gives it: its sentences in the reader's language; where it is, is a name as ever."""
    fields = restored(error)
    if "problems" in error:
        fields["problems"] = [in_json(problem) for problem in error["problems"]]
    return fields | {name: localized(fields[name]) for name in ("what", "why", "todo") if name in fields}


def _of_the_api(exception: Exception) -> Exception:
    """Return what Django REST framework has for an exception of Django's."""
    match exception:
        case Http404():
            return exceptions.NotFound(localized(_message(exception)) or None)
        case PermissionDenied():
            return exceptions.PermissionDenied(localized(_message(exception)) or None)
        case ModelInvalid():
            by_field = hasattr(exception, "error_dict")
            return exceptions.ValidationError(exception.message_dict if by_field else exception.messages)
        case SuspiciousOperation():  # such as a form with thousands of fields
            return exceptions.ParseError(str(exception))
    return exception


def _error_body(exception: exceptions.APIException) -> dict[str, Any]:
    body: dict[str, Any] = {"kind": "api", "what": "", "where": "", "why": "", "todo": "", "retryable": False}
    if isinstance(exception, exceptions.ValidationError):
        body["kind"], body["what"] = "invalid", gettext("Some fields are not right.")
        body["problems"] = _problems(exception.detail)
        body["where"] = ", ".join(problem["field"] for problem in body["problems"])
        return body
    if exception.status_code == status.HTTP_404_NOT_FOUND:
        body["kind"] = "not-found"
    if exception.status_code in (status.HTTP_401_UNAUTHORIZED, status.HTTP_403_FORBIDDEN):
        body["kind"] = "access"
        body["todo"] = localized(getattr(exception, "todo", _SEND_TOKEN))
    body["what"] = str(exception.detail)
    body |= getattr(exception, "body", {})
    if isinstance(exception, exceptions.Throttled):
        what = gettext("There were too many requests in this minute.")
        todo = gettext("Ask again in {seconds} s (Retry-After). A stream gives all rows in one request.")
        body |= {"kind": "limit", "what": what, "retryable": True}
        body["todo"] = todo.format(seconds=getattr(exception, "wait", 60))
    return body


def _problems(detail: Any, field: str = "") -> list[dict[str, str]]:
    """Return every message in the nested detail of a ValidationError, with the dotted name of its field."""
    problems: list[dict[str, str]] = []
    if isinstance(detail, dict):
        for key, value in detail.items():
            problems += _problems(value, f"{field}.{key}".strip("."))
    elif isinstance(detail, list):
        for value in detail:
            problems += _problems(value, field)
    else:
        problems.append({"field": field, "what": str(detail), "todo": ""})
    return problems
