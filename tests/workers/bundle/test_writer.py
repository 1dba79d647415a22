"""What a bundle's writer leaves out, and what it never replaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.domain.errors import IngestError
from results.domain.measurement.parsed_trial import Gap
from tests.workers.bundle.test_declared import SPEC
from workers.bundle import reader
from workers.bundle.manifest import Manifest
from workers.bundle.writer import BundleWriter

STDOUT, SAMPLES, LOG = "workload/stdout", "collectors/pg_stat/primary/samples.txt", "server/primary.log"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.bundle.writer.LARGEST_BUNDLE_BYTES", 1000)


def manifest(required: tuple[str, ...] = ()) -> Manifest:
    spec = SPEC.to_json() | {"collectors": ["pg_stat"], "required_collectors": list(required)}
    return Manifest("1/1", 1, "1", 0, 9, spec)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("required", [(), ("pg_stat",)])
def test_the_workloads_files_stay_and_a_required_collector_without_its_own_fails_the_trial(
    required: tuple[str, ...], tmp_path: Path
) -> None:
    writer = BundleWriter(tmp_path, "1/1", 1)
    for name, size in ((STDOUT, 800), (SAMPLES, 700), (LOG, 300)):
        writer.add(name, b"x" * size)
    archived = writer.finish(manifest(required))
    assert archived.error is None
    assert set(reader.open_files(tmp_path / archived.path)) == {"manifest.json", STDOUT}
    parsed = reader.read(tmp_path / archived.path)
    assert [(gap.source, gap.node) for gap in parsed.gaps] == [("pg_stat", "primary"), ("bundle", "")]
    assert parsed.gaps[0].reason.startswith(f"{SAMPLES}, of 700 bytes, was left out")
    assert parsed.succeeded is not bool(required)
    if required:
        assert parsed.error is not None
        assert "requires the collector pg_stat" in parsed.error["what"]


@pytest.mark.usefixtures("small")
def test_a_workload_that_wrote_more_than_a_bundle_holds_has_failed_by_name(tmp_path: Path) -> None:
    writer = BundleWriter(tmp_path, "1/1", 1)
    writer.add(STDOUT, b"x" * 1001)
    archived = writer.finish(manifest())
    assert archived.error is not None
    assert archived.error["where"] == STDOUT
    parsed = reader.read(tmp_path / archived.path)
    assert parsed.error == archived.error
    assert parsed.gaps == (Gap("bundle", "", str(archived.error["why"]).removesuffix(".")),)


def test_a_bundle_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    first, second = (BundleWriter(tmp_path, "1/1", 1) for _ in range(2))
    first.add(STDOUT, "first")
    archived = first.finish(manifest())
    content = (tmp_path / archived.path).read_bytes()
    second.directory.mkdir(parents=True)
    second.add(STDOUT, "second")
    with pytest.raises(IngestError, match="has a bundle already"):
        second.finish(manifest())
    with pytest.raises(IngestError, match="has a bundle already"):
        BundleWriter(tmp_path, "1/1", 1)
    assert (tmp_path / archived.path).read_bytes() == content
