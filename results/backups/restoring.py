"""Put a backup into an empty warehouse and an empty bundle folder.

Everything that can be refused is refused before anything is touched. The bundles come first and the warehouse last, in
one transaction: a restore that is cut off leaves files without rows, and never a warehouse whose raw files are not
there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.backends.utils import CursorWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from results import VERSION
from results.backups import files, programs
from results.backups.manifest import BUNDLES, DUMP, MISSING, Counts, Manifest, listed_files, read_manifest
from results.backups.verifying import verify
from results.bundle_files import checksum, named_bundles
from results.bundle_storage import storage
from results.domain.errors import BackupError, IngestError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import ngettext_lazy
from results.ranges import archives

_SHOWN = 5


@dataclass(frozen=True)
class Restored:
    """What was restored. migrated: how many migrations the warehouse of the backup lacked."""

    manifest: Manifest
    migrated: int


def restore(folder: Path, *, bin_dir: Path | None = None) -> Restored:
    """Restore a backup, bring its tables to this Teiten's, and compare every bundle with its checksum there.

    Raises BackupError: for a backup that is not whole or of a newer Teiten, and a warehouse or bundle folder that is
    not empty, before anything is touched; where restoring fails, with both as empty as before.

    bin_dir: where pg_restore is; None to look for it
    """
    manifest = read_manifest(folder)
    _require_known(manifest)
    pg_restore = _program(manifest, bin_dir)
    _require_empty()
    verify(folder)
    with _bundles_of(folder, manifest):
        options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
        programs.run(pg_restore, [*options, str(folder / DUMP)], _("The warehouse could not be restored."))
    _compare_counts(manifest)
    migrated = _migrate()
    _compare_bundles(_missing(folder, manifest))
    return Restored(manifest, migrated)


def _require_known(manifest: Manifest) -> None:
    """Raise BackupError for a backup of a newer Teiten, or of one with tables that this one does not know."""
    migrations = MigrationLoader(None).disk_migrations
    known = {*migrations, *(replaced for migration in migrations.values() for replaced in migration.replaces)}
    unknown = [f"{app} {name}" for app, name in manifest.migrations.items() if (app, name) not in known]
    newer = _numbers(manifest.teiten) > _numbers(VERSION)
    if unknown or newer:
        raise BackupError(
            _(
                "This backup is of Teiten {other}, which this Teiten {version} does not know.",
                other=manifest.teiten,
                version=VERSION,
            ),
            where="restore",
            why=_("Its tables have the migration {migrations}.", migrations=", ".join(unknown))
            if unknown
            else _("It is newer."),
            todo=_("Restore it with that version of Teiten, or a later one."),
        )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _program(manifest: Manifest, bin_dir: Path | None) -> programs.Program:
    server, dumped = programs.server_version() // 10000, manifest.postgresql // 10000
    if server < dumped:
        raise BackupError(
            _(
                "The backup is of PostgreSQL {version}, and this warehouse is PostgreSQL {server}.",
                version=dumped,
                server=server,
            ),
            where="TEITEN_DATABASE_URL",
            why=_("PostgreSQL promises nothing for dumps that go to an older server."),
            todo=_("Restore it into PostgreSQL {version} or later.", version=dumped),
        )
    return programs.find("pg_restore", max(server, int(manifest.pg_dump.split(".")[0])), bin_dir)


def _require_empty() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), min(relation.oid::regclass::text) FROM pg_class AS relation"
            " WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f')"
            " AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"
        )
        count, example = cursor.fetchone()
    if count:
        raise BackupError(
            _("The warehouse is not empty, so nothing is restored into it."),
            where=_("database {name}", name=connection.settings_dict["NAME"]),
            why=_("It has {count} tables, views or sequences, among them {example}.", count=count, example=example),
            todo=_("Make an empty database (createdb), and set TEITEN_DATABASE_URL to it; do not run migrate before."),
        )
    if example := storage().example():
        raise BackupError(
            _("The bundle folder is not empty, so nothing is restored into it."),
            where=storage().shown(),
            why=_("It holds {path}.", path=example),
            todo=_("Set TEITEN_BUNDLE_DIR to an empty folder, or move the files away."),
        )


@contextmanager
def _bundles_of(folder: Path, manifest: Manifest) -> Iterator[None]:
    """Copy the bundles of a backup to their places; where the block fails they are removed again."""
    root = Path(settings.TEITEN_BUNDLE_DIR)
    placed: list[str] = []
    try:
        if storage().in_folder:
            _require_room(root, manifest)
        _copy_bundles(folder, root, placed)
        yield
    except BaseException as error:
        _remove_bundles(root, placed)
        if isinstance(error, OSError):
            todo = _("Mend that and restore again: nothing was left of it, and the warehouse was not touched.")
            where = storage().shown()
            raise BackupError(_("The backup could not be restored."), where=where, why=str(error), todo=todo) from error
        raise


def _require_room(root: Path, manifest: Manifest) -> None:
    root.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(root).free
    if free < manifest.size_bytes:
        why = _("It has {free} bytes free, and the backup has {size}.", free=free, size=manifest.size_bytes)
        raise BackupError(_("The bundle folder has no room."), where=str(root), why=why, todo=_("Make room there."))


def _remove_bundles(root: Path, placed: Sequence[str]) -> None:
    if storage().in_folder:
        for path in root.iterdir() if root.is_dir() else ():
            shutil.rmtree(path)
    else:
        for name in placed:
            storage().delete(name)


def _copy_bundles(folder: Path, root: Path, placed: list[str]) -> None:
    """Copy the bundles to their places, and note each in `placed`."""
    start = f"{BUNDLES}/"
    for sha256, file in listed_files(folder):
        if not file.startswith(start):
            continue
        name = file.removeprefix(start)
        placed.append(name)
        if _copy(folder / file, root, name) != sha256:
            what = _("A file of the backup was changed while it was being restored.")
            raise BackupError(what, where=str(folder / file), todo=_("Use another backup."))
    if storage().in_folder:
        files.sync_folders(root)


def _copy(source: Path, root: Path, name: str) -> str:
    """Copy a bundle to its place; return the checksum of what was read."""
    if storage().in_folder:
        return files.copy(source, root / name)
    storage().add(source, name)
    return checksum(source)


def _compare_counts(manifest: Manifest) -> None:
    with connection.cursor() as cursor:  # without the models: the tables may be older than they
        counts = Counts(
            runs=_count(cursor, "results_run"),
            trials=_count(cursor, "results_trial"),
            measurements=_count(cursor, "results_measurement"),
            bundles=_count(cursor, "results_attempt", "DISTINCT nullif(bundle, '')") + len(archives()),
        )
    if counts != manifest.counts:
        raise BackupError(
            _("The restored warehouse does not hold what the backup counted."),
            where=_("database {name}", name=connection.settings_dict["NAME"]),
            why=_("It holds {counts}; the backup {counted}.", counts=str(counts), counted=str(manifest.counts)),
            todo=_("Use another backup, and report this with its manifest."),
        )


def _count(cursor: CursorWrapper, table: str, what: str = "*") -> int:
    cursor.execute(f"SELECT count({what}) FROM {table}")  # noqa: S608  # all are written above
    return int(cursor.fetchone()[0])


def _migrate() -> int:
    """Bring the tables to this Teiten's; return how many migrations they lacked."""
    executor = MigrationExecutor(connection)
    lacking = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    try:
        call_command("migrate", interactive=False, verbosity=0)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    except DatabaseError as error:
        raise BackupError(
            _("The backup is restored, but its tables could not be brought to those of this Teiten."),
            where="migrate",
            why=str(error).strip(),
            todo=_("Mend what it names and run manage.py migrate, or restore with the Teiten that wrote the backup."),
        ) from error
    return lacking


def _missing(folder: Path, manifest: Manifest) -> set[str]:
    """Return the bundles that were missing when the backup was taken."""
    return set((folder / MISSING).read_text(encoding="utf-8").splitlines()) if manifest.missing else set()


def _compare_bundles(missing: set[str]) -> None:
    """Raise BackupError where a bundle's file has not the checksum that the warehouse knows."""
    wrong: list[str] = []
    count = 0
    for bundle, sha256 in named_bundles():
        if bundle not in missing and not _is_stored(bundle, sha256):
            count += 1
            wrong += [bundle] if count <= _SHOWN else []
    if count:
        raise BackupError(
            ngettext_lazy(
                "Everything is restored, but {number:,} bundle of it not as the warehouse knows them.",
                "Everything is restored, but {number:,} bundles of it not as the warehouse knows them.",
                count,
            ),
            where=storage().shown(),
            why=_names(wrong, count),
            todo=_("Restore another backup into another database and folder, and report this."),
        )


def _names(wrong: Sequence[str], count: int) -> str:
    names = ", ".join(wrong)
    if count > len(wrong):
        return _("{names} and {count} more.", names=names, count=count - len(wrong))
    return _("{names}.", names=names)


def _is_stored(bundle: str, sha256: str) -> bool:
    try:
        with storage().file(bundle) as path:
            return checksum(path) == sha256
    except (OSError, IngestError):
        return False
