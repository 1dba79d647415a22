"""Write the bundle of an attempt. Implements `workers.interfaces.Recorder`."""

from __future__ import annotations

import hashlib
import io
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO, Any

from results.bundle_storage import UNFINISHED
from results.domain.errors import IngestError, TrialError, full_error, is_full
from results.domain.measurement.parsed_trial import Check, Gap, RawFile
from results.domain.messages import gettext_lazy as _
from results.domain.packing import pack_streams
from results.domain.secrets import masked_bytes, masked_pieces
from workers.bundle.manifest import FILE, Manifest

LARGEST_BUNDLE_BYTES = 2 * 1024**3  # unpacked; less than a reader takes
_OF_WORKLOAD = "workload/"
_OF_ATTEMPT = re.compile(r"([0-9]+)-([0-9]+)-([0-9]+)(?:\+[0-9]+)?(?:\.checkpoint|\.partial)?\Z")
_WHY_LEFT_OUT = _("a bundle holds {size} GiB", size=LARGEST_BUNDLE_BYTES // 1024**3)


@dataclass(frozen=True)
class Archived:
    """A finished bundle.

    path: relative to the bundle folder
    error: of its manifest, `TeitenError.as_dict()`; None where the attempt succeeded so far
    """

    path: str
    sha256: str
    size_bytes: int
    error: Mapping[str, Any] | None


def archive_path(trial_key: str, attempt: int) -> PurePosixPath:
    """Return where the bundle of an attempt lies below the bundle folder."""
    return PurePosixPath(f"{trial_key}-{attempt}.tar.gz")


def folder_name(trial_key: str, attempt: int) -> str:
    """Return the name of an attempt's folder while it runs, here and on its agents."""
    return f"{trial_key.replace('/', '-')}-{attempt}"


def archived_before(root: Path, trial_key: str, attempt: int) -> Archived | None:
    """Return the archive that another worker has made of an attempt, None where there is none."""
    path = archive_path(trial_key, attempt)
    archive = root / path
    return Archived(str(path), checksum(archive), archive.stat().st_size, None) if archive.exists() else None


def _there_already(archive: Path) -> IngestError:
    return IngestError(
        _("The attempt has a bundle already."),
        where=str(archive),
        todo=_(
            "Retry the trial: its next attempt has a place of its own. Move the file away where it is of "
            "another warehouse."
        ),
    )


class BundleWriter:
    """Collects one attempt's raw files in a directory, whatever fails; `finish` makes the archive.

    Raises IngestError where the attempt has an archive already: each attempt has a number of its own.
    """

    def __init__(self, root: Path, trial_key: str, attempt: int, *, left: str = "", number: int = 0) -> None:
        """Begin a bundle, or go on with one that was left.

        left: name of the folder that another worker has left. It gets another name, so that this worker, which may
            only have been held up, finds it no more
        number: how often the bundle was left
        """
        self.root = root
        name = folder_name(trial_key, attempt)
        self.directory = root / UNFINISHED / (f"{name}+{number}" if number else name)
        self.archive = archive_path(trial_key, attempt)
        self.notes: dict[str, Any] = {}
        self.checks: list[Check] = []
        self.gaps: list[Gap] = []
        self._long: set[Path] = set()
        if (root / self.archive).exists():
            raise _there_already(root / self.archive)
        if not left:
            _remove_folder(self.directory)
            self.directory.mkdir(parents=True)
        elif not self.directory.is_dir():  # a worker before may have come as far as this
            (root / UNFINISHED / left).rename(self.directory)

    def add(self, path: str, content: bytes | str) -> None:
        """Add a raw file without secrets; path relative, with '/'. Raises IngestError where it leaves the bundle,
        TrialError where the disk is full."""
        data = masked_bytes(content.encode() if isinstance(content, str) else content)
        try:
            self._path(path).write_bytes(data)
        except OSError as error:
            if is_full(error):
                raise full_error(error) from error
            raise

    def file(self, path: str) -> Path:
        """Return where to write a raw file that may be long; `finish` hides secrets in it. Raises what `add` raises."""
        target = self._path(path)
        self._long.add(target)
        return target

    @property
    def long_files(self) -> tuple[str, ...]:
        """The paths that `file` was asked for."""
        return tuple(sorted(path.relative_to(self.directory).as_posix() for path in self._long))

    def _path(self, path: str) -> Path:
        parts = PurePosixPath(path).parts
        if not parts or ".." in parts or path.startswith("/") or path == FILE:
            raise IngestError(_("{path!r} is not a path inside a bundle.", path=path), where=str(self.archive))
        target = self.directory.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def note(self, name: str, value: Any) -> None:
        self.notes[name] = value

    def check(self, check: Check) -> None:
        self.checks.append(check)

    def gap(self, source: str, node: str, reason: str) -> None:
        self.gaps.append(Gap(source, node, reason))

    def finish(self, manifest: Manifest) -> Archived:
        """Write the manifest and the archive, and remove the directory. The same content gives the same bytes.

        Files are read in chunks. Where they are more than a bundle may hold, the longest are left out: those of a
        collector each as its gap; without the workload's own the attempt has failed, unless it had before.
        Raises IngestError where an archive has come into its place; the new one then stays beside it, as `.partial`.
        """
        for path in self._long:
            _hide_secrets(path)
        sizes, error = self._within_limit()
        files = tuple(RawFile(name, size, checksum(self.directory / name)) for name, size in sizes.items())
        complete = replace(
            manifest,
            error=manifest.error or error,
            files=files,
            checks=tuple(self.checks),
            gaps=tuple(self.gaps),
            notes=self.notes,
        )
        target = self.root / self.archive
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        try:
            with partial.open("wb") as stream:
                pack_streams(self._streams(complete.to_json().encode(), sizes), stream)
        except OSError:
            partial.unlink(missing_ok=True)
            raise
        archived = Archived(str(self.archive), checksum(partial), partial.stat().st_size, complete.error)
        if target.exists():
            raise _there_already(target)
        partial.rename(target)
        shutil.rmtree(self.directory)
        return archived

    def _within_limit(self) -> tuple[dict[str, int], dict[str, Any] | None]:
        """Return path → size in bytes of each file that goes into the bundle, and the error of one of the workload that
        does not."""
        paths = sorted(path for path in self.directory.rglob("*") if path.is_file() and not path.is_symlink())
        sizes = {path.relative_to(self.directory).as_posix(): path.stat().st_size for path in paths}
        total = sum(sizes.values())
        error: dict[str, Any] | None = None
        for name in sorted(sizes, key=lambda name: (name.startswith(_OF_WORKLOAD), -sizes[name])):
            if total <= LARGEST_BUNDLE_BYTES:
                break
            size = sizes.pop(name)
            total -= size
            why = _(
                "{file}, of {size} bytes, was left out: {why}",
                file=name,
                size=size,
                why=_WHY_LEFT_OUT,
            )
            self.gap(*_source(name), why)
            if name.startswith(_OF_WORKLOAD) and error is None:
                what, todo = _("The workload wrote more than a bundle holds."), _("Have it write less.")
                error = TrialError(what, where=name, why=_("{why}.", why=why), todo=todo).as_dict()
        return sizes, error

    def _streams(self, manifest: bytes, sizes: Mapping[str, int]) -> Iterator[tuple[str, int, IO[bytes]]]:
        yield FILE, len(manifest), io.BytesIO(manifest)
        for name, size in sizes.items():
            with (self.directory / name).open("rb") as content:
                yield name, size, content


def _source(name: str) -> tuple[str, str]:
    """Return the source and the node that lack a file which is left out."""
    parts = PurePosixPath(name).parts
    return (parts[1], parts[2]) if parts[0] == "collectors" and len(parts) > 3 else ("bundle", "")


def _hide_secrets(path: Path) -> None:
    """Replace a long file by one without secrets, a piece at a time. Does nothing where it was never written."""
    if not path.is_file() or path.is_symlink():
        return
    masked = path.with_name(f"{path.name}.masked")
    with path.open("rb") as content, masked.open("wb") as target:
        for piece in masked_pieces(content):
            target.write(piece)
    masked.replace(path)


def unfinished(root: Path) -> Iterator[tuple[str, int, Path]]:
    """Give trial's key, attempt and path of what attempts that run, or whose worker is gone, have in the folder."""
    for path in (root / UNFINISHED).glob("*"):
        if match := _OF_ATTEMPT.match(path.name):
            run, trial, attempt = match.groups()
            yield f"{run}/{trial}", int(attempt), path


def discard(path: Path) -> None:
    """Remove what an attempt has left in the bundle folder."""
    if path.is_dir():
        _remove_folder(path)
    else:
        path.unlink(missing_ok=True)


def discard_unfinished(root: Path) -> None:
    """Remove the files of attempts that were never archived. Only where none of these attempts is alive."""
    _remove_folder(root / UNFINISHED)


def _remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it. Where a link has taken its place, remove the link alone."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)  # it follows no link below


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, hex. Raises IngestError where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        todo = _("Restore it from a backup.")
        raise IngestError(_("The archive cannot be read."), where=str(path), why=str(error), todo=todo) from error
