"""A run as one archive: what it holds, its name, its metadata, and when it is refused."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rocrate.rocrate import ROCrate

from results import models
from results.domain.errors import ArchiveError, StateError
from results.domain.research_object import limits
from results.domain.research_object.crate import CRATE
from results.exporting import CHECKSUMS, export
from tests import factories
from tests.measured_runs import exported, measured_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def bundles(settings: Any, tmp_path: Path) -> Path:
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"
    return tmp_path / "bundles"


@pytest.fixture
def source() -> models.Run:
    return measured_run()


@pytest.fixture
def archive(source: models.Run, tmp_path: Path) -> Path:
    return exported(source, tmp_path)


def test_the_name_of_the_file_says_what_it_holds(source: models.Run, archive: Path) -> None:
    assert archive.name == f"run-{source.pk}-16-against-18-{source.ended_at:%Y-%m-%d}.zip"


def test_the_same_run_gives_the_same_bytes(source: models.Run, archive: Path) -> None:
    assert b"".join(export(source.pk).chunks) == archive.read_bytes()


def test_an_export_leaves_out_hosts_and_accounts(source: models.Run, archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        texts = "".join(opened.read(name).decode() for name in opened.namelist() if not name.startswith("bundles/"))
    assert "The worker was not heard of." in texts
    assert [
        word for word in ("host17", "127.0.0.1", "/srv/data", "worker of the tests", '"bench"') if word in texts
    ] == []


def test_a_run_that_goes_on_and_one_without_its_files_are_not_exported(source: models.Run, bundles: Path) -> None:
    with pytest.raises(StateError, match="it is exported when it has ended"):
        export(factories.run(name="another").pk)
    attempt = models.Attempt.objects.exclude(bundle="").first()
    (bundles / attempt.bundle).unlink()
    with pytest.raises(ArchiveError, match="Raw files of 1 attempts are missing"):
        export(source.pk)


def test_a_bundle_that_was_changed_breaks_the_export_off(source: models.Run, bundles: Path) -> None:
    path = bundles / models.Attempt.objects.exclude(bundle="").first().bundle
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ArchiveError, match="not the one that was ingested"):
        list(export(source.pk).chunks)


def test_every_file_has_its_checksum_and_other_programs_read_the_archive(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    done = subprocess.run(["sha256sum", "-c", CHECKSUMS], cwd=folder, capture_output=True, text=True, check=True)
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {line.removesuffix(": OK") for line in done.stdout.splitlines()} == names - {CHECKSUMS}
    assert {"run.json", "plan.toml", "layers.json", CRATE, "bundles/00000-2.tar.gz"} < names


def test_the_metadata_is_a_research_object_that_names_every_file(source: models.Run, archive: Path) -> None:
    """What else the specification requires was checked with roc-validator, by hand (docs/adr/0026)."""
    crate = ROCrate(archive)
    assert crate.root_dataset["name"] == f"Benchmark run {source.pk}: 16 against 18"
    assert crate.root_dataset["datePublished"] == f"{source.ended_at:%Y-%m-%d}"
    files = {entity.id: entity for entity in crate.data_entities}
    with zipfile.ZipFile(archive) as opened:
        assert set(files) == set(opened.namelist()) - {CRATE, CHECKSUMS}
        sizes = {entry.filename: str(entry.file_size) for entry in opened.infolist()}
    assert {name: file["contentSize"] for name, file in files.items()} == {name: sizes[name] for name in files}
    bundle = files["bundles/00003-1.tar.gz"]
    assert bundle["encodingFormat"] == "application/gzip"
    assert bundle["sha256"] == models.Attempt.objects.get(trial__position=3).bundle_sha256
    assert crate.dereference("#teiten")["softwareVersion"] == "1.0.0"


def test_an_export_takes_no_memory_for_its_size(source: models.Run, bundles: Path) -> None:
    attempt = models.Attempt.objects.exclude(bundle="").first()
    data = os.urandom(2**20) * 64
    (bundles / attempt.bundle).write_bytes(data)
    sha256 = hashlib.sha256(data).hexdigest()
    models.Attempt.objects.filter(pk=attempt.pk).update(bundle_sha256=sha256, bundle_bytes=len(data))
    del data
    tracemalloc.start()
    try:
        size = sum(map(len, export(source.pk).chunks))
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20 < 64 * 2**20 < size
    finally:
        tracemalloc.stop()


def test_an_export_asks_five_queries_an_attempt(source: models.Run) -> None:
    with CaptureQueriesContext(connection) as queries:
        list(export(source.pk).chunks)
    stored = models.Attempt.objects.exclude(ingested_at=None).count()
    assert (len(queries), stored) == (8 + 5 * stored, 7)


@pytest.mark.parametrize(
    ("limit", "most", "what"),
    [
        ("MOST_ENTRIES", 11, "would have 12 files"),
        ("MOST_BYTES", 1000, "more than"),
        ("MOST_TEXT_BYTES", 100, "run.json"),
    ],
)
def test_an_export_keeps_to_what_an_import_reads(
    limit: str, most: int, what: str, source: models.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, limit, most)
    with pytest.raises(ArchiveError, match=what):
        list(export(source.pk).chunks)
