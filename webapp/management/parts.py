"""How the parts beside the warehouse are: Redis, workers, clocks, mail, proxies, static files, programs. Findings of
`manage.py doctor`."""

from __future__ import annotations

import smtplib
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pypandoc
import redis
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.mail.backends.smtp import EmailBackend
from django.db import connection

from results.domain.errors import TeitenError
from webapp import catalogues
from webapp.documents.files import load_weasyprint
from webapp.health import queue_client
from webapp.management.exposure import Finding
from workers import tasks

OLDEST_REDIS = 6
CLOCK_TOLERANCE_S = 2.0
_PATIENCE_S = 5
_START = "start `celery -A workers.app worker --pool threads`"


def encoding() -> Finding:
    """Whether the warehouse holds every text: what agents print is in all languages."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_encoding")
        [name] = cursor.fetchone()
    if name == "UTF8":
        return True, "texts are kept as UTF8"
    todo = "Create it anew: createdb --encoding UTF8 --template template0."
    return False, f"texts are kept as {name}, which does not hold all of them, and trials fail. {todo}"


def queue() -> Iterator[Finding]:
    """Whether Redis is new enough and keeps messages until a worker takes them; whether it answers, `exposure` says."""
    try:
        with queue_client(_PATIENCE_S) as client:
            info = client.info()
    except redis.RedisError as error:
        yield False, f"does not answer, or refuses Teiten: {error}. Look at the password in TEITEN_REDIS_URL."
        return
    version = str(info["redis_version"])
    new_enough = int(version.partition(".")[0]) >= OLDEST_REDIS
    yield new_enough, f"version {version}" if new_enough else f"version {version}: it takes {OLDEST_REDIS} or later"
    policy = info.get("maxmemory_policy")
    if info.get("maxmemory") and policy != "noeviction":
        yield False, f"throws messages away when its memory is full: set maxmemory-policy noeviction, not {policy}"
    if info.get("rdb_last_bgsave_status") == "err":
        yield (
            False,
            'cannot save to its disk, and may refuse messages: make room there, or set save "" (it need keep nothing)',
        )


def workers() -> Iterator[Finding]:
    """Whether a worker serves each queue."""
    try:
        served = tasks.served_queues()
    except TeitenError as error:
        yield False, str(error)
        return
    if not served:
        yield False, f"none answers: {_START}"
        return
    for name in tasks.QUEUES:
        names = sorted(worker for worker, queues in served.items() if name in queues)
        yield bool(names), f"queue {name}: {', '.join(names) or f'no worker serves it: {_START} -Q {name}'}"


def clocks() -> Iterator[Finding]:
    """Whether warehouse and workers have this machine's time: leases and schedules are told by it."""
    yield _clock("the warehouse", *_asked_warehouse())
    try:
        names = tasks.answering_workers()
        asked_s = time.time()
        answers = tasks.worker_clocks(len(names)) if names else {}
    except TeitenError:
        return  # of workers it is said already
    answered_s = time.time()
    for name, clock_s in sorted(answers.items()):
        if clock_s is None:
            yield False, f"{name} does not tell its time: it runs another version of Teiten. Restart it."
        else:
            yield _clock(name, asked_s, clock_s, answered_s)


def _asked_warehouse() -> tuple[float, float, float]:
    asked_s = time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        return asked_s, float(cursor.fetchone()[0]), time.time()


def _clock(name: str, asked_s: float, clock_s: float, answered_s: float) -> Finding:
    """asked_s, answered_s: by this machine's clock, between which the other one was read."""
    ahead_s = max(clock_s - answered_s, 0) or min(clock_s - asked_s, 0)
    if abs(ahead_s) <= CLOCK_TOLERANCE_S:
        return True, f"{name} has this machine's time"
    its_time = datetime.fromtimestamp(clock_s, UTC)
    side = "ahead of" if ahead_s > 0 else "behind"
    return False, f"{name} is {abs(ahead_s):.1f} s {side} this machine ({its_time:%H:%M:%S} UTC): run chrony on both"


def mail() -> Iterator[Finding]:
    """Whether the mail server takes Teiten's user."""
    if not settings.EMAIL_HOST:
        yield True, "no server is set (TEITEN_EMAIL_URL): alerts by mail are not sent"
        return
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    backend = EmailBackend()
    try:
        backend.open()
        backend.close()
    except (OSError, smtplib.SMTPException) as error:
        yield False, f"{server}: {error}. Correct TEITEN_EMAIL_URL, or look at the mail server's log."
    else:
        yield True, f"{server} answers"


def proxies() -> Iterator[Finding]:
    """Whether what the settings say of proxies and TLS fits together."""
    count, https = settings.REST_FRAMEWORK["NUM_PROXIES"], settings.SECURE_SSL_REDIRECT
    if https and not count:
        yield False, "TEITEN_HTTPS needs one, but TEITEN_PROXIES is 0: all users share its address. Say how many."
    elif settings.TEITEN_ADDRESS.startswith("https:") and not https:
        yield False, "TEITEN_ADDRESS is https, but TEITEN_HTTPS is off: cookies go over plain HTTP too. Set it to 1."
    else:
        yield True, f"{count} in front (TEITEN_PROXIES), TLS {'required' if https else 'not required'} (TEITEN_HTTPS)"


def static_files() -> Iterator[Finding]:
    """Whether all static files are collected on this machine."""
    collected = getattr(staticfiles_storage, "hashed_files", None)
    if collected is None:
        yield True, "served as they are"
        return
    files = [file for finder in get_finders() for file in finder.list([])]
    sources = {f"{prefix}/{path}" if (prefix := getattr(storage, "prefix", "")) else path for path, storage in files}
    missing = sources - set(collected)
    text = f"{len(missing)} of {len(sources)} are not collected: manage.py collectstatic"
    yield not missing, text if missing else f"{len(sources)} are collected"


def translations() -> Iterator[Finding]:
    """Whether the translations of this version, and of all kinds, are compiled on this machine."""
    stale = catalogues.stale()
    text = f"{', '.join(map(str, stale))} is not of this version: manage.py compilemessages, then restart"
    yield not stale, text if stale else "compiled"


def programs() -> Iterator[Finding]:
    """Whether this machine can write every kind of document."""
    try:
        yield True, f"Pandoc {pypandoc.get_pandoc_version()}"
    except OSError:
        yield False, "no Pandoc: no LaTeX, reStructuredText or Markdown of reports. Install pypandoc_binary."
    try:
        load_weasyprint()
        yield True, "Pango"
    except TeitenError as error:
        yield False, str(error)
