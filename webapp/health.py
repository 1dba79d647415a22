"""Whether the web server runs (`/healthz`), and whether what it needs is ready (`/readyz`): for load balancers, process
managers and health checks of containers."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from typing import Any

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis.backoff import NoBackoff
from redis.retry import Retry

from results import bundle_files
from results.bundle_storage import storage
from results.domain.errors import TeitenError
from results.domain.messages import BLANK, linked
from results.domain.messages import gettext_lazy as _
from webapp.queue_servers import client, is_amqp, redis_url
from workers import tasks

log = logging.getLogger(__name__)
PATIENCE_S = 3
_CONNECT_S = 2  # the least that libpq takes
_SEE_LOG = _("The web server's log says why, manage.py doctor what else is not well.")


class HealthMiddleware:
    """Answers before anything asks for a host's name, TLS, a session or the warehouse."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return _VIEWS.get(request.path_info, self.get_response)(request)


@never_cache
@require_safe
def alive(_request: HttpRequest) -> HttpResponseBase:
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def ready(_request: HttpRequest) -> HttpResponseBase:
    """200 when the web server can do its work; 503 names what is not ready, but no address: anybody may ask."""
    problems = _not_ready(CHECKS)
    checks: dict[str, Any] = {name: {"status": "ok"} for name in CHECKS}
    for name, problem in problems.items():
        checks[name] = {"status": "not ready", "what": problem.what, "todo": problem.todo}
    return JsonResponse(
        {"status": "not ready" if problems else "ok", "checks": checks}, status=503 if problems else 200
    )


_VIEWS: Mapping[str, Callable[[HttpRequest], HttpResponseBase]] = {"/healthz": alive, "/readyz": ready}


def check_warehouse() -> None:
    """Raises TeitenError for a warehouse that cannot be reached or lacks migrations. For a thread of its own: it
    connects with less patience, and closes the connection."""
    values = connections.settings["default"]
    connection.settings_dict = {**values, "OPTIONS": {**values["OPTIONS"], "connect_timeout": _CONNECT_S}}
    try:
        with closing(connection):
            missing = missing_migrations()
    except DatabaseError as error:
        todo = linked(BLANK, (_("Start it, or set TEITEN_DATABASE_URL."), _SEE_LOG))
        raise TeitenError(_("The warehouse does not answer, or refuses Teiten."), why=str(error), todo=todo) from error
    if missing:
        lacks = _("The warehouse lacks {number} migrations.", number=missing)
        raise TeitenError(lacks, todo=_("Run manage.py migrate."))


def missing_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def check_queue() -> None:
    """Raises TeitenError for a Redis, or another broker, that does not answer."""
    if is_amqp(settings.CELERY_BROKER_URL):
        tasks.require_broker(_CONNECT_S)
        return
    try:
        with queue_client(_CONNECT_S) as client:
            client.ping()
    except redis.RedisError as error:
        todo = linked(BLANK, (_("Start it, or set TEITEN_REDIS_URL."), _SEE_LOG))
        raise TeitenError(_("Redis does not answer, or refuses Teiten."), why=str(error), todo=todo) from error


def queue_client(patience_s: float) -> redis.Redis:
    """Return a client of the queue that asks once.

    patience_s: seconds to connect, and to wait for an answer"""
    url, once = redis_url(settings.CELERY_BROKER_URL, settings.TEITEN_REDIS_URL), Retry(NoBackoff(), 0)
    return client(url, socket_connect_timeout=patience_s, socket_timeout=patience_s, retry=once)


def check_bundle_folder() -> None:
    """Raises TeitenError where no file can be written in the bundle folder."""
    folder = settings.TEITEN_BUNDLE_DIR
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"written")
    except OSError as error:
        todo = _("Make room, or set TEITEN_BUNDLE_DIR to a folder that this account may write.")
        raise TeitenError(
            _("No file can be written in the bundle folder."),
            why=f"{folder}: {error.strerror}",
            todo=linked(BLANK, (todo, _SEE_LOG)),
        ) from error


def check_bundles() -> None:
    """Raises TeitenError where no file can be written in the bundle folder, or a bucket for bundles does not answer."""
    check_bundle_folder()
    try:
        storage().require_ready()
    except OSError as error:
        raise bundle_files.storage_away(error) from error


CHECKS: Mapping[str, Callable[[], None]] = {
    _("warehouse"): check_warehouse,
    _("redis"): check_queue,
    _("bundle folder"): check_bundles,
}
_pool = ThreadPoolExecutor(len(CHECKS) + 2, thread_name_prefix="readyz")
_lock = threading.Lock()
_running: dict[str, Future[Any]] = {}


def why_no_trial_starts() -> str:
    """Return why the bundle folder keeps trials from starting, in words that follow "the bundle folder"; '' where it
    does not."""
    future = _look("room", bundle_files.why_no_room)
    wait([future], PATIENCE_S)
    why: str = future.result() if future.done() else _("does not answer")
    return why


def free_bytes() -> int | None:
    """Return how much can still be written in the bundle folder, None where that is not known."""
    future = _look("free space", bundle_files.free_bytes)
    wait([future], PATIENCE_S)
    return None if not future.done() or future.exception() else future.result()


def _look(name: str, check: Callable[[], Any]) -> Future[Any]:
    """Have a look at something, or wait for the look that goes on: however many ask, it is looked at once at a time. A
    folder of a file server that hangs holds one thread."""
    with _lock:
        if name not in _running or _running[name].done():
            _running[name] = _pool.submit(check)
        return _running[name]


def _not_ready(checks: Mapping[str, Callable[[], None]]) -> dict[str, TeitenError]:
    """Return what is wrong with each dependency that is not ready, after PATIENCE_S at the latest."""
    futures = {name: _look(name, check) for name, check in checks.items()}
    wait(futures.values(), PATIENCE_S)
    problems = {name: problem for name, future in futures.items() if (problem := _problem(name, future))}
    for name, problem in problems.items():
        log.error("not ready: %s: %s", name, problem)
    return problems


def _problem(name: str, future: Future[None]) -> TeitenError | None:
    if not future.done():
        return TeitenError(
            _("The {name} has not answered within {seconds} s.", name=name, seconds=PATIENCE_S),
            todo=_("Look whether its machine or its disk hangs."),
        )
    error = future.exception()
    if error is None or isinstance(error, TeitenError):
        return error
    raise error
