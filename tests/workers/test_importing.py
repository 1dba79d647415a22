"""A run leaves one Teiten as one archive and enters another with identical numbers, or not at all."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.utils import timezone

from results import models, noise, runs, standing
from results.bundle_storage import UNFINISHED
from results.domain.errors import ArchiveError, StateError
from results.domain.research_object import limits
from results.domain.research_object.crate import CRATE
from results.domain.states import Standing
from results.queries.agents.noise import expected_noise
from results.queries.comparison.compare import compare
from results.queries.runs.runs import run_detail, run_row
from results.queries.shared.selection import Selection
from results.queries.trends.families import TrendSelection
from results.queries.trends.trends import trend
from tests import factories
from tests.measured_runs import exported, forget, measured_run, numbers, record
from workers import dispatch, importing, registry, reingest

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def bundles(settings: Any, tmp_path: Path) -> Path:
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"
    settings.TEITEN_ADDRESS = "https://teiten.example"
    return tmp_path / "bundles"


@pytest.fixture
def source() -> models.Run:
    return measured_run()


@pytest.fixture
def archive(source: models.Run, tmp_path: Path) -> Path:
    return exported(source, tmp_path)


def entered(path: Path) -> models.Run:
    return importing.import_run(path, user=None, actor="tests")


def verdicts(run: models.Run) -> list[Any]:
    """What the comparison says of the run: every cell's value and interval, and its verdict; nothing with an id."""
    comparison = compare(Selection((run.pk,), x="clients", series="installation", metric="tps"))
    assert comparison.points
    return [
        [p.x, p.series, [r.value for r in p.values], p.verdict and {**asdict(p.verdict)}] for p in comparison.points
    ]


def test_an_imported_run_has_the_numbers_of_the_exported_one_to_the_last_bit(source: models.Run, archive: Path) -> None:
    before = (numbers(source), record(source), verdicts(source))
    assert len(before[0]["Measurement"]) > 100 and len(before[0]["Series"]) > 10 and before[0]["LayerUse"]
    assert any(verdict for *_, verdict in before[2])
    forget(source)
    run = entered(archive)
    assert run.pk != source.pk
    assert (numbers(run), record(run), verdicts(run)) == before
    assert {attempt.differences for attempt in reingest.reread(run.pk, replace=False)} == {()}


def test_it_says_where_it_comes_from_and_counts_for_nothing_at_first(source: models.Run, archive: Path) -> None:
    forget(source)
    run = entered(archive)
    said = dict(run_row(run.pk).from_teiten or {})
    assert said.pop("at").startswith(f"{timezone.now():%Y-%m-%d}")
    assert said == {
        "teiten": "1.0.0",
        "address": "https://teiten.example",
        "run": source.pk,
        "agents": ["db1"],
        "exported_by": None,
        "archive": archive.name,
        "archive_sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
        "by": "tests",
    }
    assert (run.standing, run.plan, source.standing) == ("exploratory", None, "kept")
    assert models.AuditEntry.objects.filter(verb="import run", object=f"run {run.pk}", actor="tests").exists()


def test_an_imported_run_is_exported_again_and_comes_home_to_an_empty_warehouse(
    source: models.Run, archive: Path, tmp_path: Path
) -> None:
    before = (numbers(source), record(source))
    forget(source)
    second = entered(archive)
    again = exported(second, tmp_path)
    forget(second)
    assert (numbers(third := entered(again)), record(third)) == before


def test_a_run_that_is_handed_on_still_says_who_measured_it(
    source: models.Run, archive: Path, tmp_path: Path, settings: Any
) -> None:
    measured = {"teiten": "1.0.0", "address": "https://teiten.example", "run": source.pk}
    forget(source)
    settings.TEITEN_ADDRESS = "https://second.example"
    second = entered(archive)
    again = exported(second, tmp_path)
    exporter = {"teiten": "1.0.0", "address": "https://second.example", "run": second.pk}
    forget(second)
    settings.TEITEN_ADDRESS = "https://third.example"
    third = entered(again)
    fourth = exported(third, tmp_path)
    forget(third)
    for archive_of, exported_by in ((again, exporter), (fourth, exporter | {"address": "https://third.example"})):
        run = entered(archive_of)
        said = run_row(run.pk).from_teiten or {}
        assert {name: said[name] for name in measured} == measured
        assert said["exported_by"] == exported_by | ({} if archive_of is again else {"run": third.pk})
        with ZipFile(archive_of) as opened:
            text = json.loads(opened.read(CRATE))["@graph"][1]["description"]
        assert text.startswith(f"Another Teiten at https://teiten.example measured this, as its run {source.pk}.")
        forget(run)


def test_an_agent_of_another_teiten_is_no_line_of_the_agent_of_that_name_here(tmp_path: Path, settings: Any) -> None:
    """In trends, where a run that is kept is followed: its points are a line of their own."""
    source = measured_run()
    archive = exported(source, tmp_path)
    forget(source)
    settings.TEITEN_ADDRESS = "https://here.example"
    here, other = measured_run(), entered(archive)
    standing.set_standing([other.pk], Standing.KEPT, "tests")
    selection = TrendSelection(workload="pgbench", metric="tps")
    alone = trend(selection)
    assert {point.runs for line in alone.lines for point in line.points} == {(here.pk,)}
    assert alone.held["teiten"] == "this"
    theirs = trend(replace(selection, filters={"teiten": ("https://teiten.example",)}))
    assert {point.runs for line in theirs.lines for point in line.points} == {(other.pk,)}


def test_a_run_that_is_here_is_not_imported_a_second_time(source: models.Run, archive: Path, bundles: Path) -> None:
    with pytest.raises(StateError, match=f"it is run {source.pk}") as refused:
        entered(archive)
    assert "has one of its bundles" in refused.value.why
    forget(source)
    run = entered(archive)
    files = sorted(bundles.rglob("*"))
    with pytest.raises(StateError, match=f"it is run {run.pk}") as refused:
        entered(archive)
    assert "It was imported on" in refused.value.why
    assert (models.Run.objects.count(), sorted(bundles.rglob("*"))) == (1, files)


def test_a_deleted_import_takes_its_files_along_and_can_be_imported_again(
    source: models.Run, archive: Path, bundles: Path
) -> None:
    forget(source)
    forget(entered(archive))
    assert [path for path in bundles.rglob("*") if path.is_file()] == []
    assert entered(archive).imported.source_run == source.pk


def test_a_run_that_was_cancelled_before_anything_ran_travels_too(tmp_path: Path) -> None:
    source = factories.run()
    runs.cancel_run(source.pk, "tests")
    source.refresh_from_db()
    before = record(source)
    archive = exported(source, tmp_path)
    forget(source)
    run = entered(archive)
    assert (run.state, record(run)) == ("cancelled", before)


def test_no_agent_here_can_be_given_a_trial_of_it(source: models.Run, archive: Path) -> None:
    forget(source)
    run = entered(archive)
    failed = run.trials.get(state="failed")
    for verb in (
        lambda: runs.retry_failed(run.pk, "tests"),
        lambda: runs.retry_cancelled(run.pk, "tests"),
        lambda: runs.retry_trial(failed.pk, "tests"),
        lambda: runs.add_blocks(run.pk, 1, "tests"),
        lambda: runs.repeat_run(run.pk, registry.kinds(), user=None, actor="tests"),
    ):
        with pytest.raises(StateError, match="is from another Teiten"):
            verb()
    models.Run.objects.filter(pk=run.pk).update(state="running")
    models.Trial.objects.filter(pk=failed.pk).update(state="waiting")
    assert dispatch.next_attempt(timezone.now()) is None
    assert [agents for agents in run.trials.values_list("agents", flat=True) if agents] == []
    assert run_detail(run.pk, timezone.now()).left_s is None


def test_noise_measured_elsewhere_says_nothing_of_the_agent_of_that_name_here(tmp_path: Path) -> None:
    twins = {"installation": ["16"], "twin": factories.TWINS}
    source = measured_run(factors=twins, replicates=6)
    stored = noise.store_noise(source.pk)
    assert stored and expected_noise("pgbench", "tps", {"client": "db1", "primary": "db1"})
    archive = exported(source, tmp_path)
    forget(source)
    run = entered(archive)
    assert models.Noise.objects.filter(run=run).count() == stored
    assert expected_noise("pgbench", "tps", {"client": "db1", "primary": "db1"}) is None


def test_files_that_were_placed_are_removed_where_the_warehouse_fails_at_the_end(
    source: models.Run, archive: Path, bundles: Path
) -> None:
    """The last bundle's place is taken, after the others were moved to theirs."""
    forget(source)
    first = entered(archive)
    last = models.Attempt.objects.filter(run=first).exclude(bundle="").order_by("trial__position").last()
    offset = last.trial_id - first.trials.order_by("pk").first().pk
    forget(first)
    sequence = models.Trial.objects.create(
        run=(other := models.Run.objects.create(name="x", workload="x", plan_hash="", seed=1, blocks=1)),
        configuration=models.Configuration.objects.create(
            run=other, index=0, name="", levels={}, spec={}, dimensions={}
        ),
        block=1,
        position=0,
        agents=[],
    )
    taken = bundles / f"{other.pk + 1}" / f"{sequence.pk + 1 + offset}-{last.number}.tar.gz"
    taken.parent.mkdir(parents=True)
    taken.write_bytes(b"precious")
    other.delete()
    with pytest.raises(ArchiveError, match="There is a file in the place of a bundle"):
        entered(archive)
    assert list(taken.parent.iterdir()) == [taken]
    assert taken.read_bytes() == b"precious"
    taken.unlink()
    taken.parent.rmdir()


def test_an_upload_arrives_in_pieces_and_may_be_no_larger_than_an_archive(
    source: models.Run, archive: Path, monkeypatch: pytest.MonkeyPatch, bundles: Path
) -> None:
    forget(source)
    data = io.BytesIO(archive.read_bytes())
    pieces = iter(lambda: data.read(1000), b"")
    run = importing.import_upload(pieces, "from a friend.zip", user=None, actor="tests")
    assert run.imported.archive == "from a friend.zip"
    monkeypatch.setattr(limits, "MOST_BYTES", 5000)
    endless = iter(lambda: bytes(1000), None)
    with pytest.raises(ArchiveError, match="more than"):
        importing.import_upload(endless, "", user=None, actor="tests")
    assert list((bundles / UNFINISHED).iterdir()) == []


def test_an_upload_may_have_no_bundle_that_fills_the_memory_of_a_web_process(
    source: models.Run, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(source)
    monkeypatch.setattr(importing, "MOST_UPLOADED_BUNDLE_BYTES", 5000)
    with pytest.raises(ArchiveError, match=r"more than .* unpacked") as refused:
        importing.import_upload([archive.read_bytes()], "", user=None, actor="tests")
    assert "manage.py import_run" in refused.value.todo
    assert entered(archive).pk


def test_an_upload_that_breaks_off_leaves_nothing(bundles: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield bytes(1000)
        raise ConnectionResetError(104, "Connection reset by peer")

    with pytest.raises(ArchiveError, match="could not be read") as refused:
        importing.import_upload(pieces(), "", user=None, actor="tests")
    assert "Connection reset by peer" in refused.value.why
    assert list((bundles / UNFINISHED).iterdir()) == []


def test_a_bundle_folder_that_cannot_be_written_is_named(
    source: models.Run, archive: Path, settings: Any, tmp_path: Path
) -> None:
    forget(source)
    settings.TEITEN_BUNDLE_DIR = archive / "no folder"
    with pytest.raises(ArchiveError, match="could not be read, or its files not stored") as refused:
        entered(archive)
    assert str(archive) in refused.value.where
    assert not models.Run.objects.exists()


def test_a_run_whose_bundles_hide_a_part_of_its_settings_is_imported(tmp_path: Path) -> None:
    command = "echo canary"
    source = measured_run(settings={"ssl_passphrase_command": command})
    archive = exported(source, tmp_path)
    forget(source)
    run = entered(archive)
    done = models.Attempt.objects.filter(run=run, state="done")
    assert done.count() == 6
    specs = models.Configuration.objects.filter(run=run).values_list("spec", flat=True)
    assert {spec["settings"]["ssl_passphrase_command"] for spec in specs} == {command}
