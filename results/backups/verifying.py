"""Whether a backup is whole: every file with the checksum that it was written with."""

from __future__ import annotations

from pathlib import Path

from results.backups.manifest import CHECKSUMS, DUMP, Manifest, listed_files, read_manifest
from results.bundle_files import checksum
from results.domain.errors import BackupError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import ngettext_lazy

_SHOWN = 5


def verify(folder: Path) -> Manifest:
    """Read every file of a backup, and return its manifest.

    Raises BackupError that names the first of the files that are missing or damaged; OSError where the disk fails.
    """
    manifest = read_manifest(folder)
    damaged: list[str] = []
    if not _is_as_stored(folder / CHECKSUMS, manifest.checksums):
        raise _damaged(folder, [CHECKSUMS], 1)
    files = bad = 0
    has_dump = False
    for sha256, name in listed_files(folder):
        files += 1
        has_dump |= name == DUMP
        if not _is_as_stored(folder / name, sha256):
            bad += 1
            damaged += [name] if bad <= _SHOWN else []
    if bad:
        raise _damaged(folder, damaged, bad)
    if files != manifest.files or not has_dump:
        raise BackupError(
            _("The backup does not list what its manifest counts."),
            where=str(folder / CHECKSUMS),
            why=_("It names {count} files of {all}.", count=files, all=manifest.files)
            if has_dump
            else _("It names {count} files of {all}, and no {dump}.", count=files, all=manifest.files, dump=DUMP),
            todo=_("Use another backup."),
        )
    return manifest


def _is_as_stored(path: Path, sha256: str) -> bool:
    try:
        return checksum(path) == sha256
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return False


def _damaged(folder: Path, names: list[str], count: int) -> BackupError:
    listed: str = ", ".join(names)
    if count > len(names):
        listed = _("{names} and {count} more", names=listed, count=count - len(names))
    return BackupError(
        ngettext_lazy(
            "{number:,} file of the backup is missing or damaged.",
            "{number:,} files of the backup are missing or damaged.",
            count,
        ),
        where=str(folder),
        why=_("{names}: not there, or not with the checksum that it was written with.", names=listed),
        todo=_("Copy the backup again from where it was taken, or use another one."),
    )
