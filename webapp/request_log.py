"""A line of the log for each request."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.encoding import escape_uri_path

log = logging.getLogger(__name__)
_ASKED_ALL_THE_TIME = ("/healthz", "/readyz")


class RequestLogMiddleware:
    """Writes method, path, status and duration, without the query, which may hold what nobody else should read.

    The duration ends when the answer begins: a stream goes on."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began_s = time.perf_counter()
        response = self.get_response(request)
        fields = {
            "method": request.method,
            "path": escape_uri_path(request.path),
            "status": response.status_code,
            "duration_ms": round(1000 * (time.perf_counter() - began_s), 1),
        }
        level = logging.DEBUG if request.path in _ASKED_ALL_THE_TIME else logging.INFO
        log.log(level, "%(method)s %(path)s %(status)s in %(duration_ms)s ms", fields, extra=fields)
        return response
