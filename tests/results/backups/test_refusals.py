"""What is refused, with words, and leaves everything as it was."""

from __future__ import annotations

import io
import json
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from results import models
from results.backups import programs
from results.backups.manifest import CHECKSUMS, DUMP, MANIFEST
from results.bundle_files import checksum
from results.domain.errors import BackupError
from tests.databases import Elsewhere, contents

Damage = Callable[[Path], object]
NOTHING: dict[str, Any] = {}


def first_bundle(backup: Path) -> Path:
    return min((backup / "bundles").rglob("*.gz"))


def changed(backup: Path, **fields: Any) -> None:
    path = backup / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def dump_cut_short(backup: Path) -> None:
    dump = backup / DUMP
    dump.write_bytes(dump.read_bytes()[: dump.stat().st_size // 2])


def dump_cut_short_and_vouched_for(backup: Path) -> None:
    """A dump that was cut short before its checksum was taken."""
    dump_cut_short(backup)
    sums = backup / CHECKSUMS
    lines = [line for line in sums.read_text().splitlines(keepends=True) if not line.endswith(f"{DUMP}\n")]
    sums.write_text("".join([f"{checksum(backup / DUMP)}  {DUMP}\n", *lines]))
    changed(backup, checksums=checksum(sums))


def outside(backup: Path) -> None:
    sums = backup / CHECKSUMS
    sums.write_text(sums.read_text().replace("  bundles/", "  bundles/../../", 1))
    changed(backup, checksums=checksum(sums))


def one_less(backup: Path) -> None:
    sums = backup / CHECKSUMS
    sums.write_text("".join(sums.read_text().splitlines(keepends=True)[:-1]))
    changed(backup, checksums=checksum(sums))


DAMAGES: tuple[tuple[Damage, str], ...] = (
    (lambda backup: first_bundle(backup).unlink(), "1 file of the backup is missing or damaged"),
    (lambda backup: first_bundle(backup).write_bytes(b"x"), "1 file of the backup is missing or damaged"),
    (dump_cut_short, f"1 file of the backup is missing or damaged. {DUMP}"),
    (lambda backup: (backup / DUMP).unlink(), f"missing or damaged. {DUMP}"),
    (lambda backup: (backup / CHECKSUMS).write_text(""), f"missing or damaged. {CHECKSUMS}"),
    (lambda backup: (backup / MANIFEST).unlink(), "There is no whole backup here. It has no manifest.json"),
    (lambda backup: (backup / MANIFEST).write_text("{"), "The manifest cannot be read"),
    (lambda backup: changed(backup, counts=[]), "counts"),
    (lambda backup: changed(backup, format=2, teiten="9.0"), "written by a newer Teiten, 9.0"),
    (outside, "This line names no file of the backup"),
    (one_less, "does not list what its manifest counts"),
)
REFUSED: tuple[tuple[Damage, str], ...] = (
    (lambda backup: changed(backup, teiten="1.0.1"), "It is newer"),
    (lambda backup: changed(backup, migrations={"results": "9999_beyond"}), "the migration results 9999_beyond"),
    (lambda backup: changed(backup, postgresql=990000), "The backup is of PostgreSQL 99, and this warehouse is"),
    (lambda backup: changed(backup, pg_dump="99.1"), "There is no pg_restore of PostgreSQL 99 or later"),
    (lambda backup: changed(backup, size_bytes=2**62), "The bundle folder has no room"),
    (dump_cut_short_and_vouched_for, "The warehouse could not be restored"),
)


def test_a_backup_that_is_damaged_or_of_another_version_is_refused_and_nothing_is_touched(
    backup: Path, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    for number, (damage, words) in enumerate((*DAMAGES, *REFUSED)):
        copy = shutil.copytree(backup, tmp_path / str(number))
        damage(copy)
        with elsewhere.here():
            with pytest.raises(CommandError) as raised:
                call_command("restore", copy)
            assert words in str(raised.value)
            assert raised.value.returncode == 1
            assert (contents(), elsewhere.files()) == (NOTHING, [])


def test_verifying_names_what_is_damaged(backup: Path, tmp_path: Path) -> None:
    for number, (damage, words) in enumerate(DAMAGES):
        copy = shutil.copytree(backup, tmp_path / str(number))
        damage(copy)
        with pytest.raises(CommandError) as raised:
            call_command("backup", copy, "--verify")
        assert words in str(raised.value)


def test_a_warehouse_and_a_bundle_folder_with_something_in_them_are_refused(backup: Path, elsewhere: Elsewhere) -> None:
    before = contents()
    with pytest.raises(CommandError, match="The warehouse is not empty, so nothing is restored into it"):
        call_command("restore", backup)
    assert contents() == before
    with elsewhere.here():
        elsewhere.bundles.mkdir()
        (elsewhere.bundles / "precious").write_text("precious")
        with pytest.raises(CommandError, match=r"The bundle folder is not empty.*It holds precious"):
            call_command("restore", backup)
        assert (contents(), len(elsewhere.files())) == (NOTHING, 1)
        with connection.cursor() as cursor:
            cursor.execute("CREATE SCHEMA other CREATE VIEW one AS SELECT 1")
        with pytest.raises(CommandError, match=r"1 tables, views or sequences, among them other\.one"):
            call_command("restore", backup)


@contextmanager
def no_room_beyond(size_bytes: int) -> Iterator[None]:
    """No file of this process and its programs can grow larger than this, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_of_a_backup_that_finds_no_room_nothing_is_left(run: models.Run, tmp_path: Path, bundles: Path) -> None:
    before = contents()
    with no_room_beyond(20_000), pytest.raises(CommandError, match=r"pg_dump: The warehouse could not be dumped\. \w"):
        call_command("backup", tmp_path / "backup")
    call_command("backup", tmp_path / "first", stdout=io.StringIO())
    attempt = models.Attempt.objects.exclude(bundle="").order_by("pk")[0]
    long = bundles / attempt.bundle
    long.write_bytes(bytes((tmp_path / "first" / DUMP).stat().st_size + 100_000))
    models.Attempt.objects.filter(pk=attempt.pk).update(bundle_sha256=checksum(long))
    room = (tmp_path / "first" / DUMP).stat().st_size + 50_000
    with no_room_beyond(room), pytest.raises(CommandError, match=r"The backup could not be written\. File too large"):
        call_command("backup", tmp_path / "backup")
    assert [path.name for path in tmp_path.glob("backup*")] == []
    models.Attempt.objects.filter(pk=attempt.pk).update(bundle_sha256=attempt.bundle_sha256)
    assert contents() == before


def test_a_restore_that_finds_no_room_leaves_warehouse_and_folder_empty(backup: Path, elsewhere: Elsewhere) -> None:
    with elsewhere.here():
        room = first_bundle(backup).stat().st_size - 1
        with no_room_beyond(room), pytest.raises(CommandError, match=r"could not be restored.*File too large"):
            call_command("restore", backup)
        assert (contents(), elsewhere.files()) == (NOTHING, [])
        call_command("restore", backup, stdout=io.StringIO())


def test_a_folder_that_cannot_be_made_is_named(run: models.Run, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere/backup: The backup could not be written\. No such file"):
        call_command("backup", tmp_path / "nowhere" / "backup")


def test_programs_that_are_missing_or_too_old_are_named(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match=r"no pg_dump of PostgreSQL 18 or later\. None was found"):
        programs.find("pg_dump", 18, tmp_path)
    old = tmp_path / "pg_dump"
    old.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 13.4 (Debian 13.4-1)'\n")
    old.chmod(0o755)
    with pytest.raises(BackupError, match=rf"{old}: 13\.4.*postgresql-client-18"):
        programs.find("pg_dump", 18, tmp_path)
    assert programs.find("pg_dump", 13, tmp_path).version == "13.4"
