"""Answers that a browser or a program has already: 304 in place of the same page or JSON once more."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path

from django.conf import settings
from django.contrib.messages import get_messages
from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from rest_framework.request import Request

from results.domain.statistics.verdict import RULE
from results.queries.freshness import NOTHING_KNOWN, Freshness, freshness
from webapp import urlstate

_CODE = ("results", "webapp", "templates", "static")
_KINDS = ("Accept", "HX-Request", "HX-History-Restore-Request")


def unless_known(latest: int) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Decorator of pages that show the comparison of their address: 304 where the visitor has it already. The page is
    given what is known of its runs. latest: newest runs that it shows besides."""

    def decorate(page: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @wraps(page)
        def conditional(request: HttpRequest) -> HttpResponseBase:
            runs = urlstate.read(request.META["QUERY_STRING"]).runs
            if not runs:
                return page(request, NOTHING_KNOWN)
            known = freshness(runs, latest)
            return answer(request, known, lambda: page(request, known))

        return conditional

    return decorate


def answer(request: HttpRequest | Request, known: Freshness, make: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """304, where the visitor has the answer already; else the answer, to be asked for again with its ETag."""
    tag = _etag(request, known)
    asked = request._request if isinstance(request, Request) else request
    fresh = get_conditional_response(asked, etag=tag) if not len(get_messages(asked)) else None
    response: HttpResponseBase = fresh or make()
    if response.status_code in (200, 304):
        response["ETag"] = tag
        patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, [*_KINDS, "Cookie", "Authorization", "Accept-Encoding"])
    return response


def _etag(request: HttpRequest | Request, known: Freshness) -> str:
    """Of an answer that depends on the whole address, the visitor, what the warehouse knows, and this software."""
    visitor = request.user.pk, request.META.get("CSRF_COOKIE", "")
    kinds = [request.headers.get(name, "") for name in _KINDS]
    parts = (request.build_absolute_uri(), *visitor, *kinds, known.state, RULE, _software())
    return f'"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'


@cache
def _software() -> int:
    """When any of its files was changed last."""
    root = Path(settings.BASE_DIR)
    return max(path.stat().st_mtime_ns for folder in _CODE for path in (root / folder).rglob("*") if path.is_file())
