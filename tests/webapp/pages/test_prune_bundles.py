"""manage.py prune_bundles: raw files of old runs go, what was read from them stays, and everything says so."""

from __future__ import annotations

import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from results import models, removal
from results.domain.errors import StateError
from results.exporting import export
from results.retention import PRUNE
from tests import factories
from tests.measured_runs import measured_run, numbers, record
from tests.page_text import page_text

pytestmark = pytest.mark.django_db
OLD = timedelta(days=100)


@pytest.fixture(autouse=True)
def bundles(settings: Any, tmp_path: Path) -> Path:
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"
    return tmp_path / "bundles"


def old_run(standing: str = "exploratory", ago: timedelta = OLD, **changes: Any) -> models.Run:
    run = measured_run(**changes)
    models.Run.objects.filter(pk=run.pk).update(standing=standing, ended_at=timezone.now() - ago)
    run.refresh_from_db()
    return run


def pruned(*options: str, older_than: int = 90) -> list[str]:
    out = io.StringIO()
    call_command("prune_bundles", f"--older-than={older_than}", *options, stdout=out, stderr=out)
    return out.getvalue().splitlines()


def files(run: models.Run, bundles: Path) -> list[Path]:
    return sorted((bundles / str(run.pk)).iterdir())


def names(run: models.Run) -> set[str]:
    return set(models.Attempt.objects.filter(run=run).values_list("bundle", flat=True)) - {""}


def all_rows(run: models.Run) -> tuple[Any, Any]:
    return numbers(run), record(run)


def test_the_preview_says_what_would_go_and_what_stays_and_why_and_removes_nothing(bundles: Path) -> None:
    old, spared, kept = old_run(), old_run(), old_run("kept")
    old_run(ago=timedelta(days=80))
    cited = old_run()
    citation = factories.citation(cited)
    lines = pruned("--keep", str(spared.pk))
    measured = models.Measurement.objects.filter(run=old).count()
    assert [line.partition(",")[0] for line in lines[:4]] == [f"Run {run.pk}" for run in (cited, kept, spared, old)]
    assert f"stays: Cited in {citation.pk}: who reads that must find the trials behind its numbers" in lines[0]
    assert lines[1].endswith("stays: it is kept")
    assert lines[2].endswith("stays: it was named to be spared")
    assert "8 trials, 7 files, " in lines[3]
    assert lines[3].endswith(f": {measured:,} measurements could not be computed from raw output again")
    assert lines[4].startswith("Would be removed: raw files of 1 run, 7 files, ")
    assert "Nothing was removed" in lines[4]
    assert len(files(old, bundles)) == len(names(old)) == 7
    assert not models.AuditEntry.objects.filter(verb=PRUNE).exists()


def test_raw_files_go_and_every_row_stays(bundles: Path) -> None:
    old, kept = old_run(), old_run("kept")
    edition = factories.edition(old_run("kept"))
    before = {run.pk: all_rows(run) for run in (old, kept)}
    size = sum(path.stat().st_size for path in files(old, bundles))
    assert pruned("--yes")[-1].startswith("Removed: 7 files, ")
    assert {run.pk: all_rows(run) for run in (old, kept)} == before
    assert (files(old, bundles), names(old)) == ([], set())
    assert len(files(kept, bundles)) == len(names(kept)) == 7
    entry = models.AuditEntry.objects.get(verb=PRUNE)
    assert (entry.object, entry.detail) == (f"run {old.pk}", {"files": 7, "size_bytes": size})
    assert entry.actor.startswith("command prune_bundles (")
    assert pruned("--yes", "--kept-too")[-1].startswith("Removed: 7 files, ")
    assert names(kept) == set()
    published = models.Attempt.objects.filter(pk__in=edition.attempts)
    assert published.exists() and not published.filter(bundle="").exists()


def test_pages_and_api_say_when_and_by_whom_the_raw_files_were_removed(stranger: Client, bundles: Path) -> None:
    run = old_run()
    trial = run.trials.filter(state="done").order_by("position")[0]
    attempt = models.Attempt.objects.get(pk=trial.attempt_id)
    path = attempt.files[0]["path"]
    assert f"/trials/{trial.pk}/{attempt.number}/file/{path}" in page_text(stranger.get(f"/trials/{trial.pk}/"))
    assert "Export this run" in page_text(stranger.get(f"/runs/{run.pk}/"))
    pruned("--yes")
    attempt.refresh_from_db()
    sentence = f"on {attempt.bundle_removed_at:%Y-%m-%d} by command prune_bundles ("
    page = page_text(stranger.get(f"/trials/{trial.pk}/"))
    assert f"Raw files removed {sentence}" in page
    assert f"<b>Removed</b> {sentence}" in page
    assert attempt.bundle_sha256 in page and path in page
    assert "/file/" not in page and "/bundle/" not in page
    run_page = page_text(stranger.get(f"/runs/{run.pk}/"))
    assert f"<b>Raw files removed</b> {sentence}" in run_page
    assert "of 7 attempts, " in run_page and "Export this run" not in run_page
    for address in (
        f"/trials/{trial.pk}/{attempt.number}/bundle/",
        f"/trials/{trial.pk}/{attempt.number}/file/{path}",
        f"/api/v1/trials/{trial.pk}/bundle/",
        f"/api/v1/trials/{trial.pk}/files/{path}",
    ):
        answer = stranger.get(address)
        assert answer.status_code == 404
        assert f"The raw files of this attempt were removed {sentence}" in answer.content.decode()
    shown = stranger.get(f"/api/v1/trials/{trial.pk}/").json()["attempt"]
    assert (shown["bundle"], shown["bundle_sha256"]) == ("", attempt.bundle_sha256)
    assert shown["bundle_removed_by"] == attempt.bundle_removed_by
    assert shown["bundle_removed_at"].startswith(f"{attempt.bundle_removed_at:%Y-%m-%dT%H:%M:%S}")
    [removed] = stranger.get(f"/api/v1/runs/{run.pk}/").json()["raw_files_removed"]
    assert (removed["attempts"], removed["by"]) == (7, attempt.bundle_removed_by)
    assert removed["at"] == f"{attempt.bundle_removed_at:%Y-%m-%dT%H:%M:%SZ}"
    loss = stranger.get(f"/api/v1/runs/{run.pk}/loss/").json()
    assert (loss["bundles"], loss["bundle_bytes"]) == ([], 0)


def test_reingest_and_export_say_it_too() -> None:
    run, other = old_run(), old_run("kept")
    pruned("--yes")
    out = io.StringIO()
    call_command("reingest", "--check", stdout=out)
    assert "7 attempts, " in out.getvalue()
    assert f"Run {run.pk}: 7 attempts not read again: raw files were removed on " in out.getvalue()
    assert f"Run {other.pk}:" not in out.getvalue()
    with pytest.raises(CommandError, match=r"Raw files of this run were removed on .* by command prune_bundles"):
        call_command("export_run", run.pk)
    assert export(other.pk).name


def test_a_run_that_was_pruned_can_be_cited_and_deleted() -> None:
    run = old_run()
    pruned("--yes")
    citation = factories.citation(run)
    assert citation.content["points"]
    with pytest.raises(StateError, match="Cited in"):
        removal.delete_runs([run.pk], "ada")
    models.Snapshot.objects.all().delete()
    assert removal.delete_runs([run.pk], "ada").left == ()
    assert not models.Run.objects.filter(pk=run.pk).exists()


def test_a_file_that_cannot_be_removed_is_named_and_stays_traceable(bundles: Path, stranger: Client) -> None:
    run = old_run()
    stuck = files(run, bundles)[0]
    content = stuck.read_bytes()
    stuck.unlink()
    stuck.mkdir()
    with pytest.raises(CommandError, match="1 file could not be removed and stay named"):
        pruned("--yes")
    assert names(run) == {f"{run.pk}/{stuck.name}"}
    assert models.Attempt.objects.filter(run=run, bundle_removed_at=None).exclude(bundle="").count() == 1
    assert str(stuck) in str(models.AuditEntry.objects.get(verb="could not remove raw files").detail)
    stuck.rmdir()
    stuck.write_bytes(content)
    pruned("--yes")
    assert (names(run), files(run, bundles)) == (set(), [])


def test_nothing_is_pruned_of_a_run_that_goes_on_or_by_a_wrong_word(bundles: Path) -> None:
    run = old_run()
    with pytest.raises(CommandError, match="There is no run 99999"):
        pruned("--yes", "--keep", "99999")
    with pytest.raises(CommandError, match="--older-than takes 1 to 36500 days"):
        pruned("--yes", older_than=0)
    models.Run.objects.filter(pk=run.pk).update(state="running")
    assert pruned("--yes") == ["Removed: 0 files, 0 B."]
    assert len(files(run, bundles)) == 7
