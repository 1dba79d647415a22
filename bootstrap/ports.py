"""Loopback ports: find free ones, remember those chosen before, name the process that has one."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bootstrap import processes
from bootstrap.errors import BootstrapError
from bootstrap.places import write_file

HOST = "127.0.0.1"
WEB_PORT = 8720  # unless TEITEN_PORT says otherwise
_WEB = ("TEITEN_PORT", WEB_PORT, "Teiten")
_INNER = (
    ("TEITEN_DB_PORT", 8721, "the warehouse"),
    ("TEITEN_REDIS_PORT", 8722, "Redis"),
    ("TEITEN_SSH_PORT", 8723, "sshd"),
    ("TEITEN_WEB_PORT", 8724, "the web server behind the proxy"),
)
# Below the range from which the kernel takes ports for outgoing connections: a free one stays free.
_SEARCH = range(8725, 8900)


@dataclass(frozen=True)
class Ports:
    """The inner services' ports."""

    warehouse: int
    redis: int
    sshd: int
    web: int


def web(environ: Mapping[str, str]) -> int:
    """Return the web server's port. Raises BootstrapError where it is taken: no other port is chosen silently."""
    name, default, use = _WEB
    port = _number(environ, name) or default
    _refuse_taken(port, name, use)
    return port


def inner(environ: Mapping[str, str], file: Path) -> Ports:
    """Return the ports set in the environment, else those remembered in the file, else free ones; remember them.

    Raises BootstrapError where one that was set is taken.
    """
    remembered = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    requested = {name: _number(environ, name) for name, _, _ in _INNER}
    for name, _, use in _INNER:
        if requested[name]:
            _refuse_taken(requested[name], name, use)
    preferred = {name: requested[name] or remembered.get(name, default) for name, default, _ in _INNER}
    ports: dict[str, int] = {}
    for name, port in preferred.items():
        taken = {*ports.values(), *(p for n, p in preferred.items() if n != name)}
        # not one after the other: two that start at once would find the same one free, and one of them fail
        ports[name] = _first_free((port, *random.sample(_SEARCH, len(_SEARCH))), taken)
    if ports != remembered:
        write_file(file, json.dumps(ports, indent=1) + "\n")
    return Ports(*ports.values())


def is_free(port: int) -> bool:
    """Return whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def accepts(port: int) -> bool:
    """Return whether something answers on this loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def _number(environ: Mapping[str, str], name: str) -> int:
    text = environ.get(name, "").strip()
    if text and not (text.isdigit() and 0 < int(text) < 65536):
        raise BootstrapError(f"{text!r} is no port.", where=name, todo="Set it to a number from 1 to 65535.")
    return int(text or 0)


def _first_free(candidates: tuple[int, ...], taken: set[int]) -> int:
    for port in candidates:
        if port not in taken and is_free(port):
            return port
    raise BootstrapError(
        f"No port from {_SEARCH.start} to {_SEARCH.stop - 1} is free.",
        where="ports",
        todo="Set TEITEN_DB_PORT, TEITEN_REDIS_PORT, TEITEN_SSH_PORT and TEITEN_WEB_PORT.",
    )


def _refuse_taken(port: int, name: str, use: str) -> None:
    if not is_free(port):
        raise BootstrapError(
            f"Port {port} of {use} is taken{_holder(port)}.",
            where=name,
            todo=f"Stop that process, or choose another port: make demo {name}=NUMBER",
        )


def _holder(port: int) -> str:
    """Return ' by process 12 (nginx)', or '' where this account may not see that."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    for process in processes.all_processes():
        if sockets & processes.descriptors(process.pid):
            return f" by process {process.pid} ({processes.command(process.pid)[:60]})"
    return ""


def _listening_inodes(port: int) -> list[str]:
    """Return the inodes of the sockets that listen on this port (state 0A in /proc/net/tcp)."""
    rows = [row.split() for name in ("tcp", "tcp6") for row in _lines(f"/proc/net/{name}")[1:]]
    return [row[9] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port]


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []
