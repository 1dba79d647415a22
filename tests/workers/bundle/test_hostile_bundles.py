"""Bundles that say what cannot be: each refused with file and field, and nothing of it stored."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tarfile
import tracemalloc
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from results import ingest, models
from results.domain.errors import IngestError
from results.domain.json_text import MOST_DEPTH
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import Message
from tests import factories, hostile
from workers import dispatch
from workers.bundle import reader
from workers.bundle.manifest import FILE

STDOUT, SIZES, LOG = "workload/stdout", "collectors/pg_stat/primary/sizes.json", "collectors/pg_stat/primary/server.log"
NESTED = '{"a":' * 10_000 + "1" + "}" * 10_000


def refused(path: Path) -> IngestError:
    with pytest.raises(IngestError) as raised:
        reader.read(path)
    return raised.value


def test_the_bundle_that_the_others_are_made_of_is_whole(tmp_path: Path) -> None:
    parsed = reader.read(hostile.changed(tmp_path / "b.tar.gz"))
    assert parsed.succeeded
    assert any(one.metric == "tps" and one.value > 0 for one in parsed.measurements)


@pytest.mark.parametrize(
    ("changes", "where", "why"),
    [
        ({"attempt": True}, "", "attempt: True is not a whole number"),
        ({"attempt": 0}, ": attempt", "0 is no number of an attempt"),
        ({"attempt": 10**30}, ": attempt", "is no number of an attempt"),
        ({"ended_s": 1e300}, "manifest.json: ended_s", "1e+300 is no time"),
        ({"started_s": -1}, "manifest.json: started_s", "-1 is no time"),
        ({"ended_s": 5e8}, "manifest.json: ended_s", "the attempt lasts -"),
        ({"ended_s": 4e9}, "manifest.json: ended_s", "the attempt lasts 2"),
        ({"window": [5.0, 5.0]}, "manifest.json: window", "it lasts 0 s"),
        ({"window": [9.0, 5.0]}, "manifest.json: window", "it lasts -4 s"),
        ({"window": [1e8, 1.1e8]}, "manifest.json: window", "more than a day away"),
        ({"window": [True, 5.0]}, "", "window[0]: True is not a number"),
        ({"window": [10**5000, 5]}, "", "digits"),
        ({"phases": [{"name": "x", "offset_s": 0, "seconds": True}]}, "", "phases[0].seconds: True is not a number"),
        ({"spec__workload": "../../x"}, "manifest.json: spec.workload", ""),
        ({"spec__workload": "pgbench.spec"}, "manifest.json: spec.workload", ""),
        ({"spec__workload": 5}, "manifest.json: spec.workload", "5 is not text"),
        ({"spec__topology": "os"}, "manifest.json: spec.topology", ""),
        ({"spec__collectors": ["..pg_stat"]}, "manifest.json: spec.collectors[0]", ""),
        ({"collectors": [["../evil", "primary"]]}, "manifest.json: collectors[0][0]", ""),
        ({"spec__duration_s": "long"}, "manifest.json: spec.duration_s", "'long' is not a number"),
        ({"spec__parameters": {"scale": {"a": 1}}}, "manifest.json: spec.parameters", ""),
        ({"spec__agents": "db1"}, "manifest.json: spec", ""),
        ({"teiten": "1.0\0"}, "manifest.json", "teiten: it holds NUL"),
        ({"teiten": "\ud800"}, "manifest.json", "teiten: it holds half a character"),
        ({"notes": {"look": {"phase": 1}}}, "manifest.json", "notes.look"),
        ({"notes": {"look": "x"}}, "manifest.json", "notes.look: 'x' is not an object"),
        ({"notes": {"imported": {"source": "x"}}}, "manifest.json", "notes.imported"),
        ({"notes": {"a\0b": 1}}, "manifest.json", "it holds NUL"),
        ({"notes": {"a": [1, {"b": "\udfff"}]}}, "manifest.json", "notes.a[1].b: it holds half a character"),
        ({"notes": []}, "manifest.json", "notes: [] is not an object"),
        ({"error": {"kind": "x", "what": "y\0"}}, "manifest.json", "error.what: it holds NUL"),
    ],
)
def test_a_manifest_that_cannot_be_is_refused_with_its_field(
    changes: dict[str, Any], where: str, why: str, tmp_path: Path
) -> None:
    if any(isinstance(value, list) and 10**5000 in value for value in changes.values()):
        sys.set_int_max_str_digits(0)
    try:
        path = hostile.changed(tmp_path / "b.tar.gz", **changes)
    finally:
        sys.set_int_max_str_digits(4300)
    error = refused(path)
    assert where in error.where
    assert why in error.why


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("notes", NESTED, f"more than {MOST_DEPTH} levels"),
        ("notes", '{"a":' * (MOST_DEPTH + 1) + "1" + "}" * (MOST_DEPTH + 1), f"more than {MOST_DEPTH} levels"),
        ("ended_s", "1e309", "ended_s: inf is no finite number"),
        ("ended_s", "NaN", "ended_s: nan is no finite number"),
        ("window", "[1, Infinity]", "window[1]: inf is no finite number"),
        ("attempt", "9" * 5000, "digits"),
    ],
)
def test_numbers_and_depths_that_json_allows_and_no_bundle_has(
    field: str, value: str, why: str, tmp_path: Path
) -> None:
    files = hostile.recorded()
    manifest = hostile.manifest_of(files) | {field: "HERE"}
    error = refused(hostile.packed(tmp_path / "b.tar.gz", files, json.dumps(manifest).replace('"HERE"', value)))
    assert error.where.startswith("manifest.json")
    assert why in error.why


@pytest.mark.parametrize(
    ("file", "old", "new", "field", "why"),
    [
        (STDOUT, "tps = ", "tps = -", "workload: tps", "is negative"),
        (STDOUT, "actually processed: ", "actually processed: -", "workload: transactions", "is negative"),
        (STDOUT, "latency average = ", "latency average = 1e300 ms\n", "workload: latency.mean", "1e+303 is no number"),
        ("workload/stderr", "progress: 1.0 s, ", "progress: 1.0 s, -", "workload: series tps", "is not between 0"),
    ],
)
def test_a_number_that_cannot_be_is_refused_with_its_file(
    file: str, old: str, new: str, field: str, why: str, tmp_path: Path
) -> None:
    path = hostile.rewritten(tmp_path / "b.tar.gz", file, old, new)
    error = refused(path)
    assert field in error.where
    assert why in error.why


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"table_bytes": ', '"table_bytes": -', "is negative"),
        ('"table_bytes":', '"table_bytes":1e300, "x":', "1e+300"),
        ('"name":', '"name":"a\\u0000b", "x":', "NUL"),
        ('"name":', '"name":"a\\ud800b", "x":', "half a character"),
    ],
)
def test_a_collector_that_says_what_cannot_be_costs_a_gap_or_the_trial_that_requires_it(
    old: str, new: str, why: str, tmp_path: Path
) -> None:
    parsed = reader.read(hostile.rewritten(tmp_path / "b.tar.gz", SIZES, old, new))
    (gap,) = parsed.gaps
    assert (gap.source, gap.node) == ("pg_stat", "primary")
    assert gap.reason.startswith("collectors/pg_stat/primary: size.table primary ")
    assert isinstance(gap.reason, Message), "it is shown in the reader's language"
    assert why in gap.reason
    assert parsed.succeeded
    names = {one.metric for one in parsed.measurements}
    assert "tps" in names
    assert "size.table" not in names, "nothing of that collector's part is stored"
    files = hostile.recorded()
    files[SIZES] = files[SIZES].replace(old.encode(), new.encode())
    manifest = hostile.manifest_of(files)
    manifest["spec"]["required_collectors"] = ["pg_stat"]
    error = refused(hostile.packed(tmp_path / "required.tar.gz", files, manifest))
    assert "collectors/pg_stat/primary: size.table" in error.where
    assert why in error.why


@pytest.mark.parametrize("window", [[9.0, 5.0], [5.0, 5.0], [1e8, 1.1e8]])
def test_a_window_that_cannot_be_names_the_clock_and_what_to_do(window: list[float], tmp_path: Path) -> None:
    error = refused(hostile.changed(tmp_path / "b.tar.gz", window=window))
    assert error.why.endswith("the client's clock was probably set while it measured.")
    assert error.todo.startswith("Have chrony slew the clock of the client's machine")
    assert error.todo.endswith("retry the trial. Nothing of this bundle was stored, and it is kept.")


def test_a_clock_that_was_stepped_costs_the_age_of_the_server_and_not_the_trial(tmp_path: Path) -> None:
    files = hostile.recorded()
    for name in ("before.json", "after.json"):
        snapshot = json.loads(files[f"collectors/pg_stat/primary/{name}"])
        snapshot["postmaster_started"] = 4e9
        files[f"collectors/pg_stat/primary/{name}"] = json.dumps(snapshot).encode()
    parsed = reader.read(hostile.packed(tmp_path / "b.tar.gz", files, hostile.manifest_of(files)))
    (gap,) = parsed.gaps
    assert (gap.source, gap.node) == ("steady.server_age", "primary")
    assert "is negative" in gap.reason
    assert parsed.succeeded
    names = {one.metric for one in parsed.measurements}
    assert "steady.server_age" not in names
    assert "size.table" in names


@pytest.mark.parametrize(
    ("phase", "why"),
    [
        ({"name": "x", "offset_s": 0, "seconds": -1}, "phases[0].seconds: -1 s is nothing"),
        ({"name": "x", "offset_s": 1e300, "seconds": 1}, "phases[0].offset_s: 1e+300 s is nothing"),
    ],
)
def test_a_phase_that_cannot_be_is_left_out_with_a_gap(phase: dict[str, Any], why: str, tmp_path: Path) -> None:
    whole = {"name": "prepare", "offset_s": 0, "seconds": 1}
    parsed = reader.read(hostile.changed(tmp_path / "b.tar.gz", phases=[phase, whole]))
    assert parsed.succeeded
    assert [one.name for one in parsed.phases] == ["prepare"]
    assert [one.label for one in parsed.measurements if one.metric == "phase.seconds"] == ["prepare"]
    (gap,) = parsed.gaps
    assert why in gap.reason


def tar_of(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    """Write an archive with these members before a whole bundle's."""
    with tarfile.open(path, "w:gz") as archive:
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        whole = reader.open_files(hostile.changed(path.with_name("whole.tar.gz")))
        for name, data in whole.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    error = refused(tar_of(tmp_path / "b.tar.gz", (tarfile.TarInfo(STDOUT), b"tps = 1e9")))
    assert error.what == "Two files of the bundle have one name."
    assert error.where.endswith(f": {STDOUT}")


def test_a_file_without_a_checksum_is_refused(tmp_path: Path) -> None:
    error = refused(tar_of(tmp_path / "b.tar.gz", (tarfile.TarInfo("workload/timed_out"), b"yes")))
    assert "manifest does not list" in error.what
    assert "workload/timed_out" in error.where


def test_links_and_devices_in_an_archive_are_no_files(tmp_path: Path) -> None:
    link = tarfile.TarInfo("workload/timed_out")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device = tarfile.TarInfo("workload/exit2")
    device.type = tarfile.CHRTYPE
    path = tar_of(tmp_path / "b.tar.gz", (link, b""), (device, b""))
    files = reader.open_files(path)
    assert files.keys() == hostile.recorded().keys()


def test_an_archive_that_unpacks_without_end_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    member = tarfile.TarInfo("workload/stdout")
    member.size = 2**40
    path = tmp_path / "b.tar.gz"
    path.write_bytes(gzip.compress(member.tobuf()))
    assert "larger than 4 GB" in refused(path).what


def of_gnu(name: str, size_bytes: int) -> bytes:
    """The header of a sparse file in GNU's first format: nothing of it is there, but for its last byte."""
    member = tarfile.TarInfo(name)
    member.type, member.size = tarfile.GNUTYPE_SPARSE, 1
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[386:410] = b"%011o\0%011o\0" % (size_bytes - 1, 1)
    header[483:495] = b"%011o\0" % size_bytes
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + b"x".ljust(512, b"\0")


def of_pax(name: str, size_bytes: int, **headers: str) -> bytes:
    member = tarfile.TarInfo(name)
    member.size = 1
    member.pax_headers = {f"GNU.sparse.{key}": value.format(size_bytes) for key, value in headers.items()}
    return member.tobuf(tarfile.PAX_FORMAT) + b"x".ljust(512, b"\0")


SPARSE = {
    "GNU": of_gnu,
    "pax 0.0": partial(of_pax, size="{}", numblocks="1", offset="0", numbytes="1"),
    "pax 0.1": partial(of_pax, size="{}", map="0,1"),
    "pax 1.0": partial(of_pax, realsize="{}", major="1", minor="0"),
}


@pytest.mark.parametrize("kind", SPARSE)
def test_a_sparse_file_is_refused_before_it_is_unpacked(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "b.tar.gz"
    path.write_bytes(gzip.compress(SPARSE[kind](STDOUT, 64 * 1024**2) + bytes(1024)))
    tracemalloc.start()
    error = refused(path)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (error.what, error.where) == ("A file of the bundle is sparse.", STDOUT)
    assert peak_bytes < 4 * 1024**2


def test_a_header_without_end_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "b.tar.gz"
    for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME):
        header = tarfile.TarInfo(STDOUT)
        header.type, header.size = kind, 2**20
        path.write_bytes(gzip.compress(header.tobuf() + b"1" * 2**20))
        assert refused(path).what == "A file of the bundle has too long a header."


def test_files_that_overlap_are_together_no_larger_than_a_bundle_may_be(tmp_path: Path) -> None:
    """The second begins where the first says to be still: it is not sparse, and its size is not what it takes."""
    path = tmp_path / "b.tar.gz"
    files = b"".join(of_pax(f"workload/{n}", 4096, realsize="{}") for n in range(8))
    path.write_bytes(gzip.compress(files + bytes(8192)))
    assert len(reader.open_files(path, 8 * 4096)) == 8
    with pytest.raises(IngestError, match="larger than"):
        reader.load(path, 8 * 4096 - 1)


def test_an_archive_of_very_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hostile.changed(tmp_path / "b.tar.gz")
    count = len(reader.open_files(path))
    monkeypatch.setattr(reader, "MOST_FILES", count)
    reader.read(path)
    monkeypatch.setattr(reader, "MOST_FILES", count - 1)
    assert f"more than {count - 1} files" in refused(path).what


@pytest.mark.parametrize("bytes_left", [0, 1, 10, 100, 1000])
def test_an_archive_that_was_cut_off_is_refused(bytes_left: int, tmp_path: Path) -> None:
    path = hostile.changed(tmp_path / "b.tar.gz")
    path.write_bytes(path.read_bytes()[:bytes_left])
    assert refused(path).what == "The bundle cannot be read."


def test_a_chain_of_long_names_is_refused(tmp_path: Path) -> None:
    """tarfile follows each header into the next one."""
    link = tarfile.TarInfo("././@LongLink")
    link.type, link.size = tarfile.GNUTYPE_LONGNAME, 1
    block = link.tobuf() + b"a".ljust(512, b"\0")
    path = tmp_path / "b.tar.gz"
    path.write_bytes(gzip.compress(block * 5000))
    assert refused(path).what == "The bundle cannot be read."


def test_a_manifest_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(FILE)
        member.size = 2
        archive.addfile(member, io.BytesIO(b"\xff\xfe"))
    assert refused(path).what == "The manifest is no text in UTF-8."


def test_nul_in_a_raw_file_is_shown_as_a_strange_character(tmp_path: Path) -> None:
    text = "2026-01-01 00:00:00.000 UTC [1] ERROR:  bad \0 byte\n"
    files = hostile.recorded()
    files[LOG] = text.encode()
    window = hostile.manifest_of(files)["window"]
    moment = f"{datetime.fromtimestamp(window[0] + 1, UTC):%Y-%m-%d %H:%M:%S}.000"
    files[LOG] = text.replace("2026-01-01 00:00:00.000", moment).encode()
    parsed = reader.read(hostile.packed(tmp_path / "b.tar.gz", files, hostile.manifest_of(files)))
    assert [event.text for event in parsed.events] == ["ERROR: bad \ufffd byte"]


@pytest.mark.django_db
def test_a_trial_with_such_a_bundle_fails_in_words_and_stores_nothing(tmp_path: Path, client: Client) -> None:
    run = factories.run()
    trial = run.trials.order_by("position").first()
    attempt = factories.begin(trial)
    error = refused(hostile.rewritten(tmp_path / "b.tar.gz", STDOUT, "tps = ", "tps = -"))
    dispatch.finish(attempt.pk, error.as_dict(), timezone.now())
    trial.refresh_from_db()
    assert trial.state == "failed"
    assert not models.Measurement.objects.filter(run=run).exists()
    told = client.get(f"/api/v1/trials/{trial.pk}/").json()["error"]
    assert (told["kind"], told["what"]) == ("ingest", "The bundle says what cannot be.")
    assert told["where"] == "workload: tps"
    assert "is negative" in told["why"]
    assert "Nothing of this bundle was stored" in told["todo"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("metric", "field"),
    [
        (Metric("own.rows", "1", Better.LOWER, "rows", "Printed by the trial's own command."), "better"),
        (Metric("own.rows", "1", Better.HIGHER, "<b>No</b>", "Printed by the trial's own command."), "label"),
    ],
)
def test_an_imported_bundle_gives_no_other_meaning_to_a_metric_of_this_warehouse(metric: Metric, field: str) -> None:
    ours = Metric("own.rows", "1", Better.HIGHER, "rows", "Printed by the trial's own command.", signed=True)
    run = factories.run()
    here, elsewhere = run.trials.order_by("position")[:2]
    factories.store(here, metrics=(*factories.METRICS, ours), named_by_output=frozenset({"own.rows"}))
    models.Trial.objects.filter(pk=elsewhere.pk).update(bundle_key="7/7")
    elsewhere.refresh_from_db()
    with pytest.raises(IngestError) as raised:
        factories.store(
            elsewhere, trial_key="7/7", metrics=(*factories.METRICS, metric), named_by_output=frozenset({"own.rows"})
        )
    assert field in raised.value.what
    row = models.Metric.objects.get(name="own.rows")
    assert (row.label, row.better) == ("rows", "higher")
    assert not models.Measurement.objects.filter(attempt__trial=elsewhere).exists()


@pytest.mark.django_db
def test_the_last_gate_refuses_what_no_bundle_should_have_let_through() -> None:
    trial = factories.run().trials.order_by("position").first()
    attempt = factories.begin(trial)
    with pytest.raises(IngestError, match="cannot be") as raised:
        ingest.store(factories.parsed(trial, attempt.number, -1.0), attempt.pk, ingest.Archive("", "", 0))
    assert raised.value.where == f"{trial.run_id}/{trial.pk}: tps"
    assert not models.Measurement.objects.exists()
