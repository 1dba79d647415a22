"""What a backup says of itself: `manifest.json`, which is written last, and `sha256sums.txt`, for which it vouches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from results.domain.dataclass_json import ShapeError, from_json
from results.domain.errors import BackupError
from results.domain.messages import gettext_lazy as _

FORMAT = 1
MANIFEST, CHECKSUMS, DUMP, BUNDLES, MISSING = (
    "manifest.json",
    "sha256sums.txt",
    "warehouse.dump",
    "bundles",
    "missing.txt",
)
_LINE = re.compile(r"([0-9a-f]{64})  ([^\n\r\0]+)\n")
_ANOTHER = _("Take another backup: this file was changed, or written by something else.")


@dataclass(frozen=True)
class Counts:
    """How much the warehouse holds. bundles: archives of raw files that it names."""

    runs: int
    trials: int
    measurements: int
    bundles: int


@dataclass(frozen=True)
class Manifest:
    """A whole backup.

    teiten: version of the Teiten that wrote it
    created_at: the moment whose state of the warehouse it holds
    postgresql: version of the warehouse's server, 180001
    pg_dump: version of the program that wrote the dump, in its own words
    migrations: app → the last migration of its tables
    missing: of the bundles, those that were not there or not as stored; `missing.txt` names them
    files: how many `sha256sums.txt` lists
    size_bytes: of these files together
    checksums: SHA-256 of `sha256sums.txt`, hex
    """

    format: int
    teiten: str
    created_at: datetime
    postgresql: int
    pg_dump: str
    migrations: Mapping[str, str]
    counts: Counts
    missing: int
    files: int
    size_bytes: int
    checksums: str

    def to_json(self) -> str:
        return json.dumps(asdict(self) | {"created_at": self.created_at.isoformat()}, indent=1) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a backup. Raises BackupError for a folder that holds no whole one, and for one of a newer
    Teiten."""
    path = folder / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BackupError(
            _("There is no whole backup here."),
            where=str(folder),
            why=_("It has no {file}, which is written last.", file=MANIFEST),
            todo=_("Name the folder that manage.py backup made; take another backup where this one was interrupted."),
        ) from error
    except (OSError, ValueError) as error:
        raise BackupError(_("The manifest cannot be read."), where=str(path), why=str(error), todo=_ANOTHER) from error
    if isinstance(data, dict) and isinstance(data.get("format"), int) and data["format"] > FORMAT:
        raise BackupError(
            _("This backup was written by a newer Teiten, {version}.", version=str(data.get("teiten"))),
            where=str(path),
            why=_("Its format is {format}; this Teiten reads up to {most}.", format=data["format"], most=FORMAT),
            todo=_("Use that version of Teiten."),
        )
    try:
        return from_json(Manifest, data)
    except ShapeError as error:
        raise BackupError(_("The manifest cannot be read."), where=str(path), why=str(error), todo=_ANOTHER) from error


def listed_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the checksum and the path, relative to the backup, of each file of a backup. Raises BackupError for a line
    that is none, and for a path that leads out of the backup."""
    path = folder / CHECKSUMS
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            match = _LINE.fullmatch(line)
            if match is None or not _is_inside(match[2]):
                raise BackupError(_("This line names no file of the backup."), where=f"{path}:{number}", todo=_ANOTHER)
            yield match[1], match[2]


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and parts[0] in (DUMP, BUNDLES, MISSING) and ".." not in parts
