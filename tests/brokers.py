"""Servers that messages wait in, on loopback and on free ports: Redis with a replica and a Sentinel, and RabbitMQ."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kombu import Connection

from bootstrap import ports, sweep
from bootstrap.system import redis_server
from tests.faults.processes import Program, free_port, listens
from webapp.queue_servers import client

PASSWORD = "of-the-tests"
PATIENCE_S = 240
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")  # that in PATH takes the system's names and folders


@dataclass
class Queue:
    """Two Redis, of which one is the primary, and a Sentinel that watches them. url: for TEITEN_REDIS_URL."""

    url: str
    servers: dict[int, subprocess.Popen[bytes]]
    primary: int

    def strike_primary(self, how: signal.Signals) -> None:
        """Kill or pause it, and wait until the Sentinel names the other one."""
        self.servers[self.primary].send_signal(how)
        until(lambda: self.primary_now() != self.primary)

    def primary_now(self) -> int:
        pool: Any = client(self.url, socket_timeout=2).connection_pool
        return int(pool.get_master_address()[1])


@contextmanager
def watched_redis(folder: Path) -> Iterator[Queue]:
    """Redis as its Sentinel watches it; the first Sentinel that the URL names is away."""
    first, second, sentinel = free_port(), free_port(), free_port()
    common = ("--bind", ports.HOST, "--save", "", "--requirepass", PASSWORD, "--masterauth", PASSWORD)
    config = folder / "sentinel.conf"
    watched = [
        f"port {sentinel}",
        f"bind {ports.HOST}",
        f"sentinel monitor teiten {ports.HOST} {first} 1",
        f"sentinel auth-pass teiten {PASSWORD}",
        "sentinel down-after-milliseconds teiten 1000",
        "sentinel failover-timeout teiten 5000",
    ]
    config.write_text("\n".join(watched) + "\n")
    with ExitStack() as stack:
        servers = {
            port: stack.enter_context(_redis_at(folder, "--port", str(port), *common, *more))
            for port, more in ((first, ()), (second, ("--replicaof", f"{ports.HOST} {first}")))
        }
        for port in servers:
            until(lambda port=port: _redis_of(port).ping())
        until(lambda: _redis_of(second).info("replication")["master_link_status"] == "up")
        stack.enter_context(_redis_at(folder, str(config), "--sentinel"))
        url = f"sentinel://:{PASSWORD}@{ports.HOST}:1,{ports.HOST}:{sentinel}/0?master=teiten"
        until(lambda: client(url, socket_timeout=2).ping())
        until(lambda: _redis_of(sentinel, password=None).sentinel_slaves("teiten"))
        yield Queue(url, servers, first)


@dataclass
class RabbitMQ:
    """One that runs. url: for TEITEN_BROKER_URL."""

    url: str
    server: Program


@contextmanager
def rabbitmq(folder: Path) -> Iterator[RabbitMQ]:
    """RabbitMQ with a node, a data folder and a port mapper of its own; killed in the end."""
    port, mapper, between_nodes = free_port(), free_port(), free_port()
    config = folder / "rabbitmq.conf"
    config.write_text(f"default_user = teiten\ndefault_pass = {PASSWORD}\nlog.console = true\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),  # of the cookie
        "LC_ALL": "C.UTF-8",
        "ERL_EPMD_PORT": str(mapper),
        "ERL_EPMD_ADDRESS": ports.HOST,
        "RABBITMQ_NODENAME": "teiten-tests@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": ports.HOST,
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(between_nodes),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_CONFIG_FILE": str(config),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        sweep.TOKEN: os.environ.get(sweep.TOKEN, ""),
        "detached": "true",  # the server in place of a shell that starts it
    }
    url = f"amqp://teiten:{PASSWORD}@{ports.HOST}:{port}//"

    def part(name: str, argv: Sequence[str], is_ready: Callable[[], object]) -> Program:
        return Program(name, argv, environment, lambda _: bool(is_ready()), folder / f"{name}.log", str(folder))

    # RabbitMQ would start one that outlives it.
    epmd = part("epmd", ["epmd", "-port", str(mapper), "-address", ports.HOST], lambda: listens(mapper))
    server = part("rabbitmq", [str(RABBITMQ)], lambda: _takes_messages(url))
    with ExitStack() as stack:
        for one in (epmd, server):
            stack.callback(one.kill)
            one.start()
        yield RabbitMQ(url, server)


def _takes_messages(url: str) -> bool:
    with Connection(url, connect_timeout=2) as broker:
        try:
            broker.connect()
        except (*broker.connection_errors, OSError):
            return False
        return True


@contextmanager
def _redis_at(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    first = () if words[0].endswith(".conf") else ("--dir", str(folder))
    with subprocess.Popen([redis_server(), *words, *first], stdout=subprocess.DEVNULL) as server:
        try:
            yield server
        finally:
            server.kill()


def _redis_of(port: int, password: str | None = PASSWORD) -> Any:
    return client(f"redis://{ports.HOST}:{port}/0", password=password, socket_timeout=2)


def until(is_true: Callable[[], Any]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    last: object = None
    while time.monotonic() < deadline_s:
        try:
            if is_true():
                return
        except Exception as error:  # noqa: BLE001  (servers that start or move)
            last = error
        time.sleep(0.1)
    raise AssertionError(f"waited in vain: {last}")
