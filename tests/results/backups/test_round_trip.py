"""A backup is restored on another machine: every row, file, page and answer is the same."""

from __future__ import annotations

import io
import json
import os
import re
import stat
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from results import VERSION, models, removal
from results.backups import programs
from results.backups.manifest import Manifest, listed_files, read_manifest
from results.backups.restoring import restore
from results.backups.verifying import verify
from results.backups.writing import back_up
from results.domain.errors import StateError
from results.retention import Retention, prune
from tests.databases import Elsewhere, contents
from tests.measured_runs import attempt_at, measured_run
from workers import reingest


def shown(run: models.Run) -> dict[str, bytes]:
    """What pages and API show of a run, and the raw files of one of its trials."""
    trial = models.Trial.objects.filter(run=run, state="done").order_by("position")[0]
    addresses = [f"/api/v1/runs/{run.pk}/", f"/api/v1/trials/{trial.pk}/", f"/api/v1/measurements/?run={run.pk}"]
    addresses += [f"/api/v1/trials/{trial.pk}/series/", f"/api/v1/trials/{trial.pk}/bundle/"]
    addresses += [f"/runs/{run.pk}/plan.toml", f"/api/v1/comparison/?run={run.pk}&x=clients&metric=tps"]
    answers = {}
    for address in addresses:
        answer: Any = Client().get(address)
        assert answer.status_code == 200, address
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        answers[address] = re.sub(rb'"now":"[^"]*"', b"", content)
    for page in (f"/runs/{run.pk}/", f"/trials/{trial.pk}/"):
        assert Client().get(page).status_code == 200
    return answers


def test_every_row_and_file_is_the_same_where_a_backup_is_restored(
    run: models.Run, elsewhere: Elsewhere, tmp_path: Path, bundles: Path
) -> None:
    before, shown_before = contents(), shown(run)
    out = io.StringIO()
    call_command("backup", tmp_path / "backup", stdout=out)
    measurements = models.Measurement.objects.count()
    assert measurements > 300 and before["results_attempt"][0] == 8
    assert f"1 run, 8 trials, {measurements:,} measurements, 7 bundles, " in out.getvalue()
    assert "Not in it: the private keys of agents" in out.getvalue()
    with elsewhere.here():
        out = io.StringIO()
        call_command("restore", tmp_path / "backup", stdout=out)
        assert "Every bundle has the checksum that the warehouse knows." in out.getvalue()
        assert contents() == before
        for address, answer in shown(run).items():
            assert answer == shown_before[address], address
        assert [one.error or one.differences for one in reingest.reread(None, replace=False)] == [()] * 7
        trial = models.Trial.objects.get(run=run, state="cancelled")
        assert models.Trial.objects.create(run=run, configuration=trial.configuration, block=9, position=99, agents=[])
    assert contents() == before
    for path in elsewhere.files():
        assert path.read_bytes() == (bundles / path.relative_to(elsewhere.bundles)).read_bytes()


def test_a_backup_says_what_it_holds_and_closes_it_to_others(backup: Path) -> None:
    manifest = verify(backup)
    assert (manifest.teiten, manifest.counts.runs, manifest.counts.trials, manifest.counts.bundles) == (
        VERSION,
        1,
        8,
        7,
    )
    assert manifest.counts.measurements == models.Measurement.objects.count()
    assert manifest.migrations["results"] == max(manifest.migrations["results"], "0027_attempts_picked_up")
    assert (manifest.files, manifest.missing) == (8, 0)
    assert sorted(name for _, name in listed_files(backup)) == sorted(
        ["warehouse.dump", *(f"bundles/{row.bundle}" for row in models.Attempt.objects.exclude(bundle=""))]
    )
    assert stat.S_IMODE(backup.stat().st_mode) == 0o700
    out = io.StringIO()
    call_command("backup", backup, "--verify", stdout=out)
    assert out.getvalue().startswith("Whole: 1 run, 8 trials, ")


def test_nothing_is_written_over(run: models.Run, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(CommandError, match="there: There is something already"):
        call_command("backup", tmp_path / "there")
    (tmp_path / "new.unfinished").mkdir()
    with pytest.raises(CommandError, match="It was left by a backup that was interrupted"):
        call_command("backup", tmp_path / "new")
    assert list((tmp_path / "there").iterdir()) == []


HELD = """#!/bin/sh
case "$1" in --version) exec {real} --version;; esac
echo begun > {folder}/begun
read line < {folder}/go
exec {real} "$@"
"""


def test_what_ends_while_a_backup_is_taken_is_left_out_whole_and_nothing_that_it_names_is_removed(
    run: models.Run, elsewhere: Elsewhere, tmp_path: Path, bundles: Path
) -> None:
    other = measured_run(name="another")
    before = contents()
    held = tmp_path / "programs" / "pg_dump"
    held.parent.mkdir()
    for pipe in ("begun", "go"):
        os.mkfifo(tmp_path / pipe)
    real = programs.find("pg_dump", programs.server_version() // 10000).path
    held.write_text(HELD.format(real=real, folder=tmp_path))
    held.chmod(0o755)
    manifests: list[Manifest] = []

    def take() -> None:
        try:
            manifests.append(back_up(tmp_path / "backup", bin_dir=held.parent))
        finally:
            connection.close()

    taking = Thread(target=take)
    taking.start()
    (tmp_path / "begun").read_text()
    late = attempt_at(models.Trial.objects.get(run=run, state="cancelled"))
    with pytest.raises(StateError, match="A backup is being taken"):
        removal.delete_runs([other.pk], "tests")
    with pytest.raises(StateError, match="A backup is being taken"):
        prune(other.pk, Retention(timedelta(0), kept_too=True), "tests")
    (tmp_path / "go").write_text("\n")
    taking.join()

    assert manifests == [verify(tmp_path / "backup")]
    assert prune(other.pk, Retention(timedelta(0), kept_too=True), "tests").left == ()
    assert removal.delete_runs([other.pk], "tests").left == ()
    with elsewhere.here():
        restore(tmp_path / "backup")
        assert contents() == before
        assert not models.Attempt.objects.filter(pk=late.pk).exists()
    assert len(elsewhere.files()) == manifests[0].counts.bundles == 14


def test_a_second_backup_links_what_an_earlier_one_holds(
    run: models.Run, backup: Path, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    new = attempt_at(models.Trial.objects.get(run=run, state="cancelled"))
    damaged, *whole = sorted((backup / "bundles").rglob("*.gz"))
    damaged.write_bytes(b"damaged")
    call_command("backup", tmp_path / "second", earlier=backup, stdout=io.StringIO())
    second = tmp_path / "second"
    assert all(path.samefile(second / path.relative_to(backup)) for path in whole)
    assert not damaged.samefile(second / damaged.relative_to(backup))
    assert (second / "bundles" / new.bundle).stat().st_nlink == 1
    assert verify(second).counts.bundles == 8
    with elsewhere.here():
        assert restore(second).migrated == 0


def test_bundles_that_are_lost_already_are_named_and_left_out_where_that_is_wanted(
    run: models.Run, elsewhere: Elsewhere, tmp_path: Path, bundles: Path
) -> None:
    gone, other, *_ = [row.bundle for row in models.Attempt.objects.exclude(bundle="").order_by("bundle")]
    (bundles / gone).unlink()
    (bundles / other).write_bytes(b"other bytes")
    with pytest.raises(CommandError, match="2 bundles that the warehouse names cannot be backed up") as raised:
        call_command("backup", tmp_path / "backup")
    assert f"{gone}: it is not in the bundle folder; {other}: it is not the one" in str(raised.value)
    assert not list(tmp_path.glob("backup*"))
    out = io.StringIO()
    call_command("backup", tmp_path / "backup", "--without-missing", stdout=out)
    assert "5 bundles without 2 bundles that the warehouse names" in out.getvalue()
    with elsewhere.here():
        call_command("restore", tmp_path / "backup", stdout=io.StringIO())
        assert [one.error is None for one in reingest.reread(None, replace=False)].count(False) == 2
    assert read_manifest(tmp_path / "backup").missing == 2
    assert json.loads((tmp_path / "backup" / "manifest.json").read_text())["missing"] == 2
