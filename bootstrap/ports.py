"""Loopback ports: which are free, which were chosen before, who has the one that is wanted."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bootstrap import processes
from bootstrap.errors import BootstrapError
from bootstrap.places import written

HOST = "127.0.0.1"
WEB_PORT = 8720  # unless TEITEN_PORT says otherwise
_WEB = ("TEITEN_PORT", WEB_PORT, "the web server")
_INNER = (
    ("TEITEN_DB_PORT", 8721, "the warehouse"),
    ("TEITEN_REDIS_PORT", 8722, "Redis"),
    ("TEITEN_SSH_PORT", 8723, "sshd"),
)
# Below the range from which the kernel takes ports for outgoing connections: a free one stays free.
_SEARCH = range(8724, 8900)


@dataclass(frozen=True)
class Ports:
    """The inner services' ports."""

    warehouse: int
    redis: int
    sshd: int


def web(environ: Mapping[str, str]) -> int:
    """The web server's port: never silently another than the one expected. Raises BootstrapError when taken."""
    name, default, use = _WEB
    port = _number(environ, name) or default
    _refuse_taken(port, name, use)
    return port


def inner(environ: Mapping[str, str], memory: Path) -> Ports:
    """Ports as set in the environment, else as remembered in the file, else the first free ones; remembers them.

    Raises BootstrapError when one that was set is taken."""
    remembered = json.loads(memory.read_text(encoding="utf-8")) if memory.exists() else {}
    wanted = {name: _number(environ, name) for name, _, _ in _INNER}
    for name, _, use in _INNER:
        if wanted[name]:
            _refuse_taken(wanted[name], name, use)
    preferred = {name: wanted[name] or remembered.get(name, default) for name, default, _ in _INNER}
    chosen: dict[str, int] = {}
    for name, port in preferred.items():
        others = {*chosen.values(), *(p for n, p in preferred.items() if n != name)}
        chosen[name] = _first_free((port, *_SEARCH), others)
    if chosen != remembered:
        written(memory, json.dumps(chosen, indent=1) + "\n")
    return Ports(*chosen.values())


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def accepts(port: int) -> bool:
    """Whether something answers on this loopback port."""
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
        todo="Set TEITEN_DB_PORT, TEITEN_REDIS_PORT and TEITEN_SSH_PORT.",
    )


def _refuse_taken(port: int, name: str, use: str) -> None:
    if not is_free(port):
        raise BootstrapError(
            f"Port {port}, wanted for {use}, is taken{_holder(port)}.",
            where=name,
            todo=f"Stop that, or choose another port: make demo {name}=NUMBER",
        )


def _holder(port: int) -> str:
    """' by process 12 (nginx)', as far as this account may see it."""
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    for process in processes.every():
        if sockets & processes.descriptors(process.pid):
            return f" by process {process.pid} ({processes.command(process.pid)[:60]})"
    return ""


def _listening(port: int) -> list[str]:
    """Inodes of the sockets that listen on this port (state 0A in /proc/net/tcp)."""
    rows = [row.split() for name in ("tcp", "tcp6") for row in _lines(f"/proc/net/{name}")[1:]]
    return [row[9] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port]


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []
