"""Read the archive of an exported run. Limits, names and checksums are checked before anything of it is believed."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import stat
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from results import VERSION
from results.domain.errors import ArchiveError
from results.domain.messages import gettext_lazy as _
from results.domain.research_object import limits
from results.domain.research_object.crate import CRATE
from results.domain.research_object.facts import FACTS, AttemptFacts, Facts, read
from results.domain.units import format_quantity
from results.exporting import CHECKSUMS, LAYERS, PLAN
from workers.bundle.reader import MAXIMUM_BYTES

MOST_RATIO = 200  # of a file unpacked to its size in the archive; 20 is usual for raw output
_FREE_BYTES = 16 * 1024**2  # that any bundle may have unpacked, whatever the ratio
_DIRECTORY_BYTES = 64 * 1024**2  # of the archive's list of files
_CHUNK = 1024 * 1024
_TEXTS = (FACTS, PLAN, LAYERS, CRATE, CHECKSUMS)
_SUM = re.compile(r"([0-9a-f]{64})  (.+)")
_AGAIN = _("Export the run again, and copy the whole file.")


class RunArchive:
    """An exported run that is open for reading.

    facts: what `run.json` says
    toml: the plan
    """

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._sums = _checksums(self._text(CHECKSUMS))
        self.facts: Facts = read(self._checked_text(FACTS), VERSION)
        _require_names(archive, self._sums, self.facts)
        self.toml = self._checked_text(PLAN)
        for name in (LAYERS, CRATE):
            self._checked_text(name)

    def copy_bundle(self, attempt: AttemptFacts, target: Path, most_bytes: int = MAXIMUM_BYTES) -> None:
        """Write an attempt's bundle to a file. Raises ArchiveError where it is not the one that was exported.

        most_bytes: that it may have unpacked
        """
        digest = hashlib.sha256()
        with self._archive.open(attempt.bundle) as source, target.open("xb") as copy:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                copy.write(chunk)
        self._require_sum(attempt.bundle, digest.hexdigest())
        if digest.hexdigest() != attempt.bundle_sha256 or target.stat().st_size != attempt.bundle_bytes:
            what = _("This is not the bundle that {file} tells of.", file=FACTS)
            raise ArchiveError(what, where=attempt.bundle, todo=_AGAIN)
        require_no_bomb(target, attempt.bundle, most_bytes)

    def _checked_text(self, name: str) -> str:
        text = self._text(name)
        self._require_sum(name, hashlib.sha256(text.encode()).hexdigest())
        return text

    def _require_sum(self, name: str, sha256: str) -> None:
        if self._sums.get(name) != sha256:
            why = _("Its checksum is not the one in {file}.", file=CHECKSUMS)
            raise ArchiveError(_("This file is not as it was exported."), where=name, why=why, todo=_AGAIN)

    def _text(self, name: str) -> str:
        try:
            return self._archive.read(name).decode()
        except KeyError as error:
            raise _missing([name]) from error
        except UnicodeDecodeError as error:
            raise ArchiveError(_("This file is no text."), where=name, why=str(error), todo=_AGAIN) from error


@contextmanager
def opened(path: Path) -> Iterator[RunArchive]:
    """Open an exported run. Raises ArchiveError, also where a file of it turns out to be damaged while it is read."""
    size = path.stat().st_size
    limits.require_size(size)
    try:
        with _Bounded(io.FileIO(path)) as stream, ZipFile(stream) as archive:
            _require_harmless(archive.infolist(), size)
            yield RunArchive(archive)
    except (BadZipFile, EOFError, zlib.error, struct.error, ValueError, NotImplementedError) as error:
        raise ArchiveError(
            _("The archive cannot be read."),
            where=path.name,
            why=_("{error}. It was cut off or damaged on its way, or is no zip file.", error=str(error)),
            todo=_AGAIN,
        ) from error


class _Bounded(io.BufferedReader):
    """A file of which no single read is larger than the list of files may be: zipfile reads that at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0 or size > _DIRECTORY_BYTES:
            data = super().read(_DIRECTORY_BYTES + 1)
            if len(data) > _DIRECTORY_BYTES:
                raise _too_much(_("The archive's list of files is too long."), "archive")
            return data
        return super().read(size)


def _require_harmless(entries: Sequence[ZipInfo], size_bytes: int) -> None:
    """Raise ArchiveError by what the archive's list of files says, before one of them is read."""
    if len(entries) > limits.MOST_ENTRIES:
        raise _too_much(
            _("The archive has {count} files.", count=len(entries)),
            "archive",
            _("At most {most} are read.", most=limits.MOST_ENTRIES),
        )
    for entry in entries:
        _require_plain(entry)
        _require_ratio(entry)
    twice = [name for name, count in Counter(entry.filename for entry in entries).items() if count > 1]
    if twice:
        what = _("There are several files called {name!r}.", name=twice[0])
        raise ArchiveError(what, where="archive", why=_("It is not clear which one is meant."), todo=_AGAIN)
    _require_room(entries, size_bytes)


def _require_room(entries: Sequence[ZipInfo], size_bytes: int) -> None:
    """Raise ArchiveError where the files cannot all lie in an archive of this size, or are too large unpacked."""
    if not all(0 <= entry.header_offset < size_bytes for entry in entries):
        raise ArchiveError(_("A file is said to be outside of the archive."), where="archive", todo=_AGAIN)
    if sum(entry.file_size for entry in entries) > limits.MOST_BYTES:
        raise _too_much(_("The archive's files are too large unpacked."), "archive")
    if sum(entry.compress_size for entry in entries) > size_bytes:
        raise _too_much(_("The archive's files take more than the archive itself."), "archive", _("They overlap."))


def _require_plain(entry: ZipInfo) -> None:
    name = entry.orig_filename
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or re.match("[A-Za-z]:", name):
        what = _("{name!r} is no path inside an archive.", name=name[:200])
        raise ArchiveError(what, where="archive", todo=_("Do not trust this file; export the run yourself."))
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        what = _("{name!r} is no file but a link or something else.", name=name[:200])
        raise ArchiveError(what, where="archive", todo=_("Do not trust this file; export the run yourself."))
    if entry.flag_bits & 1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        what = _("{name!r} is encrypted, or compressed in a way that no exported run is.", name=name[:200])
        raise ArchiveError(what, where="archive", todo=_AGAIN)


def _require_ratio(entry: ZipInfo) -> None:
    if entry.filename in _TEXTS and entry.file_size > limits.MOST_TEXT_BYTES:
        raise _too_much(_("This file is too large."), entry.filename)
    if entry.file_size > MOST_RATIO * entry.compress_size:
        raise _too_much(_("This file is too large for what it takes in the archive."), entry.filename)


def _too_much(what: str, where: str, why: str = "") -> ArchiveError:
    return ArchiveError(what, where=where, why=why, todo=_("Do not trust this file; export the run yourself."))


def require_no_bomb(bundle: Path, name: str, most_bytes: int) -> None:
    """Unpack a bundle without keeping anything, up to what one may have. Raises ArchiveError."""
    most = MOST_RATIO * bundle.stat().st_size + _FREE_BYTES
    count = 0
    try:
        with gzip.open(bundle) as stream:
            while chunk := stream.read(_CHUNK):
                count += len(chunk)
                if count > most_bytes:
                    raise _too_large(name, most_bytes)
                if count > most:
                    raise _too_much(
                        _("This bundle has more than {size} unpacked.", size=format_quantity(most, "B")), name
                    )
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ArchiveError(_("This bundle cannot be unpacked."), where=name, why=str(error), todo=_AGAIN) from error


def _too_large(name: str, most_bytes: int) -> ArchiveError:
    what = _("This bundle has more than {size} unpacked.", size=format_quantity(most_bytes, "B"))
    why = _("It is read as a whole, in the memory of the process that imports it.")
    todo = _("Copy the archive to the server and read it with manage.py import_run, which takes up to 4 GB a bundle.")
    return ArchiveError(what, where=name, why=why, todo=todo if most_bytes < MAXIMUM_BYTES else "")


def _checksums(text: str) -> dict[str, str]:
    """Return name → SHA-256 of what `sha256sum` would write. Raises ArchiveError."""
    sums: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _SUM.fullmatch(line)
        if match is None or match[2] in sums:
            what = _("Line {number} is no checksum, or a second one of the same file.", number=number)
            raise ArchiveError(what, where=CHECKSUMS, why=repr(line[:100]), todo=_AGAIN)
        sums[match[2]] = match[1]
    return sums


def _require_names(archive: ZipFile, sums: dict[str, str], facts: Facts) -> None:
    """Raise ArchiveError where a file is missing, is told of by nothing, or has no checksum."""
    expected = {*_TEXTS, *(attempt.bundle for _key, attempt in facts.attempts if attempt.bundle)}
    names = set(archive.namelist())
    if missing := sorted(expected - names):
        raise _missing(missing)
    if more := sorted(names - expected):
        what = _("{name!r} is no file of an exported run.", name=more[0][:200])
        raise ArchiveError(what, where="archive", why=_("{file} does not tell of it.", file=FACTS), todo=_AGAIN)
    if unproven := sorted(expected - {CHECKSUMS} - set(sums)):
        raise ArchiveError(
            _("This file has no checksum."),
            where=unproven[0],
            why=_("See {file}.", file=CHECKSUMS),
            todo=_AGAIN,
        )


def _missing(names: Sequence[str]) -> ArchiveError:
    what = _("{file} is missing.", file=names[0])
    if len(names) > 1:
        what = _("{file} and {count} more is missing.", file=names[0], count=len(names) - 1)
    return ArchiveError(what, where="archive", why=_("It is no whole export."), todo=_AGAIN)
