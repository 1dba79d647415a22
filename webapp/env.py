"""Settings from the environment, typed and checked: the one place that reads it. Pure but for `os.environ`.

By hand, and not by django-environ: docs/adr/0018-libraries-weighed.md says why.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from results.domain.errors import TeitenError
from results.domain.messages import LANGUAGES, ORIGINAL

SHORTEST_KEY = 50


@dataclass(frozen=True)
class Environment:
    """Every TEITEN_… variable. docs/operations.md has a heading for each."""

    database_url: str
    replica_url: str
    redis_url: str
    broker_url: str
    secret_key: str
    debug: bool
    allowed_hosts: tuple[str, ...]
    trusted_origins: tuple[str, ...]
    state: Path
    bundle_dir: Path
    bundle_storage: str
    kinds: tuple[Path, ...]
    open_reading: bool
    https: bool
    log_level: str
    log_format: str
    address: str
    email_url: str
    email_from: str
    api_limit: int
    api_limit_anonymous: int
    api_streams: int
    api_streams_each: int
    proxies: int
    webhook_hosts: tuple[str, ...]
    lease_s: int
    language: str


def read(environ: Mapping[str, str] | None = None) -> Environment:
    """Read the environment's variables. Raises TeitenError that names the one that is wrong."""
    values = os.environ if environ is None else environ
    state = Path(values.get("TEITEN_STATE", ".teiten")).resolve()
    debug = _flag(values, "TEITEN_DEBUG", False)
    secret = values.get("TEITEN_SECRET_KEY", "insecure-key-for-debugging-only" if debug else "")
    if not secret:
        raise TeitenError(
            "There is no secret key.",
            where="TEITEN_SECRET_KEY",
            todo="Set it to at least 50 random characters, and TEITEN_DATABASE_URL and TEITEN_REDIS_URL with it "
            "(docs/operations.md). With none of the three set, manage.py takes those of a `make demo` that runs here.",
        )
    if len(secret) < SHORTEST_KEY and not debug:
        raise TeitenError(
            f"The secret key has {len(secret)} characters.",
            where="TEITEN_SECRET_KEY",
            why="It signs sessions: who guesses it is anybody.",
            todo=f"Set it to at least {SHORTEST_KEY} random characters, as `openssl rand -base64 48` prints them.",
        )
    return Environment(
        database_url=values.get("TEITEN_DATABASE_URL", "postgresql://teiten@127.0.0.1:5432/teiten"),
        replica_url=values.get("TEITEN_REPLICA_URL", ""),
        redis_url=values.get("TEITEN_REDIS_URL", "redis://127.0.0.1:6379/0"),
        broker_url=values.get("TEITEN_BROKER_URL", ""),
        secret_key=secret,
        debug=debug,
        allowed_hosts=_list(values, "TEITEN_ALLOWED_HOSTS", "127.0.0.1,localhost"),
        trusted_origins=_list(values, "TEITEN_TRUSTED_ORIGINS", ""),
        state=state,
        bundle_dir=Path(values.get("TEITEN_BUNDLE_DIR", state / "bundles")).resolve(),
        bundle_storage=values.get("TEITEN_BUNDLE_STORAGE", ""),
        kinds=_folders(values, "TEITEN_KINDS"),
        open_reading=_flag(values, "TEITEN_OPEN_READING", False),
        https=_flag(values, "TEITEN_HTTPS", False),
        log_level=_log_level(values, "TEITEN_LOG_LEVEL", "INFO"),
        log_format=_choice(values, "TEITEN_LOG_FORMAT", "text", ("text", "json"), "a form of messages"),
        address=values.get("TEITEN_ADDRESS", "").rstrip("/"),
        email_url=values.get("TEITEN_EMAIL_URL", ""),
        email_from=values.get("TEITEN_EMAIL_FROM", "teiten@localhost"),
        api_limit=_whole(values, "TEITEN_API_LIMIT", 1200),
        api_limit_anonymous=_whole(values, "TEITEN_API_LIMIT_ANONYMOUS", 300),
        api_streams=_whole(values, "TEITEN_API_STREAMS", 4),
        api_streams_each=_whole(values, "TEITEN_API_STREAMS_EACH", 2),
        proxies=_whole(values, "TEITEN_PROXIES", 0),
        webhook_hosts=_list(values, "TEITEN_WEBHOOK_HOSTS", ""),
        lease_s=_whole(values, "TEITEN_LEASE_S", 20, least=5),
        language=_choice(values, "TEITEN_LANGUAGE", ORIGINAL, tuple(LANGUAGES), "a language of the pages"),
    )


def beside_demo(environ: Mapping[str, str], checkout: Path) -> dict[str, str]:
    """The settings of the demo that runs in the state folder, for a command in another terminal; {} where none runs,
    or where the environment names a server or the key itself: two deployments are never mixed. Raises TeitenError."""
    if any(environ.get(name) for name in ("TEITEN_DATABASE_URL", "TEITEN_REDIS_URL", "TEITEN_SECRET_KEY")):
        return {}
    state = Path(environ.get("TEITEN_STATE") or checkout / ".teiten").resolve()
    try:
        session = json.loads((state / "run" / "environment.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        raise TeitenError(
            "The demo's settings cannot be read.",
            where=str(state),
            why=str(error),
            todo="Give the command as the user who started the demo.",
        ) from error
    if not _alive(*session["process"]):
        raise TeitenError(
            "The demo in this state folder was killed.", where=str(state), todo="Start it again: make demo."
        )
    return dict(session["environment"])


def _alive(pid: int, started: int) -> bool:
    """Return whether the process runs that has this id and was started so many clock ticks after boot."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except FileNotFoundError:
        return False
    return fields[0] not in "ZX" and int(fields[19]) == started


@dataclass(frozen=True)
class _UrlSetting:
    """A setting that is a URL.

    name: the variable.
    subject: what it is the URL of.
    form: what it looks like."""

    name: str
    subject: str
    form: str

    def error(self, why: str = "") -> TeitenError:
        what, todo = f"The {self.subject} is not {self.form}.", "Set it as docs/operations.md says."
        return TeitenError(what, where=self.name, why=why, todo=todo)


_BUCKET = _UrlSetting("TEITEN_BUNDLE_STORAGE", "bundles' address", "s3://bucket/prefix?endpoint=https://host:port")
_DATABASE = _UrlSetting("TEITEN_DATABASE_URL", "database URL", "postgresql://user:$PASSWORD@host:port/name")
_REPLICA = _UrlSetting("TEITEN_REPLICA_URL", _DATABASE.subject, _DATABASE.form)
_MAIL = _UrlSetting("TEITEN_EMAIL_URL", "mail server's URL", "smtp://user:$PASSWORD@host:port")
_MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


def _split(url: str, setting: _UrlSetting) -> tuple[SplitResult, int | None]:
    """The parts of a URL, and its port, None where it names none. Raises TeitenError."""
    try:
        parts = urlsplit(url)
        return parts, parts.port
    except ValueError as error:
        raise setting.error(f"{error}.") from None


@dataclass(frozen=True)
class Mail:
    """The mail server.

    host: '' for none.
    starttls: TLS after the greeting.
    tls: from the start."""

    host: str
    port: int
    user: str
    password: str
    starttls: bool
    tls: bool


def mail(url: str) -> Mail:
    """smtp://user:password@host:port; smtp+tls:// for STARTTLS, smtps:// for TLS from the start. Raises TeitenError."""
    parts, port = _split(url, _MAIL)
    port = port or _MAIL_PORTS.get(parts.scheme, 0)
    if url and not (port and parts.hostname):
        raise _MAIL.error()
    return Mail(
        host=parts.hostname or "",
        port=port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starttls=parts.scheme == "smtp+tls",
        tls=parts.scheme == "smtps",
    )


def bundle_storage(url: str) -> dict[str, object]:
    """s3://bucket/prefix?endpoint=https://host:port&region=name → Django's storage of bundles; '' for the folder.
    Raises TeitenError."""
    if not url:
        return {"BACKEND": "results.bundle_storage.BundleFolder"}
    parts, port = _split(url, _BUCKET)
    given = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    if parts.scheme != "s3" or not parts.hostname or parts.username or port or given.keys() - {"endpoint", "region"}:
        raise _BUCKET.error("Keys are not part of it: boto3 reads AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
    options = {
        "bucket_name": parts.netloc,
        "location": parts.path.strip("/"),
        "endpoint_url": given.get("endpoint"),
        "region_name": given.get("region"),
    }
    return {"BACKEND": "results.object_storage.ObjectStorage", "OPTIONS": options}


# A warehouse that does not answer at all is known as away well within the time of a worker's lease (30 s), and not only
# when the kernel gives up, after a quarter of an hour.
_CONNECTION_OPTIONS = {
    "connect_timeout": 10,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15000,
}


def database(
    url: str, setting: _UrlSetting = _DATABASE, own_options: Mapping[str, object] = MappingProxyType({})
) -> dict[str, object]:
    """postgresql://user:password@host:port/name?option=value → Django's DATABASES entry. Raises TeitenError."""
    parts, port = _split(url, setting)
    if parts.scheme not in ("postgresql", "postgres") or not parts.path.strip("/"):
        raise setting.error()
    given = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    options: dict[str, object] = {**_CONNECTION_OPTIONS, **own_options, **given}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.strip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(port or ""),
        "CONN_MAX_AGE": 300,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def databases(url: str, replica_url: str) -> dict[str, dict[str, object]]:
    """Django's DATABASES: the warehouse, and a standby of it where there is one. Raises TeitenError."""
    entries = {"default": database(url)}
    if replica_url:
        # Who waits for a standby that does not answer waits for a page.
        entries["replica"] = database(replica_url, _REPLICA, {"connect_timeout": 2}) | {"TEST": {"MIRROR": "default"}}
    return entries


def _flag(values: Mapping[str, str], name: str, default: bool) -> bool:
    text = values.get(name, "").strip().lower()
    if text in ("", "0", "1", "true", "false", "yes", "no", "on", "off"):
        return default if text == "" else text in ("1", "true", "yes", "on")
    raise TeitenError(f"{text!r} is not yes or no.", where=name, todo="Set it to 1 or 0.")


def _whole(values: Mapping[str, str], name: str, default: int, least: int = 0) -> int:
    text = values.get(name, "").strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
        todo = f"Set it to a whole number, {least} or more."
        raise TeitenError(f"{text!r} is not a number that it may be.", where=name, todo=todo)
    return int(text) if text else default


def _folders(values: Mapping[str, str], name: str) -> tuple[Path, ...]:
    folders = [Path(text).resolve() for text in values.get(name, "").split(os.pathsep) if text.strip()]
    for folder in folders:
        if not folder.is_dir():
            raise TeitenError(
                f"There is no folder {folder}.", where=name, todo=f"Name folders that exist, with {os.pathsep} between."
            )
    return tuple(folders)


def _list(values: Mapping[str, str], name: str, default: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in values.get(name, default).split(",") if item.strip())


def _log_level(values: Mapping[str, str], name: str, default: str) -> str:
    level = values.get(name, default)
    if level not in logging.getLevelNamesMapping():
        todo = "Set it to DEBUG, INFO, WARNING, ERROR or CRITICAL."
        raise TeitenError(f"{level!r} is not a level of messages.", where=name, todo=todo)
    return level


def _choice(values: Mapping[str, str], name: str, default: str, choices: tuple[str, ...], subject: str) -> str:
    choice = values.get(name, "").strip() or default
    if choice not in choices:
        raise TeitenError(f"{choice!r} is not {subject}.", where=name, todo=f"Set it to {' or '.join(choices)}.")
    return choice
