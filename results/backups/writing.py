"""Write a backup while Teiten runs.

The order is what makes it whole. A bundle is in its place before a row names it, and is never changed after that; so
whatever a snapshot of the warehouse names is on the disk when the snapshot is taken, and may be copied later. It must
not be removed until then: `keeping_bundles`, which is asked for before the snapshot is taken. To copy bundles first
would miss those of trials that end in between.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from results import VERSION, models
from results.backups import files, programs
from results.backups.manifest import BUNDLES, CHECKSUMS, DUMP, FORMAT, MANIFEST, MISSING, Counts, Manifest
from results.bundle_files import checksum, keeping_bundles, named_bundles
from results.bundle_storage import storage
from results.domain.errors import BackupError, IngestError
from results.domain.messages import SEMICOLON, linked, ngettext_lazy
from results.domain.messages import gettext_lazy as _

UNFINISHED = ".unfinished"  # what the folder's name ends in until the backup is whole
_NAMED = "named.jsonl"  # bundles of the snapshot: they may be too many to be held in memory
_SHOWN = 5


@dataclass
class _Listing:
    """What has been written.

    missing: how many bundles were not there or not as stored; examples: the first of them, each with the reason
    """

    folder: Path
    files: int = 0
    size_bytes: int = 0
    missing: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, name: str, sha256: str) -> None:
        self.files += 1
        self.size_bytes += (self.folder / name).stat().st_size
        with (self.folder / CHECKSUMS).open("a", encoding="utf-8") as sums:
            sums.write(f"{sha256}  {name}\n")

    def miss(self, bundle: str, reason: str) -> None:
        self.missing += 1
        self.examples += [_("{bundle}: {why}", bundle=bundle, why=reason)] if len(self.examples) < _SHOWN else []
        with (self.folder / MISSING).open("a", encoding="utf-8") as names:
            names.write(f"{bundle}\n")


def back_up(
    folder: Path, *, bin_dir: Path | None = None, earlier: Path | None = None, without_missing: bool = False
) -> Manifest:
    """Write the warehouse and all bundles that it names into a new folder.

    Raises BackupError, also where the disk fails or is full; of a backup that fails nothing is left.

    bin_dir: where pg_dump is; None to look for it
    earlier: a backup on the same disk; bundles that it holds are not copied, but hard links to its files
    without_missing: go on without bundles that are not there or not as stored, which `missing.txt` names then
    """
    server = programs.server_version()
    pg_dump = programs.find("pg_dump", server // 10000, bin_dir)
    with _new_folder(folder) as partial:
        listing = _Listing(partial)
        with keeping_bundles():
            created_at, counts, migrations = _dump(pg_dump, partial)
            listing.add(DUMP, checksum(partial / DUMP))
            _take_bundles(listing, earlier)
        if listing.missing and not without_missing:
            raise _incomplete(listing)
        if listing.missing:
            files.sync(partial / MISSING)
            listing.add(MISSING, checksum(partial / MISSING))
        files.sync(partial / CHECKSUMS)
        manifest = Manifest(
            format=FORMAT,
            teiten=VERSION,
            created_at=created_at,
            postgresql=server,
            pg_dump=pg_dump.version,
            migrations=migrations,
            counts=counts,
            missing=listing.missing,
            files=listing.files,
            size_bytes=listing.size_bytes,
            checksums=checksum(partial / CHECKSUMS),
        )
        files.sync_folders(partial)
        files.write(partial / MANIFEST, manifest.to_json())
    return manifest


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A folder to write in, which gets its name when the block has ended well, and is removed when it has not."""
    partial = folder.with_name(folder.name + UNFINISHED)
    for there in (folder, partial):
        if there.exists() or there.is_symlink():
            raise BackupError(
                _("There is something already: nothing is written over it."),
                where=str(there),
                why=_("It was left by a backup that was interrupted, or another one runs.") if there == partial else "",
                todo=_("Name a folder that there is not yet, or remove it."),
            )
    try:
        partial.mkdir(mode=0o700)  # the dump has all that there is, be it private or not
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        yield partial
        files.sync(partial)
        partial.rename(folder)
        files.sync(folder.parent)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise _unwritable(folder, error) from error
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _unwritable(folder: Path, error: OSError) -> BackupError:
    reason = str(error.strerror or error)
    return BackupError(
        _("The backup could not be written."),
        where=str(folder),
        why=_("{why}.", why=f"{reason}: {error.filename}" if error.filename else reason),
        todo=_("Make room, or name a folder on another disk. Nothing was left of this one."),
    )


def _dump(pg_dump: programs.Program, folder: Path) -> tuple[datetime, Counts, dict[str, str]]:
    """Dump the warehouse, and list the bundles that it names, of one and the same moment; return that, what there is,
    and the last migration of each app."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute("SELECT pg_export_snapshot(), now()")
        snapshot, created_at = cursor.fetchone()
        counts = Counts(
            runs=models.Run._base_manager.count(),
            trials=models.Trial._base_manager.count(),
            measurements=models.Measurement._base_manager.count(),
            bundles=_list_named(folder / _NAMED),
        )
        options = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}"]
        programs.run(pg_dump, [*options, f"--file={folder / DUMP}"], _("The warehouse could not be dumped."))
        files.sync(folder / DUMP)
        migrations = MigrationRecorder(connection).applied_migrations()
    return created_at, counts, dict(sorted(migrations))


def _list_named(path: Path) -> int:
    """Write path and checksum of each bundle that the warehouse names into a file; return how many there are."""
    with path.open("x", encoding="utf-8") as lines:
        return sum(1 for named in named_bundles() if lines.write(json.dumps(named) + "\n"))


def _take_bundles(listing: _Listing, earlier: Path | None) -> None:
    with (listing.folder / _NAMED).open(encoding="utf-8") as lines:
        for line in lines:
            bundle, sha256 = json.loads(line)
            try:
                _take(bundle, sha256, listing.folder, earlier)
            except IngestError as error:
                listing.miss(bundle, error.what)
            else:
                listing.add(f"{BUNDLES}/{bundle}", sha256)
    (listing.folder / _NAMED).unlink()


def _take(bundle: str, sha256: str, folder: Path, earlier: Path | None) -> None:
    """Copy a bundle into the backup, or link the one of an earlier backup. Raises IngestError where it is not as the
    warehouse knows it, OSError where the backup cannot be written."""
    target = folder / BUNDLES / bundle
    there = earlier / BUNDLES / bundle if earlier else None
    if there and there.is_file() and checksum(there) == sha256:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.hardlink_to(there)
        return
    try:
        with storage().file(bundle) as source:
            copied = files.copy(source, target)
    except FileNotFoundError as error:
        raise IngestError(_("it is not in the bundle folder")) from error
    if copied != sha256:
        target.unlink()
        raise IngestError(_("it is not the one that was stored"))


def _incomplete(listing: _Listing) -> BackupError:
    more = listing.missing - len(listing.examples)
    why = linked(SEMICOLON, listing.examples)
    return BackupError(
        ngettext_lazy(
            "{number:,} bundle that the warehouse names cannot be backed up.",
            "{number:,} bundles that the warehouse names cannot be backed up.",
            listing.missing,
        ),
        where="TEITEN_BUNDLE_DIR",
        why=_("{why}; and {count} more.", why=why, count=more) if more else _("{why}.", why=why),
        todo=_("Restore them from an earlier backup, set TEITEN_BUNDLE_DIR, or go on without them: --without-missing."),
    )
