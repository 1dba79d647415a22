"""Write the bundle of an attempt. Implements `workers.interfaces.Recorder`."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from results.domain.errors import IngestError
from results.domain.measurement.parsed_trial import Check, Gap, RawFile
from results.domain.packing import pack
from workers.bundle.manifest import FILE, Manifest

UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Archived:
    """A finished bundle.

    path: relative to the bundle folder."""

    path: str
    sha256: str
    size_bytes: int


class BundleWriter:
    """Collects one attempt's raw files in a directory, whatever fails; `finish` makes the archive."""

    def __init__(self, root: Path, trial_key: str, attempt: int) -> None:
        self.root = root
        self.directory = root / UNFINISHED / f"{trial_key.replace('/', '-')}-{attempt}"
        self.archive = PurePosixPath(f"{trial_key}-{attempt}.tar.gz")
        self.notes: dict[str, Any] = {}
        self.checks: list[Check] = []
        self.gaps: list[Gap] = []
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)

    def add(self, path: str, content: bytes | str) -> None:
        """Add a raw file; path relative, with '/'. Raises IngestError where the path leaves the bundle."""
        parts = PurePosixPath(path).parts
        if not parts or ".." in parts or path.startswith("/") or path == FILE:
            raise IngestError(f"{path!r} is not a path inside a bundle.", where=str(self.archive))
        target = self.directory.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def note(self, name: str, value: Any) -> None:
        self.notes[name] = value

    def check(self, check: Check) -> None:
        self.checks.append(check)

    def gap(self, source: str, node: str, reason: str) -> None:
        self.gaps.append(Gap(source, node, reason))

    def finish(self, manifest: Manifest) -> Archived:
        """Write the manifest and the archive, and remove the directory. The same content gives the same bytes."""
        paths = sorted(path for path in self.directory.rglob("*") if path.is_file())
        content = {path.relative_to(self.directory).as_posix(): path.read_bytes() for path in paths}
        files = tuple(RawFile(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in content.items())
        complete = replace(manifest, files=files, checks=tuple(self.checks), gaps=tuple(self.gaps), notes=self.notes)
        data = pack({FILE: complete.to_json().encode(), **content})
        target = self.root / self.archive
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        partial.write_bytes(data)
        partial.rename(target)
        shutil.rmtree(self.directory)
        return Archived(str(self.archive), hashlib.sha256(data).hexdigest(), len(data))


def discard_unfinished(root: Path) -> None:
    """Remove the files of attempts that were never archived. Only where none of these attempts is alive."""
    if (root / UNFINISHED).exists():
        shutil.rmtree(root / UNFINISHED)


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, hex. Raises IngestError where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        todo = "Restore it from a backup."
        raise IngestError("The archive cannot be read.", where=str(path), why=str(error), todo=todo) from error
