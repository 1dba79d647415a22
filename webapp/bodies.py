"""How large the body of a request may be. Its headers say so before anything reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve

from results.domain.errors import BodyError
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity
from results.models.audit import Scope
from webapp.access import allows, has_token, lacking, scope_of, to_sign_in
from webapp.problems import forbidden, is_of_programs, refused

MOST_BYTES = 2 * 1024**2
_UPLOAD = "upload"
View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True)
class Upload:
    """What a view takes beyond MOST_BYTES.

    scope: without which nothing of a body is read."""

    most_bytes: int
    scope: Scope


def takes_upload(upload: Upload) -> Callable[[View], View]:
    """Decorate a page that takes larger bodies. A viewset has a class attribute `upload` instead."""

    def decorate(view: View) -> View:
        setattr(view, _UPLOAD, upload)
        return view

    return decorate


class BodyMiddleware:
    """Refuses bodies that are too large or of unknown length, and uploads of visitors who may not make them, before
    anything reads them: a form's files would be written to the disk first, and whose they are asked then."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        problem = _problem(request)
        return refused(request, problem) if problem else self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, *_arguments: Any) -> HttpResponseBase | None:
        upload = upload_of(view)
        if not upload or request.method != "POST" or allows(scope_of(request.user), upload.scope):
            return None
        if is_of_programs(request) and has_token(request):
            return None  # it counts, whoever is signed in besides: DRF asks for it before it reads a body
        message = lacking(upload.scope)
        if is_of_programs(request):  # which looks for a token before it reads a body, but reads it for a session
            return forbidden(message) if request.user.is_authenticated else None
        if request.user.is_authenticated:
            raise PermissionDenied(message)
        return to_sign_in(request)


def _problem(request: HttpRequest) -> BodyError | None:
    if "Transfer-Encoding" in request.headers:
        what = _("The request does not say how long its body is.")
        todo = _("Send it with a Content-Length, not in chunks.")
        return BodyError(what, where="Transfer-Encoding", todo=todo)
    length = request.headers.get("Content-Length", "")
    size_bytes = int(length) if length.isdecimal() else 0
    if size_bytes <= MOST_BYTES or size_bytes <= (most_bytes := _most_bytes(request.path_info)):
        return None
    return BodyError(
        _("The body of the request has {size}.", size=format_quantity(size_bytes, "B")),
        where="Content-Length",
        why=_("At most {size} are read here.", size=format_quantity(most_bytes, "B")),
        todo=_("Send less at once."),
    )


def _most_bytes(path: str) -> int:
    try:
        upload = upload_of(resolve(path).func)
    except Resolver404:
        return MOST_BYTES
    return upload.most_bytes if upload else MOST_BYTES


def upload_of(view: Any) -> Upload | None:
    """Return what a view takes beyond MOST_BYTES; None for nothing."""
    return getattr(view, _UPLOAD, None) or getattr(getattr(view, "cls", None), _UPLOAD, None)
