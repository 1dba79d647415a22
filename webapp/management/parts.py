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
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from webapp import catalogues
from webapp.documents.files import load_weasyprint
from webapp.drawing.style import noto_fonts
from webapp.health import queue_client
from webapp.management.exposure import Finding
from workers import tasks

OLDEST_REDIS = 6
CLOCK_TOLERANCE_S = 2.0
_PATIENCE_S = 5
_START = "celery -A workers.app worker --pool threads"
_AHEAD = _("{name} is {difference_s:.1f} s ahead of this machine ({time} UTC): run chrony on both")
_BEHIND = _("{name} is {difference_s:.1f} s behind this machine ({time} UTC): run chrony on both")


def encoding() -> Finding:
    """Whether the warehouse holds every text: what agents print is in all languages."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_encoding")
        [name] = cursor.fetchone()
    if name == "UTF8":
        return True, _("texts are kept as UTF8")
    return False, _(
        "texts are kept as {encoding}, which does not hold all of them, and trials fail. "
        "Create it anew: createdb --encoding UTF8 --template template0.",
        encoding=name,
    )


def queue() -> Iterator[Finding]:
    """Whether Redis is new enough and keeps messages until a worker takes them; whether it answers, `exposure` says."""
    try:
        with queue_client(_PATIENCE_S) as client:
            info = client.info()
    except redis.RedisError as error:
        text = _(
            "does not answer, or refuses Teiten: {error}. Look at the password in TEITEN_REDIS_URL.", error=str(error)
        )
        yield False, text
        return
    version = str(info["redis_version"])
    if int(version.partition(".")[0]) >= OLDEST_REDIS:
        yield True, _("version {version}", version=version)
    else:
        yield False, _("version {version}: it takes {oldest} or later", version=version, oldest=OLDEST_REDIS)
    policy = info.get("maxmemory_policy")
    if info.get("maxmemory") and policy != "noeviction":
        text = _(
            "throws messages away when its memory is full: set maxmemory-policy noeviction, not {policy}", policy=policy
        )
        yield False, text
    if info.get("rdb_last_bgsave_status") == "err":
        text = _(
            'cannot save to its disk, and may refuse messages: make room there, or set save "" (it need keep nothing)'
        )
        yield False, text


def workers() -> Iterator[Finding]:
    """Whether a worker serves each queue."""
    try:
        served = tasks.served_queues()
    except TeitenError as error:
        yield False, error.words
        return
    if not served:
        yield False, _("none answers: start `{command}`", command=_START)
        return
    for name in tasks.QUEUES:
        if names := sorted(worker for worker, queues in served.items() if name in queues):
            yield True, _("queue {queue}: {workers}", queue=name, workers=linked(COMMA, names))
        else:
            command = f"{_START} -Q {name}"
            yield False, _("queue {queue}: no worker serves it: start `{command}`", queue=name, command=command)


def clocks() -> Iterator[Finding]:
    """Whether warehouse and workers have this machine's time: leases and schedules are told by it."""
    yield _clock(_("the warehouse"), *_asked_warehouse())
    try:
        names = tasks.answering_workers()
        asked_s = time.time()
        answers = tasks.worker_clocks(len(names)) if names else {}
    except TeitenError:
        return  # of workers it is said already
    answered_s = time.time()
    for name, clock_s in sorted(answers.items()):
        if clock_s is None:
            text = _("{worker} does not tell its time: it runs another version of Teiten. Restart it.", worker=name)
            yield False, text
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
        return True, _("{name} has this machine's time", name=name)
    text = _AHEAD if ahead_s > 0 else _BEHIND
    its_time = f"{datetime.fromtimestamp(clock_s, UTC):%H:%M:%S}"
    return False, _(text, name=name, difference_s=abs(ahead_s), time=its_time)


def mail() -> Iterator[Finding]:
    """Whether the mail server takes Teiten's user."""
    if not settings.EMAIL_HOST:
        yield True, _("no server is set (TEITEN_EMAIL_URL): alerts by mail are not sent")
        return
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    backend = EmailBackend()
    try:
        backend.open()
        backend.close()
    except (OSError, smtplib.SMTPException) as error:
        text = _(
            "{server}: {error}. Correct TEITEN_EMAIL_URL, or look at the mail server's log.",
            server=server,
            error=str(error),
        )
        yield False, text
    else:
        yield True, _("{server} answers", server=server)


def proxies() -> Iterator[Finding]:
    """Whether what the settings say of proxies and TLS fits together."""
    count, https = settings.REST_FRAMEWORK["NUM_PROXIES"], settings.SECURE_SSL_REDIRECT
    if https and not count:
        yield False, _("TEITEN_HTTPS needs one, but TEITEN_PROXIES is 0: all users share its address. Say how many.")
    elif settings.TEITEN_ADDRESS.startswith("https:") and not https:
        yield False, _("TEITEN_ADDRESS is https, but TEITEN_HTTPS is off: cookies go over plain HTTP too. Set it to 1.")
    elif https:
        yield True, _("{count} in front (TEITEN_PROXIES), TLS required (TEITEN_HTTPS)", count=count)
    else:
        yield True, _("{count} in front (TEITEN_PROXIES), TLS not required (TEITEN_HTTPS)", count=count)


def static_files() -> Iterator[Finding]:
    """Whether all static files are collected on this machine."""
    collected = getattr(staticfiles_storage, "hashed_files", None)
    if collected is None:
        yield True, _("served as they are")
        return
    files = [file for finder in get_finders() for file in finder.list([])]
    sources = {f"{prefix}/{path}" if (prefix := getattr(storage, "prefix", "")) else path for path, storage in files}
    missing = sources - set(collected)
    if missing:
        text = _(
            "{missing} of {all} are not collected: manage.py collectstatic", missing=len(missing), all=len(sources)
        )
        yield False, text
    else:
        yield True, _("{all} are collected", all=len(sources))


def translations() -> Iterator[Finding]:
    """Whether the translations of this version, and of all kinds, are compiled on this machine."""
    if stale := catalogues.stale():
        text = _(
            "{files} is not of this version: manage.py compilemessages, then restart",
            files=linked(COMMA, map(str, stale)),
        )
        yield False, text
    else:
        yield True, _("compiled")


def programs() -> Iterator[Finding]:
    """Whether this machine can write every kind of document."""
    try:
        yield True, f"Pandoc {pypandoc.get_pandoc_version()}"
    except OSError:
        yield False, _("no Pandoc: no LaTeX, reStructuredText or Markdown of reports. Install pypandoc_binary.")
    try:
        load_weasyprint()
        yield True, "Pango"
    except TeitenError as error:
        yield False, error.words
    if noto_fonts():
        yield True, _("Japanese in files is Noto Sans CJK, regular and bold")
    else:
        yield True, _("Japanese in files is IPAexGothic, which has no bold: install fonts-noto-cjk for one that has")
