"""Files of a backup: copied so that they are on the disk, and read in pieces."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_PIECE_BYTES = 1024 * 1024


def copy(source: Path, target: Path) -> str:
    """Copy a file to where there is none, onto the disk; return the SHA-256 of what was copied. Raises OSError."""
    digest = hashlib.sha256()
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as content, target.open("xb") as copied:
        while piece := content.read(_PIECE_BYTES):
            digest.update(piece)
            copied.write(piece)
        copied.flush()
        os.fsync(copied.fileno())
    return digest.hexdigest()


def write(path: Path, text: str) -> None:
    """Write a new file onto the disk. Raises OSError."""
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Have a file or folder on the disk; of a folder its entries, not their content. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folders(root: Path) -> None:
    """Have the entries of a folder and of all below it on the disk. Raises OSError."""
    for folder, _, _ in os.walk(root):
        sync(Path(folder))
