"""The servers behind TEITEN_REDIS_URL and TEITEN_BROKER_URL: a Redis, the primary that Redis Sentinels name, or an AMQP
server. Pure but for the clients, which connect when they are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

from results.domain.errors import TeitenError

_SENTINEL_PORT = 26379
_SENTINEL, _AMQP = "sentinel", ("amqp", "amqps")
_REDIS = ("redis", "rediss", "unix", "redis+socket")
# There is another to ask than one that is away; and each channel of Celery asks anew, in the order of the URL.
_ASKED_ONCE = {"retry": Retry(NoBackoff(), 0), "socket_connect_timeout": 3, "socket_timeout": 3}
BROKER = "TEITEN_BROKER_URL"
_FORMS = "redis://:$PASSWORD@host:port/0 or sentinel://:$PASSWORD@host:port,host:port/0?master=name"


@dataclass(frozen=True)
class QueueServer:
    """Where messages wait, as Celery is told it.

    options: of kombu's transport
    """

    url: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class _Sentinels:
    """hosts: each with its port. master: the name under which they know the primary. sentinel_password: their own."""

    hosts: tuple[tuple[str, int], ...]
    username: str
    password: str
    database: int
    master: str
    sentinel_password: str

    @property
    def options(self) -> dict[str, Any]:
        """How they are asked, as options of redis.Redis."""
        return _ASKED_ONCE | ({"password": self.sentinel_password} if self.sentinel_password else {})


def is_amqp(url: str) -> bool:
    return url.partition("://")[0] in _AMQP


def queue_server(url: str, setting: str = "TEITEN_REDIS_URL") -> QueueServer:
    """Return the server for Celery. Raises TeitenError for a URL that is of none.

    setting: the variable that has it
    """
    scheme = url.partition("://")[0]
    if scheme == _SENTINEL and setting != BROKER:
        sentinels = _sentinels(url, setting)
        login = url.partition("://")[2].rpartition("@")[0]
        at = f"{login}@" if login else ""
        urls = [f"sentinel://{at}{host}:{port}/{sentinels.database}" for host, port in sentinels.hosts]
        return QueueServer(";".join(urls), {"master_name": sentinels.master, "sentinel_kwargs": sentinels.options})
    if scheme not in (_AMQP if setting == BROKER else _REDIS):
        raise _refused(setting)
    return QueueServer(url, {})


def redis_url(broker_url: str, own_url: str) -> str:
    """Return the URL of the Redis that holds the messages; of that of TEITEN_REDIS_URL where Sentinels or AMQP do."""
    return broker_url if broker_url.partition("://")[0] in _REDIS else own_url


def client(url: str, *, with_password: bool = True, **options: Any) -> redis.Redis:
    """Return a client of a Redis, or of the primary that its Sentinels name.

    with_password: whether it says the password of the URL
    options: of redis.Redis
    """
    if url.partition("://")[0] != _SENTINEL:
        parts = urlsplit(url)
        address = url if with_password else parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        return redis.Redis.from_url(address, **options)
    known = _sentinels(url, "TEITEN_REDIS_URL")
    login = {"username": known.username or None, "password": known.password or None} if with_password else {}
    sentinel = Sentinel(list(known.hosts), sentinel_kwargs=known.options | options)
    primary: redis.Redis = sentinel.master_for(known.master, db=known.database, **login, **options)
    return primary


def _sentinels(url: str, setting: str) -> _Sentinels:
    rest, _, query = url.partition("://")[2].partition("?")
    address, _, database = rest.partition("/")
    login, _, hosts = address.rpartition("@")
    username, _, password = login.partition(":")
    given = {key: values[-1] for key, values in parse_qs(query).items()}
    if not given.get("master") or given.keys() - {"master", "sentinel_password"} or not (database or "0").isdigit():
        raise _refused(setting)
    return _Sentinels(
        hosts=tuple(_host_and_port(host, setting) for host in hosts.split(",")),
        username=unquote(username),
        password=unquote(password),
        database=int(database or 0),
        master=given["master"],
        sentinel_password=given.get("sentinel_password", ""),
    )


def _host_and_port(text: str, setting: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":") if ":" in text else (text, ":", str(_SENTINEL_PORT))
    if not host or not port.isdigit():
        raise _refused(setting)
    return host, int(port)


def _refused(setting: str) -> TeitenError:
    forms = "amqp://user:$PASSWORD@host:port/vhost" if setting == BROKER else _FORMS
    return TeitenError(f"The queue's URL is not {forms}.", where=setting, todo="Set it as docs/operations.md says.")
