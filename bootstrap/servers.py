"""The three servers that everything stands on, each as a Service: warehouse (PostgreSQL), Redis, sshd."""

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
from bootstrap.account import Account
from bootstrap.errors import BootstrapError, say
from bootstrap.places import Places, written
from bootstrap.ports import HOST, Ports

DATABASE = "teiten"


@dataclass(frozen=True)
class Service:
    """How to start one server, how to know that it is ready, and how to ask it to stop."""

    name: str
    argv: tuple[str, ...]
    port: int
    ready: Callable[[], bool]
    account: Account | None = None
    stop: signal.Signals = signal.SIGTERM


def all_of(places: Places, account: Account, ports: Ports, durable: bool) -> list[Service]:
    """Prepares the three and says how to start them, in order. Raises BootstrapError."""
    return [
        warehouse(places, account, ports.warehouse, durable),
        redis(places, ports.redis),
        sshd(places, account, ports.sshd),
    ]


def secret(places: Places, name: str) -> str:
    """A password of this state folder, made at its first use."""
    path = places.secrets / name
    if not path.exists():
        written(path, secrets.token_urlsafe(32), 0o600)
    return path.read_text(encoding="utf-8")


def warehouse(places: Places, account: Account, port: int, durable: bool) -> Service:
    """The embedded PostgreSQL 18, as the unprivileged account, reachable over loopback with a password only."""
    programs = agent.server_bin(places)
    data = places.warehouse / "data"
    if not data.exists():
        _initialise(places, account, programs, data)
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
    """Redis without a disk copy: the warehouse holds what must not be lost."""
    password = secret(places, "redis_password")
    lines = [f"bind {HOST}", f"port {port}", f"requirepass {password}", f'dir "{places.redis}"']
    lines += ['save ""', "appendonly no", "daemonize no", "databases 16"]
    config = places.redis / "redis.conf"
    written(config, "\n".join(lines) + "\n", 0o600)
    question = f"AUTH {password}\r\nPING\r\n".encode()
    return Service(
        "redis",
        (system.redis_server(), str(config)),
        port,
        lambda: b"+PONG" in _ask(port, question),
    )


def sshd(places: Places, account: Account, port: int) -> Service:
    """An sshd of our own on loopback: our host key, one account, public key only."""
    program = system.program("sshd")
    if program is None:
        raise BootstrapError("There is no sshd.", where="system", todo="Run python3 -m bootstrap system.")
    root = os.geteuid() == 0
    if root:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # its own condition for starting as root
    settings = {
        "Port": str(port),
        "ListenAddress": HOST,
        "HostKey": _quoted(places.secrets / "host_key"),
        "AuthorizedKeysFile": _quoted(places.sshd / "authorized_keys"),
        "PidFile": "none",
        # Without PAM sshd refuses an account that has no password set.
        "UsePAM": "yes" if root else "no",
        "StrictModes": "no",
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
    config = places.sshd / "sshd_config"
    config.write_text("".join(f"{name} {value}\n" for name, value in settings.items()), encoding="utf-8")
    return Service("sshd", (program, "-D", "-e", "-f", str(config)), port, lambda: _ask(port).startswith(b"SSH-2.0"))


def database_url(places: Places, port: int) -> str:
    return f"postgresql://{DATABASE}:{secret(places, 'warehouse_password')}@{HOST}:{port}/{DATABASE}"


def redis_url(places: Places, port: int) -> str:
    return f"redis://:{secret(places, 'redis_password')}@{HOST}:{port}/0"


def _initialise(places: Places, account: Account, programs: Path, data: Path) -> None:
    """A cluster with the database in it, under its name only when complete."""
    say("Making the warehouse …")
    fresh, password_file = data.with_name("data.new"), data.with_name("password")
    if fresh.exists():
        shutil.rmtree(fresh)
    password_file.touch(mode=0o600)
    password_file.write_text(secret(places, "warehouse_password") + "\n", encoding="utf-8")
    account.own(password_file, 0o600)
    words = [str(programs / "initdb"), "-D", str(fresh), "-U", DATABASE, "--pwfile", str(password_file)]
    words += ["--auth=scram-sha-256", "--no-locale", "--encoding=UTF8"]
    _call(words, account)
    password_file.unlink()
    single = [str(programs / "postgres"), "--single", "-D", str(fresh), "-c", "exit_on_error=on", "postgres"]
    _call(single, account, f"CREATE DATABASE {DATABASE}\n")
    fresh.rename(data)


def _call(words: list[str], account: Account, text: str = "") -> None:
    plain = {"PATH": os.defpath, "LC_ALL": "C"}
    done = subprocess.run(words, input=text, capture_output=True, text=True, cwd="/", env=plain, **account.spawn)
    if done.returncode != 0:
        raise BootstrapError(
            f"{Path(words[0]).name} failed.", where="warehouse", why=(done.stderr or done.stdout).strip()[-2000:]
        )


def _ask(port: int, question: bytes = b"") -> bytes:
    """What the server says first, or last after the question; b'' when it is not there."""
    answer = b""
    try:
        with socket.create_connection((HOST, port), timeout=2) as line:
            line.sendall(question)
            while not answer.endswith(b"\n") or answer.count(b"\n") < question.count(b"\n"):
                chunk = line.recv(256)
                if not chunk:
                    break
                answer += chunk
    except OSError:
        return b""
    return answer


def _quoted(path: Path) -> str:
    """A path for sshd_config, where % begins a token and blanks end a word."""
    return '"' + str(path).replace("%", "%%") + '"'
