"""Conditional requests: 304 instead of a page or JSON that the client has already; and answers that a process gives
again as long as they hold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache, wraps
from http import HTTPStatus
from pathlib import Path

from django.conf import settings
from django.contrib.messages import get_messages
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.template.response import SimpleTemplateResponse
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.translation import get_language
from rest_framework.request import Request

from results.domain.statistics.verdict import RULE
from results.queries.comparison.freshness import NOTHING_KNOWN, freshness
from webapp import urlstate
from webapp.access import scope_of
from webapp.computed import compute_anew

_CODE = ("results", "webapp", "templates", "static", "locale")
_VARYING_HEADERS = ("Accept", "HX-Request", "HX-History-Restore-Request")
_KEPT_HEADERS = ("Content-Type", "HX-Push-Url")
LARGEST_KEPT = 1_500_000  # bytes of an answer that a process keeps


class AnswerMiddleware(ConditionalGetMiddleware):
    """Gives every JSON answer of the API an ETag, and 304 to who has it already. It saves sending an answer, not making
    it: that, `conditional_response` does. For who asks for a new answer it has everything computed anew."""

    def process_request(self, request: HttpRequest) -> None:
        compute_anew(_wants_anew(request))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_answer = request.path.startswith("/api/") and request.method == "GET" and response.status_code == 200
        if not is_answer or not response.get("Content-Type", "").startswith("application/json"):
            return response
        patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, ["Accept", "Cookie", "Authorization", "Accept-Encoding"])
        answer: HttpResponseBase = super().process_response(request, response)
        return answer


def conditional_page(latest: int = 0) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Decorate a page that shows the comparison of its address: 304 where the visitor has it already.

    The page is called with the freshness of its runs.

    latest: number of newest runs that the page shows besides
    """

    def decorate(page: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @wraps(page)
        def page_unless_cached(request: HttpRequest) -> HttpResponseBase:
            runs = urlstate.runs_of(request.META["QUERY_STRING"])
            if not runs:
                return page(request, NOTHING_KNOWN)
            known = freshness(runs, latest)
            return conditional_response(request, f"{known.state}\n{known.listed}", lambda: page(request, known))

        return page_unless_cached

    return decorate


def conditional_response(
    request: HttpRequest | Request, data_state: str, make: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    """Return 304 where the visitor has the response already; else the one that this process gave the same visitor
    before under the same ETag; else make it. With the ETag to ask for it again. A browser that reloads a page without
    its cache sends `no-cache`, and gets a new one.

    Waiting messages are shown by a new page, once: with any, nothing that the visitor has is up to date, and the page
    has no ETag to be asked for again.

    data_state: a text that is another one as soon as the response could be
    """
    etag = _etag(request, data_state)
    django_request = request._request if isinstance(request, Request) else request
    has_messages = bool(len(get_messages(django_request)))
    not_modified = None if has_messages else get_conditional_response(django_request, etag=etag)
    response: HttpResponseBase = not_modified or (make() if has_messages else _kept(django_request, etag, make))
    if response.status_code in (200, 304):
        if not has_messages:
            response["ETag"] = etag
        patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, [*_VARYING_HEADERS, "Cookie", "Authorization", "Accept-Encoding"])
    return response


def _kept(request: HttpRequest, etag: str, make: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Return the response that is kept under this ETag; else make it and keep it, unless it is large or brings the
    cookie that its forms need."""
    kept = caches["answers"].get(etag)
    if kept and not _wants_anew(request):
        content, headers = kept
        return HttpResponse(content, headers=headers)
    cookie = request.META.get("CSRF_COOKIE")

    def keep(response: HttpResponseBase) -> None:
        if not isinstance(response, HttpResponse) or response.status_code != HTTPStatus.OK:
            return
        if request.META.get("CSRF_COOKIE") == cookie and len(response.content) <= LARGEST_KEPT:
            headers = {name: response[name] for name in _KEPT_HEADERS if name in response}
            caches["answers"].set(etag, (response.content, headers))

    response = make()
    if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
        response.add_post_render_callback(keep)
    else:
        keep(response)
    return response


def _wants_anew(request: HttpRequest) -> bool:
    return "no-cache" in request.headers.get("Cache-Control", "")


def _etag(request: HttpRequest | Request, data_state: str) -> str:
    """Return the ETag of a response that depends on address, visitor, data and this version of Teiten."""
    user = request.user
    visitor = user.pk, user.get_username(), scope_of(user), request.META.get("CSRF_COOKIE", "")
    headers = [request.headers.get(name, "") for name in _VARYING_HEADERS]
    parts = (
        request.build_absolute_uri(),
        get_language(),
        *visitor,
        *headers,
        data_state,
        RULE,
        _software_changed_ns(),
    )
    return f'"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'


@cache
def _software_changed_ns() -> int:
    """Return when any file of Teiten was changed last, in nanoseconds since 1970."""
    root = Path(settings.BASE_DIR)
    return max(path.stat().st_mtime_ns for folder in _CODE for path in (root / folder).rglob("*") if path.is_file())
