"""Whether a backup is whole: every file with the checksum that it was written with."""

from __future__ import annotations

from pathlib import Path

from results.backups.files import checksum
from results.backups.manifest import CHECKSUMS, DUMP, Manifest, listed_files, read_manifest
from results.domain.errors import BackupError
from results.domain.units import counted

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
            "The backup does not list what its manifest counts.",
            where=str(folder / CHECKSUMS),
            why=f"It names {files} files of {manifest.files}{'' if has_dump else f', and no {DUMP}'}.",
            todo="Use another backup.",
        )
    return manifest


def _is_as_stored(path: Path, sha256: str) -> bool:
    try:
        return checksum(path) == sha256
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return False


def _damaged(folder: Path, names: list[str], count: int) -> BackupError:
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return BackupError(
        f"{counted(count, 'file')} of the backup {'is' if count == 1 else 'are'} missing or damaged.",
        where=str(folder),
        why=f"{', '.join(names)}{more}: not there, or not with the checksum that it was written with.",
        todo="Copy the backup again from where it was taken, or use another one.",
    )
