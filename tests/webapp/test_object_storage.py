"""Bundles in a bucket: written, read, exported, imported, backed up, restored and removed there, and there alone."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client

from results import bundle_files, models, removal, retention
from results.backups.restoring import restore
from results.backups.writing import back_up
from results.bundle_storage import UNFINISHED, storage
from results.domain.errors import AwayError, BackupError, IngestError
from results.object_storage import ObjectStorage
from tests import buckets, factories
from tests.databases import Elsewhere, empty_database
from tests.imported import recorded
from tests.measured_runs import exported, forget, measured_run, numbers, write_bundle
from tests.results.test_foreign_results import stored
from webapp import env, health
from workers import access, importing, reingest, uploads
from workers import attempt as attempts
from workers.bundle.writer import checksum

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with buckets.object_storage() as address:
        yield address


@pytest.fixture
def bucket(address: str, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The test's own part of the bucket, as Teiten is told it."""
    for name, value in buckets.KEYS.items():
        monkeypatch.setenv(name, value)
    url = f"s3://{buckets.BUCKET}/{tmp_path.name}/bundles?endpoint={address}"
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.TEITEN_BUNDLE_DIR = tmp_path / "folder"
    settings.TEITEN_OPEN_READING = True
    settings.STORAGES = settings.STORAGES | {"bundles": env.bundle_storage(url), "staticfiles": plain}
    return buckets.client(address)


@pytest.fixture
def run(bucket: Any) -> models.Run:
    run = measured_run()
    for row in attempts_of(run):
        bundle_files.keep_bundle(folder(row), row.bundle, row.bundle_sha256)
        folder(row).unlink()
    return run


def folder(row: models.Attempt) -> Path:
    return Path(storage_folder()) / row.bundle


def storage_folder() -> Path:
    return Path(django_settings.TEITEN_BUNDLE_DIR)


def attempts_of(run: models.Run) -> list[models.Attempt]:
    return list(models.Attempt.objects.filter(run=run).exclude(bundle="").order_by("pk"))


def in_bucket(bucket: Any, tmp_path: Path) -> list[str]:
    prefix = f"{tmp_path.name}/bundles/"
    answer = bucket.list_objects_v2(Bucket=buckets.BUCKET, Prefix=prefix)
    return [one["Key"].removeprefix(prefix) for one in answer.get("Contents", ())]


def files_here() -> list[Path]:
    return [path for path in storage_folder().rglob("*") if path.is_file()]


def test_raw_files_are_read_from_the_bucket_and_none_stays_here(run: models.Run, bucket: Any, tmp_path: Path) -> None:
    row = attempts_of(run)[0]
    assert in_bucket(bucket, tmp_path) == sorted(one.bundle for one in attempts_of(run))
    head = bucket.head_object(Bucket=buckets.BUCKET, Key=f"{tmp_path.name}/bundles/{row.bundle}")
    assert (head["ContentType"], head.get("ContentEncoding")) == ("application/gzip", None)
    client = Client()
    text = client.get(f"/trials/{row.trial_id}/{row.number}/file/workload/exit")
    assert (text.status_code, text.content) == (200, b"0\n")
    archive: Any = client.get(f"/trials/{row.trial_id}/{row.number}/bundle/")
    (tmp_path / "bundle.tar.gz").write_bytes(b"".join(archive.streaming_content))
    assert checksum(tmp_path / "bundle.tar.gz") == row.bundle_sha256
    assert int(archive["Content-Length"]) == row.bundle_bytes
    assert files_here() == []


def test_a_bundle_of_a_private_run_is_not_served(run: models.Run) -> None:
    row = attempts_of(run)[0]
    models.Run.objects.filter(pk=run.pk).update(private=True, standing="exploratory")
    for path in ("bundle/", "file/workload/exit"):
        assert Client().get(f"/trials/{row.trial_id}/{row.number}/{path}").status_code == 404


def test_a_missing_object_is_named_and_no_path_leads_out_of_the_prefix(run: models.Run) -> None:
    row = attempts_of(run)[0]
    storage().delete(row.bundle)
    answer = Client().get(f"/trials/{row.trial_id}/{row.number}/bundle/")
    assert "The bundle is not in the archive." in answer.content.decode()
    for name in ("../other/1.tar.gz", "1/../../other", "/other", ""):
        with pytest.raises(IngestError):
            storage().exists(name)


@pytest.mark.django_db(transaction=True)  # a worker has connections of its own
def test_a_worker_s_bundle_goes_to_the_bucket_before_a_row_names_it(bucket: Any, tmp_path: Path) -> None:
    trial = factories.run(collectors=["pg_stat"]).trials.select_related("configuration").order_by("position")[0]
    row = factories.begin(trial)
    archived = write_bundle(trial, row.number)
    with access.shared() as shared:
        assert attempts._store_result(shared, row.pk, storage_folder(), archived) is None
    row.refresh_from_db()
    assert (in_bucket(bucket, tmp_path), row.bundle_sha256) == ([row.bundle], archived.sha256)
    assert models.Measurement.objects.filter(attempt=row).count() > 10
    assert files_here() == []
    # A worker that goes on with an attempt whose bundle is in the bucket stores it from there.
    with access.shared() as shared:
        assert attempts._store_result(shared, row.pk, storage_folder(), archived) is None


def test_another_file_in_a_bundle_s_place_stays(bucket: Any, tmp_path: Path) -> None:
    storage().write("1/1-1.tar.gz", b"somebody's")
    mine = tmp_path / "mine"
    mine.write_bytes(b"mine")
    with pytest.raises(IngestError, match="another file"):
        bundle_files.keep_bundle(mine, "1/1-1.tar.gz", checksum(mine))
    with storage().file("1/1-1.tar.gz") as path:
        assert path.read_bytes() == b"somebody's"
    assert mine.exists()


def test_a_run_is_exported_removed_and_imported_again(run: models.Run, bucket: Any, tmp_path: Path) -> None:
    before = numbers(run)
    archive = exported(run, tmp_path)
    forget(run)
    assert in_bucket(bucket, tmp_path) == []
    again = importing.import_run(archive, user=None, actor="tests")
    assert numbers(again) == before
    assert in_bucket(bucket, tmp_path) == sorted(one.bundle for one in attempts_of(again))
    assert [one.error for one in reingest.reread(again.pk, replace=False)] == [None] * len(attempts_of(again))
    assert files_here() == []


def test_an_upload_that_is_refused_leaves_nothing(bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = factories.run(collectors=["pg_stat"]).trials.select_related("configuration").order_by("position")[0]
    path = storage_folder() / write_bundle(trial, 1).path
    data = path.read_bytes()
    path.unlink()
    with monkeypatch.context() as patched:
        patched.setattr(uploads, "_failure", lambda _error: {}["nothing"])
        with pytest.raises(KeyError):
            uploads.receive_bundle(trial.pk, [data], user=None, actor="tests")
    assert in_bucket(bucket, tmp_path) == []
    assert uploads.receive_bundle(trial.pk, [data], user=None, actor="tests") == (trial.pk, True)
    assert in_bucket(bucket, tmp_path) == [models.Attempt.objects.get(trial=trial).bundle]


def test_files_of_other_programs_are_kept_in_the_bucket(bucket: Any, tmp_path: Path) -> None:
    run = stored(*recorded("pgbench-15-c2.txt"))
    [name] = in_bucket(bucket, tmp_path)
    with storage().file(name) as path, tarfile.open(path) as archive:
        assert archive.getnames() == ["pgbench-15-c2.txt"]
    removal.delete_runs([run.pk], "tests")
    assert in_bucket(bucket, tmp_path) == []


def test_raw_files_are_pruned_in_the_bucket(run: models.Run, bucket: Any, tmp_path: Path) -> None:
    models.Run.objects.filter(pk=run.pk).update(state="finished", ended_at="2020-01-01T00:00Z")
    pruned = retention.prune(run.pk, retention.Retention(timedelta(days=1), kept_too=True), "tests")
    assert (pruned.loss is not None, pruned.left) == (True, ())
    assert in_bucket(bucket, tmp_path) == []


@pytest.mark.django_db(transaction=True)
def test_a_backup_holds_the_bucket_s_bundles_and_restores_them_into_another(
    run: models.Run, bucket: Any, tmp_path: Path, settings: Any, address: str
) -> None:
    back_up(tmp_path / "backup")
    with pytest.raises(BackupError, match="not empty"):
        restore(tmp_path / "backup")
    with empty_database() as name:
        elsewhere = Elsewhere(name, tmp_path / "elsewhere", settings)
        with elsewhere.here():
            with pytest.raises(BackupError, match="bundle folder is not empty"):
                restore(tmp_path / "backup")
            url = f"s3://{buckets.BUCKET}/{tmp_path.name}/restored?endpoint={address}"
            settings.STORAGES = settings.STORAGES | {"bundles": env.bundle_storage(url)}
            assert restore(tmp_path / "backup").manifest.counts.bundles == 7
            assert len(storage().sizes(one.bundle for one in models.Attempt.objects.exclude(bundle=""))) == 7


def test_a_storage_that_is_away_is_waited_for_and_then_named(bucket: Any, settings: Any, tmp_path: Path) -> None:
    nowhere = env.bundle_storage(f"s3://{buckets.BUCKET}?endpoint=http://127.0.0.1:1")
    settings.STORAGES = settings.STORAGES | {"bundles": nowhere}
    (tmp_path / "mine").write_bytes(b"mine")
    with pytest.raises(AwayError, match="does not answer"):
        bundle_files.keep_bundle(tmp_path / "mine", "1/1-1.tar.gz", "", patience_s=0)
    with pytest.raises(AwayError, match="does not answer"):
        health.check_bundles()
    with pytest.raises(OSError, match="Could not connect"):
        storage().try_out()


def test_doctor_s_trial_leaves_nothing_and_the_bucket_is_ready(bucket: Any, tmp_path: Path) -> None:
    storage().try_out()
    health.check_bundles()
    assert (in_bucket(bucket, tmp_path), files_here()) == ([], [])
    assert storage().shown("1/2-1.tar.gz") == f"s3://{buckets.BUCKET}/{tmp_path.name}/bundles/1/2-1.tar.gz"
    assert (storage_folder() / UNFINISHED).is_dir() and isinstance(storage(), ObjectStorage)
