"""Which requests are read from the standby of TEITEN_REPLICA_URL.

Those that only read: of visitors and people by GET, and of programs with a token of the scope `read`, which cannot have
written anything. Other tokens read the warehouse. A person who wrote carries in a cookie up to where the WAL went, and
reads the standby again once it has replayed that: what one has done oneself is never missing, however far behind the
standby is. A cookie, and no time to wait: no time is long enough for a standby that lags, and any is too long for the
others. Sessions, accounts and tokens are always read from the warehouse (`results.reading`)."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponseBase

from results import reading, replica

COOKIE = "teiten_written"
_KEPT_S = 600  # far longer than a standby that is read may be behind
_SAFE = ("GET", "HEAD")


class ReplicaMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not replica.is_configured():
            return self.get_response(request)
        with reading.decided():
            begins_at_replica = _is_read(request) and replica.is_usable(request.COOKIES.get(COOKIE, ""))
            if begins_at_replica:
                reading.from_replica()
            response = self.get_response(request)
            if request.method not in _SAFE or (begins_at_replica and reading.alias() == reading.PRIMARY):
                _remember(request, response)
        return response


def _is_read(request: HttpRequest) -> bool:
    """Return whether the request can be read from the standby as far as its headers say; of a token nothing is known
    yet."""
    return request.method in _SAFE and "Authorization" not in request.headers


def read_with_token() -> None:
    """Read the rest of the request, which a token of the scope `read` has sent, from the standby."""
    if replica.is_configured() and replica.is_usable():
        reading.from_replica()


def _remember(request: HttpRequest, response: HttpResponseBase) -> None:
    """Have a person's browser say up to where the WAL went when it had written something."""
    if "Authorization" in request.headers or isinstance(request.user, AnonymousUser):
        return
    response.set_cookie(
        COOKIE,
        replica.written_lsn(),
        max_age=_KEPT_S,
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )
