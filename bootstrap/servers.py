"""The three servers of the demo and the tests, each as a Service: warehouse (PostgreSQL), Redis, sshd."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bootstrap import agent, system
from bootstrap.account import Account, Accounts
from bootstrap.errors import BootstrapError, say
from bootstrap.places import Places, exposed_folder, write_file
from bootstrap.ports import HOST, Ports

DATABASE = "teiten"


@dataclass(frozen=True)
class Service:
    """How to start one server, how to see that it is ready, and how to stop it.

    account: that runs it; None for the present one
    stop: the signal for a fast shutdown
    """

    name: str
    argv: tuple[str, ...]
    port: int
    ready: Callable[[], bool]
    account: Account | None = None
    stop: signal.Signals = signal.SIGTERM


def all_of(places: Places, accounts: Accounts, ports: Ports, durable: bool) -> list[Service]:
    """Prepare the three; return them in the order of their start. Raises BootstrapError."""
    return [
        warehouse(places, accounts.warehouse, ports.warehouse, durable),
        redis(places, ports.redis),
        sshd(places, accounts.agent, ports.sshd, forwards=not durable),
    ]


def secret(places: Places, name: str, least: int = 0) -> str:
    """Return a password of this state folder, made at its first use; anew where it is shorter than is needed now."""
    path = places.secrets / name
    if not path.exists() or len(path.read_text(encoding="utf-8")) < least:
        write_file(path, secrets.token_urlsafe(48), 0o600)
    return path.read_text(encoding="utf-8")


def warehouse(places: Places, account: Account, port: int, durable: bool) -> Service:
    """Prepare the embedded PostgreSQL 18, for the unprivileged account, reached over loopback with a password only."""
    programs = agent.server_bin(places)
    data = places.warehouse / "data"
    if not data.exists():
        _make_cluster(places, account, programs, data)
    settings = {
        "listen_addresses": HOST,
        "port": str(port),
        "unix_socket_directories": "",
        "max_connections": "100",
        "shared_buffers": "128MB",
        "synchronous_commit": "on" if durable else "off",
    }
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    probe = [str(programs / "pg_isready"), "-q", "-h", HOST, "-p", str(port), "-t", "2"]
    return Service(
        "warehouse",
        (str(programs / "postgres"), "-D", str(data), *words),
        port,
        lambda: subprocess.run(probe, capture_output=True).returncode == 0,
        account,
        signal.SIGINT,  # PostgreSQL's fast shutdown: SIGTERM would wait for every client
    )


def redis(places: Places, port: int) -> Service:
    """Prepare Redis without files on disk: the warehouse holds what must not be lost."""
    password = secret(places, "redis_password")
    lines = [f"bind {HOST}", f"port {port}", f"requirepass {password}", f'dir "{places.redis}"']
    lines += ['save ""', "appendonly no", "daemonize no", "databases 16"]
    config = places.redis / "redis.conf"
    write_file(config, "\n".join(lines) + "\n", 0o600)
    request = f"AUTH {password}\r\nPING\r\n".encode()
    return Service(
        "redis",
        (system.redis_server(), str(config)),
        port,
        lambda: b"+PONG" in _exchange(port, request),
    )


def sshd(places: Places, account: Account, port: int, forwards: bool) -> Service:
    """Prepare an sshd on loopback with a host key of its own, for one account, with public keys only."""
    program = system.program("sshd")
    if program is None:
        raise BootstrapError("There is no sshd.", where="system", todo="Run python3 -m bootstrap system.")
    root = os.geteuid() == 0
    if root:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd requires it when started as root
    settings = {
        "Port": str(port),
        "ListenAddress": HOST,
        "HostKey": _quote(places.secrets / "host_key"),
        "AuthorizedKeysFile": _quote(places.sshd / "authorized_keys"),
        "PidFile": "none",
        # Without PAM sshd refuses an account that has no password set.
        "UsePAM": "yes" if root else "no",
        "StrictModes": "yes",
        "AllowTcpForwarding": "local" if forwards else "no",
        "AllowAgentForwarding": "no",
        "X11Forwarding": "no",
        "PermitTTY": "no",
        "PubkeyAuthentication": "yes",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "no",
        "AllowUsers": account.name,
        "MaxSessions": "100",
        "MaxStartups": "100",
        "UseDNS": "no",
        "PrintMotd": "no",
        "Subsystem": "sftp internal-sftp",
    }
    if exposed := exposed_folder(places.sshd, account):
        settings["StrictModes"] = "no"
        say(
            f"Other accounts may write in {exposed}, and so change who logs in as {account.name}: sshd cannot be strict"
        )
        say("about that. Set TEITEN_STATE to a folder that only you can write, with all folders above it.")
    config = places.sshd / "sshd_config"
    config.write_text("".join(f"{name} {value}\n" for name, value in settings.items()), encoding="utf-8")
    return Service(
        "sshd", (program, "-D", "-e", "-f", str(config)), port, lambda: _exchange(port).startswith(b"SSH-2.0")
    )


def database_url(places: Places, port: int) -> str:
    return f"postgresql://{DATABASE}:{secret(places, 'warehouse_password')}@{HOST}:{port}/{DATABASE}"


def redis_url(places: Places, port: int) -> str:
    return f"redis://:{secret(places, 'redis_password')}@{HOST}:{port}/0"


def _make_cluster(places: Places, account: Account, programs: Path, data: Path) -> None:
    """Make a cluster with the database; it gets its name only when it is complete."""
    say("Making the warehouse …")
    partial, password_file = data.with_name("data.new"), data.with_name("password")
    if partial.exists():
        shutil.rmtree(partial)
    password_file.touch(mode=0o600)
    password_file.write_text(secret(places, "warehouse_password") + "\n", encoding="utf-8")
    account.give(password_file, 0o600)
    words = [str(programs / "initdb"), "-D", str(partial), "-U", DATABASE, "--pwfile", str(password_file)]
    words += ["--auth=scram-sha-256", "--no-locale", "--encoding=UTF8"]
    _call(words, account)
    password_file.unlink()
    single = [str(programs / "postgres"), "--single", "-D", str(partial), "-c", "exit_on_error=on", "postgres"]
    _call(single, account, f"CREATE DATABASE {DATABASE}\n")
    partial.rename(data)


def _call(words: list[str], account: Account, text: str = "") -> None:
    environment = {"PATH": os.defpath, "LC_ALL": "C"}
    result = subprocess.run(
        words, input=text, capture_output=True, text=True, cwd="/", env=environment, **account.spawn
    )
    if result.returncode != 0:
        raise BootstrapError(
            f"{Path(words[0]).name} failed.", where="warehouse", why=(result.stderr or result.stdout).strip()[-2000:]
        )


def _exchange(port: int, request: bytes = b"") -> bytes:
    """Return the server's greeting, or its response to the request; b'' where it does not answer."""
    response = b""
    try:
        with socket.create_connection((HOST, port), timeout=2) as connection:
            connection.sendall(request)
            while not response.endswith(b"\n") or response.count(b"\n") < request.count(b"\n"):
                chunk = connection.recv(256)
                if not chunk:
                    break
                response += chunk
    except OSError:
        return b""
    return response


def _quote(path: Path) -> str:
    """Quote a path for sshd_config, where % begins a token and blanks end a word."""
    return '"' + str(path).replace("%", "%%") + '"'
