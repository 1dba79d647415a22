"""The commands of docs/operations.md under *With systemd*, carried out in a Debian that systemd-nspawn boots."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bootstrap.errors import BootstrapError, say
from bootstrap.places import CHECKOUT
from tests.deployment import chroot
from tests.deployment.documented import blocks

UNITS = ("teiten-web", "teiten-worker", "teiten-control", "teiten-beat")
PAGES = "http://127.0.0.1:8720"
_PATIENCE_S = 900.0  # static files are compressed at each start
_REPOSITORY = "/srv/teiten.git"
# What a person does in an editor; `editor` is the name that Debian gives whatever there is.
_EDITOR = """#!/bin/sh
exec sed -i -e "s/^TEITEN_SECRET_KEY=.*/TEITEN_SECRET_KEY=$(openssl rand -hex 32)/" -e 's/:PASSWORD@/:SECRET@/' "$1"
"""


@dataclass(frozen=True)
class Booted:
    """A Debian that has booted. process: its first one, as this machine counts."""

    process: int

    def run(self, *words: str, text: str = "", patience_s: float = _PATIENCE_S) -> subprocess.CompletedProcess[str]:
        """Run a command in it, as root, with no terminal."""
        inside = ["nsenter", f"--target={self.process}", "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"]
        environment = ["env", "--ignore-environment", f"PATH={chroot.PATH}", "HOME=/root", "--chdir=/root"]
        return subprocess.run(
            [*inside, "setsid", "--wait", *environment, *words],
            input=text,
            capture_output=True,
            text=True,
            timeout=patience_s,
        )

    def require(self, *words: str, text: str = "") -> str:
        """Run a command; return its output. Raises BootstrapError."""
        say(f"$ {' '.join(words)[:160]}")
        result = self.run(*words, text=text)
        if result.returncode != 0:
            journal = self.run("journalctl", "--no-pager", "--lines=60").stdout
            why = f"{result.stdout}\n{result.stderr}\n{journal}"
            raise BootstrapError(f"`{' '.join(words)[:300]}` ended with {result.returncode}.", why=why)
        return result.stdout

    def states(self, units: Sequence[str]) -> set[str]:
        return set(self.run("systemctl", "is-active", *units).stdout.split())


def check(folder: Path, base: Path) -> None:
    """Install Teiten by the documented commands, start it, look at it, stop it. Raises BootstrapError."""
    install, member = blocks("With systemd")
    first = next(number for number, command in enumerate(install) if command.startswith("runuser"))
    root, secret = folder / "systemd", secrets.token_hex(16)
    _prepare(root, base, secret)
    say("Installing Teiten …")
    chroot.run_inside(root, _script(install[:first], {"REPOSITORY": _REPOSITORY}), {})
    with _booting(root) as debian:
        words = _script(install[first:], {"PASSWORD": secret})
        debian.require("sh", "-c", f"cd /opt/teiten && {words}", text=f"{secret}\n{secret}\n")  # asked for twice
        _require_states(debian, {"active"})
        _look(debian)
        say(_managed(debian, member[0], "member you --admin", text=f"{secret}\n{secret}\n"))
        say(_managed(debian, member[0], "doctor --part workers --part clocks --part 'static files' --part proxies"))
        debian.require("systemctl", "stop", "teiten-*", "teiten.target")
        if debian.states(UNITS) != {"inactive"}:
            raise BootstrapError("Units are there after their stop.", why=debian.run("systemctl", "status").stdout)
        debian.require("systemctl", "start", "teiten.target")
        _require_states(debian, {"active"})
        _look(debian)


def _prepare(root: Path, base: Path, secret: str) -> None:
    """Make a Debian that can boot, with this checkout's last commit where it is cloned from."""
    say(f"Making a Debian that boots in {root} …")
    if root.exists():
        shutil.rmtree(root)
    chroot.copy_base(base, root)
    packages = "systemd-sysv dbus curl openssl"
    chroot.run_inside(root, f"apt-get update && apt-get install -y --no-install-recommends {packages}", {})
    (root / "etc" / "apt" / "apt.conf.d" / "90assume-yes").write_text('APT::Get::Assume-Yes "true";\n')
    editor = root / "usr" / "local" / "bin" / "editor"
    editor.write_text(_EDITOR.replace("SECRET@", f"{secret}@"))
    editor.chmod(0o755)
    chroot.run_outside("git", "clone", "--quiet", "--bare", str(CHECKOUT), f"{root}{_REPOSITORY}")


def _script(commands: Sequence[str], values: Mapping[str, str]) -> str:
    text = "\n".join(["set -e", *commands])
    for word, value in values.items():
        text = text.replace(word, value)
    return text


@contextmanager
def _booting(root: Path) -> Iterator[Booted]:
    """Boot it in a network of its own, until the block ends; then it is shut down."""
    say("Booting it …")
    words = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "--boot"]
    with (root.parent / "boot.log").open("wb") as output:
        nspawn = subprocess.Popen(
            [*words, f"--directory={root}"], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            debian = Booted(_first_process(nspawn))
            state = debian.run("systemctl", "is-system-running", "--wait").stdout.strip()
            if state != "running":
                failed = debian.run("systemctl", "--failed", "--no-pager").stdout
                raise BootstrapError(f"The Debian is {state}.", where="systemd", why=failed)
            yield debian
            debian.run("systemctl", "poweroff")
            nspawn.wait(_PATIENCE_S)
        finally:
            nspawn.kill()
            nspawn.wait()


def _first_process(nspawn: subprocess.Popen[bytes]) -> int:
    """Return the process that systemd-nspawn has started, once it has booted so far that it answers."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and nspawn.poll() is None:
        for pid in Path(f"/proc/{nspawn.pid}/task/{nspawn.pid}/children").read_text().split():
            if Booted(int(pid)).run("systemctl", "is-system-running").stdout.strip() not in ("", "offline"):
                return int(pid)
        time.sleep(0.5)
    raise BootstrapError("The Debian does not boot.", where="systemd-nspawn", todo="Look at boot.log: make it --keep.")


def _require_states(debian: Booted, wanted: set[str]) -> None:
    if (found := debian.states(UNITS)) != wanted:
        status = debian.run("systemctl", "--no-pager", "status", *UNITS).stdout
        raise BootstrapError(f"The units are {found}, and not {wanted}.", where="systemd", why=status)


def _look(debian: Booted) -> None:
    """Ask the proxy until the web server answers."""
    words = ["--silent", "--show-error", "--fail", "--retry", "60", "--retry-delay", "1", "--retry-all-errors"]
    answer = debian.require("curl", *words, "--header", "Host: localhost", f"{PAGES}/readyz")
    if '"status": "ok"' not in answer:
        raise BootstrapError("Teiten is not ready.", where="/readyz", why=answer)


def _managed(debian: Booted, command: str, words: str, text: str = "") -> str:
    """Run manage.py with other words, and with pipes where the documented command has a terminal."""
    before, name, _ = command.partition("manage.py ")
    return debian.require("sh", "-ec", f"{before.replace('--pty', '--pipe')}{name}{words}", text=text)
