"""How many requests a program may send in a minute, counted in Redis by all web processes together, and how many
streams may be read at a time, counted by each web process for itself."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

import redis
from django.conf import settings
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from results.domain.ip_addresses import network_of
from webapp.queue_servers import client, redis_url

log = logging.getLogger(__name__)
PERIOD_S = 60
_PATIENCE_S = 0.5  # with a Redis that does not answer; then nothing is counted


@dataclass(frozen=True)
class Use:
    """What is left to who asks.

    limit: requests in the present minute.
    count: how many there were, with this one.
    reset_s: seconds to the next minute."""

    limit: int
    count: int
    reset_s: int

    @property
    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.limit - self.count)),
            "X-RateLimit-Reset": str(self.reset_s),
        }


class RateLimit(BaseThrottle):
    """Requests of a token or user, or of an address where nobody is known. Without Redis there is no limit: an answer
    is worth more than its count."""

    clock = staticmethod(time.time)

    def allow_request(self, request: Request, view: Any) -> bool:
        known = request.user.is_authenticated
        limit = settings.TEITEN_API_LIMIT if known else settings.TEITEN_API_LIMIT_ANONYMOUS
        if not limit:
            return True
        self._use = counted(caller(request), limit, self.clock())
        request._request.rate_limit = self._use  # type: ignore[attr-defined]
        return self._use is None or self._use.count <= limit

    def wait(self) -> float | None:
        return self._use.reset_s if self._use else None


class Limited:
    """Mixin of views: their answers say what is left, and requests that are refused count too."""

    def perform_authentication(self, request: Request) -> None:
        """Count a wrong token at its address: the rest of a refused request, where others are counted, is not run."""
        try:
            super().perform_authentication(request)  # type: ignore[misc]
        except AuthenticationFailed:
            self.check_throttles(request)  # type: ignore[attr-defined]
            raise

    def permission_denied(self, request: Request, message: str | None = None, code: str | None = None) -> NoReturn:
        self.check_throttles(request)  # type: ignore[attr-defined]
        super().permission_denied(request, message, code)  # type: ignore[misc]
        raise AssertionError("permission_denied raises")

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[misc]
        use: Use | None = getattr(getattr(request, "_request", request), "rate_limit", None)
        for name, text in (use.headers if use else {}).items():
            final[name] = text
        return final


def caller(request: Request) -> str:
    """Return whose a request is: a token's, a user's, or a network's where nobody is known."""
    if not request.user.is_authenticated:
        return network_of(str(BaseThrottle().get_ident(request)))
    token = getattr(request.auth, "pk", None)
    return f"token {token}" if token else f"user {request.user.pk}"


def counted(who: str, limit: int, now_s: float) -> Use | None:
    """Count a request; return None where Redis cannot.

    who: whose it is.
    now_s: seconds since 1970."""
    window = int(now_s // PERIOD_S)
    key = f"teiten:requests:{window}:{who}"
    try:
        with _client(redis_url(settings.CELERY_BROKER_URL, settings.TEITEN_REDIS_URL)).pipeline() as steps:
            steps.incr(key)
            steps.expire(key, 2 * PERIOD_S)
            count, _ = steps.execute()
    except redis.RedisError as error:
        log.warning("requests are not counted: %s", error)
        return None
    return Use(limit, count, int((window + 1) * PERIOD_S - now_s) + 1)


@cache
def _client(url: str) -> redis.Redis:
    return client(url, socket_timeout=_PATIENCE_S, socket_connect_timeout=_PATIENCE_S)
