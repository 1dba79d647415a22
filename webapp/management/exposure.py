"""What of Teiten's own lies open to an agent's jobs, or to anybody: the findings of `manage.py doctor`."""

from __future__ import annotations

import os
import pwd
import socket
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import psycopg
import redis
from django.conf import settings
from django.db import connection

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.models import Agent
from results.own_addresses import is_own
from webapp.queue_servers import client, is_amqp, redis_url
from workers import tasks

Finding = tuple[bool, str]  # (whether it is well, one line about it)
_PATIENCE_S = 5
_OF_TEITEN = _(
    "{agent}: is this machine, and its account {account} is Teiten's own: what a plan runs there may read and change "
    "all of Teiten. Give the agent an account of its own."
)
_OF_WAREHOUSE = _(
    "{agent}: is this machine, and its account {account} is the warehouse's: what a plan runs there may read and "
    "change all of Teiten. Give the agent an account of its own."
)


def agents(rows: Iterable[Agent]) -> Iterator[Finding]:
    """Whether the agents' jobs run as another account than Teiten's, and their keys are nobody else's."""
    own = pwd.getpwuid(os.geteuid()).pw_name
    warehouse = _account_of_warehouse()
    for agent in rows:
        yield from _key(agent)
        account = agent.user or own
        finding = {own: _OF_TEITEN, warehouse: _OF_WAREHOUSE}.get(account)
        if finding and agent.jump_id is None and is_this_machine(agent.host):
            yield False, _(finding, agent=agent.name, account=account)


def _key(agent: Agent) -> Iterator[Finding]:
    path = Path(agent.key_path).expanduser()
    if not agent.key_path or not path.is_file():  # it is on another machine, with the worker
        return
    if mode := stat.S_IMODE(path.stat().st_mode) & 0o077:
        text = _(
            "{agent}: others may use its key {path} (mode {mode} too much): chmod 600 {path}",
            agent=agent.name,
            path=str(path),
            mode=f"{mode:03o}",
        )
        yield False, text


def is_this_machine(host: str) -> bool:
    """Return whether a host name or address is this machine's; False where it cannot be found out."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    # An IPv4 address comes with its port, an IPv6 one with port, flow and scope.
    return any(is_own(str(address[0]), *map(int, address[3:])) for *_rest, address in addresses)


def _account_of_warehouse() -> str | None:
    """Return the account of the warehouse's server, where that runs on this machine."""
    host = str(connection.settings_dict["HOST"])
    if host and not host.startswith("/") and not is_this_machine(host):
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = Path("/proc", str(cursor.fetchone()[0]))
    try:
        if (backend / "comm").read_text().strip() != "postgres":
            return None  # in another container, which counts its processes for itself
        return pwd.getpwuid(backend.stat().st_uid).pw_name
    except (OSError, KeyError):
        return None


def warehouse() -> Iterator[Finding]:
    """Whether the warehouse lets in only who knows the password."""
    values = connection.settings_dict
    host = str(values["HOST"])
    if not host or host.startswith("/"):
        return  # over a socket the server knows the account
    try:
        psycopg.connect(
            host=host,
            port=values["PORT"] or None,
            user=values["USER"],
            dbname=values["NAME"],
            require_auth="none",
            connect_timeout=_PATIENCE_S,
        ).close()
    except psycopg.Error:
        yield True, _("asks for a password")
    else:
        yield False, _("lets anybody in who reaches it: set scram-sha-256 for its network lines in pg_hba.conf")


def queue() -> Iterator[Finding]:
    """Whether Redis lets in only who knows the password: a message in it is code in the worker."""
    url = settings.CELERY_BROKER_URL
    if is_amqp(url):
        yield _amqp()
        return
    if url.startswith("unix:"):
        return  # over a socket its folder decides
    url = redis_url(url, settings.TEITEN_REDIS_URL)
    try:
        client(url, with_password=False, socket_connect_timeout=_PATIENCE_S).ping()
    except redis.AuthenticationError:
        yield True, _("asks for a password")
    except redis.RedisError as error:
        yield False, _("cannot be reached: {error}. Start it, or set TEITEN_REDIS_URL.", error=str(error))
    else:
        yield False, _("lets anybody in who reaches it: set requirepass, and TEITEN_REDIS_URL to redis://:password@…")


def _amqp() -> Finding:
    try:
        tasks.require_broker(_PATIENCE_S)
    except TeitenError as error:
        return False, _("cannot be reached: {error}. Start it, or set TEITEN_BROKER_URL.", error=error.why)
    return True, _("messages wait in the server of TEITEN_BROKER_URL")
