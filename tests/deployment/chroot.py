"""Folders with a Debian of their own, and commands in them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootstrap.errors import BootstrapError, say

RELEASE = "bookworm"
_SOURCES = (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list"))
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PATH = "/opt/python/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def make_base(root: Path) -> None:
    """Make a Debian with Python as the images' bases have it, from where this machine has its packages.

    Raises BootstrapError."""
    sources = [str(path) for path in _SOURCES if path.is_file() and RELEASE in path.read_text(encoding="utf-8")][:1]
    settings = run_outside("apt-config", "dump").splitlines()
    options = [f"--aptopt={line}" for line in settings if line.startswith(("Acquire::Check", "Acquire::http"))]
    packages = "ca-certificates,python3,python3-venv"
    say(f"Making a Debian {RELEASE} in {root} …")
    words = ["--quiet", "--variant=minbase", f"--include={packages}", *options]
    run_outside("mmdebstrap", *words, RELEASE, str(root), *sources)
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    # What pip of this machine needs, the chroot's needs.
    shutil.copy(_CERTIFICATES, root / "opt" / "machine.crt")
    for file in (Path("/etc/pip.conf"), Path.home() / ".config" / "pip" / "pip.conf"):
        if file.is_file():
            shutil.copy(file, root / "etc" / "pip.conf")
    run_inside(root, "python3 -m venv /opt/python", {})


def copy_base(base: Path, root: Path) -> None:
    run_outside("cp", "--archive", str(base), str(root))


def run_outside(*words: str, text: str | None = None, cwd: Path | None = None) -> str:
    """Run a command of this machine; return its output. Raises BootstrapError."""
    result = subprocess.run(words, input=text, capture_output=True, text=True, cwd=cwd)
    if result.returncode != 0:
        why = (result.stderr + result.stdout).strip()[-3000:]
        raise BootstrapError(
            f"`{' '.join(words)[:300]}` ended with {result.returncode}.", where="deploy-check", why=why
        )
    return result.stdout


def run_inside(root: Path, script: str, environment: Mapping[str, str], user: str = "0:0", folder: str = "/") -> str:
    """Run a script of sh while an image is made; return its output. Raises BootstrapError."""
    inherited = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    inherited |= {name: value for name, value in os.environ.items() if name.startswith("PIP_INDEX")}
    inherited |= {"PIP_CERT": "/opt/machine.crt", "DEBIAN_FRONTEND": "noninteractive", "PATH": PATH, "HOME": "/root"}
    with_proc = f'mount -t proc proc "{root}/proc" && exec "$@"'
    command = [*entered(root, inherited | dict(environment), user, folder), "sh", "-c", script]
    return run_outside("unshare", "--mount", "sh", "-c", with_proc, "sh", *command)


def entered(root: Path, environment: Mapping[str, str], user: str, folder: str) -> list[str]:
    """Return the words before a command that run it in a folder of the chroot, with this environment alone, as an
    account that has no privilege and can get none, or as root with all."""
    uid, _, gid = user.partition(":")
    variables = [f"{name}={value}" for name, value in ({"PATH": PATH} | dict(environment)).items()]
    words = ["chroot", str(root)]
    if uid != "0":
        words += ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
        words += ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    return [*words, "env", "--ignore-environment", f"--chdir={folder}", *variables]


def mounting(root: Path, writable: Mapping[str, Path], memory: Sequence[str], read_only: Mapping[str, Path]) -> str:
    """Return lines of sh that lay a service's file system, in a mount namespace of its own.

    writable, read_only: path in the chroot → what is mounted there
    memory: paths in the chroot of file systems in memory
    """
    lines = ["set -e", f'mount --bind "{root}" "{root}"', f'mount -o remount,bind,ro "{root}"']
    lines += [f'mount -t proc proc "{root}/proc"', f'mount --rbind /dev "{root}/dev"']
    lines += [f'mount -t tmpfs -o mode=1777 tmpfs "{_place(root, path)}"' for path in memory]
    lines += [f'mount --bind "{source}" "{_place(root, path)}"' for path, source in writable.items()]
    for path, source in read_only.items():
        place = _place(root, path)
        lines += [f'mount --bind "{source}" "{place}"', f'mount -o remount,bind,ro "{place}"']
    return "\n".join(lines)


def _place(root: Path, path: str) -> Path:
    """Return where a path of the chroot is, its links followed as there."""
    return root / run_outside("chroot", str(root), "realpath", "-m", path).strip().lstrip("/")
