"""Series and histograms of old runs are moved into an archive and back: none is lost, and whoever asks for them
meanwhile is told where they are."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from results import detaching, ingest, models, ranges, removal, snapshots
from results.backups.writing import back_up
from results.bundle_storage import UNFINISHED
from results.domain.errors import IngestError, StateError
from results.exporting import export
from results.queries.comparison.references import reference
from results.queries.runs.trials import histograms_of, series_of
from tests import factories
from tests.databases import as_warehouse, empty_database
from tests.measured_runs import attempt_at, measured_run
from tests.page_text import page_text
from tests.results.test_ranges import next_run_is, own_database

pytestmark = pytest.mark.django_db(transaction=True)
ACTOR = "command ranges (tests)"


@pytest.fixture
def bundles(settings: Any, tmp_path: Path) -> Path:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"
    return tmp_path / "bundles"


@pytest.fixture
def old(transactional_db: None, bundles: Path) -> Iterator[models.Run]:
    """The last run of a range that is full, with series and histograms. Of the one before, `measured`, every number
    comes from a bundle. The run after it is in the next range."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM results_run_id_seq")
        [last] = cursor.fetchone()
    next_run_is(last // 1000 * 1000 + 998)
    measured_run()
    run = factories.finished_run()
    factories.finished_run()
    yield run
    next_run_is(last)


@pytest.fixture
def measured(old: models.Run) -> models.Run:
    return models.Run.objects.get(pk=old.pk - 1)


def first_of(run: models.Run) -> int:
    return run.pk // ranges.RUNS * ranges.RUNS


def ran(*options: str) -> str:
    out = io.StringIO()
    call_command("ranges", *options, stdout=out, stderr=out)
    return out.getvalue()


def in_warehouse(run: models.Run) -> tuple[int, int]:
    return (
        models.SeriesGroup.objects.filter(run=run).count(),
        models.Histogram.objects.filter(run=run).count(),
    )


def hashes(run: models.Run) -> dict[int, str]:
    """Attempt → the hash of all its numbers."""
    return {pk: ingest.numbers_hash(pk) for pk in models.Attempt.objects.filter(run=run).values_list("pk", flat=True)}


def test_they_go_into_one_archive_and_come_back_to_the_last_bit(
    old: models.Run, measured: models.Run, bundles: Path
) -> None:
    newer = models.Run.objects.get(pk=old.pk + 1)
    before, rows = {run.pk: hashes(run) for run in (old, measured, newer)}, in_warehouse(old)
    assert min(rows) > 0
    values = list(models.Measurement.objects.filter(run=old).values())
    first, last = first_of(old), first_of(old) + 999
    assert f"Runs {first} to {last}: 2 runs, the last ended on 20" in ran()
    everything = sum(rows) + sum(in_warehouse(measured))
    said = ran("--detach", str(first))
    assert said.startswith(f"Runs {first} to {last}: {everything:,} rows are in ranges/{first}-{last}-")
    assert in_warehouse(old) == (0, 0)
    assert list(models.Measurement.objects.filter(run=old).values()) == values
    assert hashes(newer) == before[newer.pk]
    found = models.DetachedRange.objects.get()
    assert (bundles / found.archive).stat().st_size == found.archive_bytes
    assert list((bundles / UNFINISHED).glob("range-*")) == []
    assert f" in {found.archive}. They were detached on {found.detached_at:%Y-%m-%d} by command ranges (" in ran()
    assert "series and histograms are in the warehouse again" in ran("--attach", str(first))
    assert {run.pk: hashes(run) for run in (old, measured, newer)} == before
    assert in_warehouse(old) == rows
    assert not (bundles / found.archive).exists()
    assert not models.DetachedRange.objects.exists()
    entries = models.AuditEntry.objects.filter(verb__in=(detaching.DETACH, detaching.ATTACH)).order_by("pk")
    assert [(one.verb, one.object) for one in entries] == [
        (detaching.DETACH, f"runs {first} to {last}"),
        (detaching.ATTACH, f"runs {first} to {last}"),
    ]


def test_pages_and_api_say_where_they_are_and_show_every_other_number(old: models.Run, client: Client) -> None:
    trial = models.Trial.objects.filter(run=old, state="done")[0]
    compared = client.get(f"/api/v1/comparison/?run={old.pk}").content
    percentile = f"/api/v1/comparison/?run={old.pk}&metric=latency.p97"
    percentiles = client.get(percentile).content
    assert b'"points"' in compared
    assert b'"points"' in percentiles
    detaching.detach(first_of(old), ACTOR)
    sentence = f"Series and histograms of runs {first_of(old)} to {first_of(old) + 999} are in an archive."
    todo = f"manage.py ranges --attach {first_of(old)}"
    assert client.get(f"/api/v1/comparison/?run={old.pk}").content == compared
    for address in (
        f"/api/v1/trials/{trial.pk}/series/",
        f"/api/v1/trials/{trial.pk}/histograms/",
        percentile,
    ):
        answer = client.get(address)
        assert answer.status_code == 409, address
        assert answer.json()["error"]["what"] == sentence
        assert todo in answer.json()["error"]["todo"]
    page = page_text(client.get(f"/trials/{trial.pk}/"))
    assert "Series and latencies: in an archive since " in page
    assert todo in page
    why = page_text(client.get(f"/compare/why/?run={old.pk}"))
    assert "the latency of every transaction: not known, in an archive since " in why
    assert todo in why
    shown = client.get(f"/compare/?run={old.pk}&metric=latency.p97")
    assert shown.status_code == 409
    assert sentence in page_text(shown)
    detaching.attach(first_of(old), ACTOR)
    assert client.get(percentile).content == percentiles
    assert "in an archive" not in page_text(client.get(f"/trials/{trial.pk}/"))


def test_a_page_that_a_visitor_has_is_made_anew_once_they_have_gone_or_come_back(
    old: models.Run, client: Client
) -> None:
    address = f"/compare/why/?run={old.pk}"

    def asked_again() -> int:
        return client.get(address, headers={"If-None-Match": tag}).status_code

    client.get(address)  # which sets the cookie of forms
    tag = client.get(address).headers["ETag"]
    assert asked_again() == 304
    detaching.detach(first_of(old), ACTOR)
    assert asked_again() == 200
    tag = client.get(address).headers["ETag"]
    assert asked_again() == 304
    detaching.attach(first_of(old), ACTOR)
    assert asked_again() == 200


def test_what_would_lose_or_forget_them_is_refused(measured: models.Run) -> None:
    detaching.detach(first_of(measured), ACTOR)
    before = hashes(measured)
    for refused in (lambda: removal.delete_runs([measured.pk], "ada"), lambda: export(measured.pk)):
        with pytest.raises(StateError, match="are in an archive") as raised:
            refused()
        assert "ranges --attach" in raised.value.todo
    out = io.StringIO()
    with pytest.raises(CommandError, match="7 bundles could not be read"):
        call_command("reingest", "--check", f"--run={measured.pk}", stdout=out, stderr=out)
    assert out.getvalue().count("are in an archive") == 7
    assert hashes(measured) == before


def test_a_trial_that_is_repeated_meanwhile_keeps_its_own(measured: models.Run) -> None:
    before = hashes(measured)
    detaching.detach(first_of(measured), ACTOR)
    trial = models.Trial.objects.filter(run=measured, state="failed")[0]
    models.Trial.objects.filter(pk=trial.pk).update(state="waiting")
    trial.refresh_from_db()
    attempt_at(trial)
    attempt = models.Attempt.objects.filter(trial=trial).latest("pk")
    assert series_of(measured.pk, attempt.pk)
    repeated = ingest.numbers_hash(attempt.pk)
    detaching.attach(first_of(measured), ACTOR)
    assert hashes(measured) == before | {attempt.pk: repeated}


def test_a_backup_has_the_archive(measured: models.Run, tmp_path: Path, settings: Any) -> None:
    before = hashes(measured)
    detaching.detach(first_of(measured), ACTOR)
    back_up(tmp_path / "backup")
    settings.TEITEN_BUNDLE_DIR = tmp_path / "restored"
    with empty_database() as name, as_warehouse(name):
        call_command("restore", tmp_path / "backup", stdout=io.StringIO())
        assert in_warehouse(measured) == (0, 0)
        assert detaching.attach(first_of(measured), ACTOR) == ""
        assert hashes(measured) == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda run: models.Run.objects.filter(pk=run.pk).update(state="running"), "have not all ended"),
        (lambda run: models.Run.objects.filter(pk__gt=run.pk).delete(), "are the newest"),
        (lambda run: models.Attempt.objects.filter(run=run).update(state="running"), "have not all ended"),
        (lambda run: detaching.detach(first_of(run), ACTOR), "are in an archive already"),
        (
            lambda run: (
                models.SeriesGroup.objects.all().delete(),
                models.Histogram.objects.all().delete(),
            ),
            "have neither series nor histograms",
        ),
    ],
)
def test_a_range_that_is_not_old_or_has_none_stays(old: models.Run, bundles: Path, change: Any, words: str) -> None:
    change(old)
    rows, files = in_warehouse(old), sorted(bundles.rglob("*.zip"))
    with pytest.raises(StateError, match=words):
        detaching.detach(first_of(old), ACTOR)
    assert in_warehouse(old) == rows
    assert sorted(bundles.rglob("*.zip")) == files


def test_a_range_that_there_is_not_is_named(old: models.Run) -> None:
    with pytest.raises(CommandError, match="No range of runs begins with 7"):
        ran("--detach", "7")
    with pytest.raises(CommandError, match="are not in an archive"):
        ran("--attach", str(first_of(old)))


def test_what_is_being_read_stays(old: models.Run, bundles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detaching, "_LOCK_TIMEOUT", "100ms")
    rows = in_warehouse(old)
    with psycopg.connect(own_database()) as other:
        other.execute("SELECT count(*) FROM results_histogram WHERE run_id = %s", [old.pk])
        with pytest.raises(StateError, match="are being read"):
            detaching.detach(first_of(old), ACTOR)
    assert in_warehouse(old) == rows
    assert not models.DetachedRange.objects.exists()
    assert list(bundles.rglob("*.zip")) == []
    detaching.detach(first_of(old), ACTOR)


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_a_damaged_archive_brings_nothing_back(old: models.Run, bundles: Path, damage: str) -> None:
    path = bundles / detaching.detach(first_of(old), ACTOR).archive
    content = path.read_bytes()
    path.unlink()
    if damage == "changed":
        path.write_bytes(content[:-1] + b"x")
    with pytest.raises(IngestError, match="not as it was written"):
        detaching.attach(first_of(old), ACTOR)
    assert in_warehouse(old) == (0, 0)
    path.write_bytes(content)
    detaching.attach(first_of(old), ACTOR)
    counted = models.Trial.objects.filter(run=old, state="done").values_list("attempt", flat=True)
    assert all(histograms_of(old.pk, attempt) for attempt in counted)


def test_a_reference_to_their_latencies_is_not_called_lost(old: models.Run) -> None:
    citation = factories.citation(old, f"run={old.pk}&metric=latency.p97")
    series = citation.content["points"][0]["series"]
    snapshots.save_reference("tails", citation, series, user=None, actor="tests")
    before = reference("tails", ("tails",))
    assert (before.runs, before.lost) == ((old.pk,), ())
    detaching.detach(first_of(old), ACTOR)
    assert reference("tails", ("tails",)) == before
