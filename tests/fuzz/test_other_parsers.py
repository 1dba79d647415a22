"""Facts of agents, query plans, settings, files of other programs, tables, manifests and archives: named or read."""

from __future__ import annotations

import gzip
import io
import json
import math
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.domain.errors import ImportedFileError, IngestError, TeitenError
from results.domain.imports.table import (
    CsvOptions,
    read_rows,
    read_trials,
    suggested_columns,
    suggested_decimal,
    suggested_delimiter,
)
from results.domain.imports.values import ImportedTrial, SourceFile, TextFile
from results.domain.measurement import query_plans
from tests import hostile, imported
from tests.factories import DATA
from tests.fuzz.mutations import TIMES, as_decoded, mutated, quick
from workers import registry
from workers.bundle import reader
from workers.bundle.manifest import FILE, Manifest
from workers.collectors.pg_stat.log import events
from workers.imports.reading import read_files
from workers.remote.facts_parse import parse_facts
from workers.workloads.capabilities import query_plan, refusal
from workers.workloads.ssb.messages import read_messages

EXPLAIN = json.dumps(
    [
        {
            "Plan": {
                "Node Type": "Gather",
                "Actual Rows": 7,
                "Actual Loops": 1,
                "Actual Total Time": 1.5,
                "Shared Hit Blocks": 3,
                "Shared Read Blocks": 4,
                "Workers Planned": 2,
                "Workers Launched": 1,
                "Plans": [{"Node Type": "Seq Scan", "Relation Name": "lineorder", "Filter": "(a = 1)"}],
            },
            "Planning Time": 0.25,
            "Execution Time": 2.5,
            "JIT": {"Functions": 3, "Timing": {"Generation": {"Deform": 0.1, "Total": 0.5}, "Total": 1.0}},
            "Settings": {"work_mem": "64MB"},
        }
    ],
    indent=1,
)
TABLE = "version,clients,rep,tps,avg latency\n16.4,8,1,1000.5,8.0\n16.4,8,2,1100,7.5\n17.2,8,1,1300,6.1\n"
IMPORTS = sorted(path.name for path in imported.FOLDER.iterdir() if path.suffix != ".md" and ".log." not in path.name)


def plan_of(text: str) -> None:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return
    plan = query_plans.read_plan(content)
    query_plans.workers(content)
    assert plan.lines


def facts_of(text: str) -> None:
    facts = parse_facts(text)
    assert facts.memory_bytes >= 0
    for layer in facts.layers:
        assert layer.hash


TEXTS: dict[str, tuple[Callable[[str], object], str]] = {
    "facts": (facts_of, (DATA / "facts" / "debian-12-virtual.txt").read_text()),
    "explain": (plan_of, EXPLAIN),
    "server-log": (lambda text: events(text, "primary", 1.8e9), (DATA / "pg_stat" / "16" / "server.log").read_text()),
    "capability-plan": (query_plan.nodes, (DATA / "capabilities" / "18" / "alone.plan.json").read_text()),
    "capability-refusal": (refusal.read, (DATA / "capabilities" / "18" / "refused.stderr").read_text()),
    "ssb-messages": (read_messages, (DATA / "ssb" / "17.stderr").read_text()[:20_000]),
    "manifest": (Manifest.from_json, hostile.recorded()[FILE].decode()),
}


@TIMES
@pytest.mark.parametrize("name", TEXTS)
def test_a_changed_text_is_read_or_named(name: str, times: int) -> None:
    read, text = TEXTS[name]
    read(text)

    @quick(40, times)
    @given(st.data())
    def examples(data: st.DataObject) -> None:
        with suppress(TeitenError):
            read(as_decoded(data.draw(mutated(text))))

    examples()


def require_possible(trials: list[ImportedTrial]) -> None:
    for trial in trials:
        for one in trial.part.measurements:
            assert math.isfinite(one.value), one
        for series in trial.part.series:
            assert not any(math.isinf(value) for value in series.values), series.name


@TIMES
@pytest.mark.parametrize("name", IMPORTS)
def test_a_changed_file_of_another_program_is_read_or_named(name: str, times: int) -> None:
    [file] = imported.recorded(name)
    text = file.content.decode("utf-8", "replace")

    @quick(20, times)
    @given(st.data())
    def examples(data: st.DataObject) -> None:
        content = data.draw(mutated(text)).encode("utf-8", "surrogatepass")
        with suppress(ImportedFileError):
            require_possible(read_files([SourceFile(name, content)])[1])

    examples()


@quick(150)
@given(st.data())
def test_a_changed_table_is_read_or_named(data: st.DataObject) -> None:
    text = data.draw(mutated(TABLE))
    known = {metric.name: metric for metric in registry.import_metrics()}
    with suppress(ImportedFileError):
        delimiter = suggested_delimiter(text)
        rows = read_rows(TextFile("a.csv", text), delimiter)
        decimal = suggested_decimal(rows)
        options = CsvOptions(decimal, suggested_columns(rows, decimal, known))
        require_possible(read_trials("a.csv", rows, options, known))


@quick(40)
@given(data=st.data())
def test_a_changed_archive_is_read_as_it_was_or_named(data: st.DataObject, tmp_path_factory: Any) -> None:
    path: Path = tmp_path_factory.mktemp("archives") / "b.tar.gz"
    whole = hostile.changed(path).read_bytes()
    expected = reader.read(path)
    tar = gzip.decompress(whole)
    content = whole
    kind = data.draw(st.sampled_from(["cut", "byte", "tar byte", "tar cut", "other bytes"]))
    index = data.draw(st.integers(0, len(tar if "tar" in kind else whole) - 1))
    if kind == "cut":
        content = whole[:index]
    elif kind == "byte":
        content = whole[:index] + bytes([whole[index] ^ data.draw(st.integers(1, 255))]) + whole[index + 1 :]
    elif kind == "tar byte":
        content = gzip.compress(
            tar[:index] + bytes([tar[index] ^ data.draw(st.integers(1, 255))]) + tar[index + 1 :], 1
        )
    elif kind == "tar cut":
        content = gzip.compress(tar[:index], 1)
    else:
        content = data.draw(st.binary(max_size=2000))
    path.write_bytes(content)
    with suppress(IngestError):
        parsed = reader.read(path)
        assert parsed.measurements == expected.measurements
        assert parsed.error == expected.error


@quick(60)
@given(st.data())
def test_a_manifest_with_other_values_is_refused_or_gives_numbers_that_can_be(data: st.DataObject) -> None:
    files = hostile.recorded()
    manifest = hostile.manifest_of(files)
    place: Any = manifest
    while isinstance(place, (dict, list)) and place:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    strange: list[Any] = [
        None,
        True,
        -1,
        0,
        1e300,
        10**30,
        "",
        "../../x",
        "a" * 500,
        [],
        {},
        [[]],
        {"a": {}},
        [None],
        2**63,
    ]
    place[key] = data.draw(st.sampled_from(strange))
    with suppress(TeitenError):
        parsed = reader.parse(Manifest.from_json(json.dumps(manifest)), files)
        assert all(math.isfinite(one.value) for one in parsed.measurements)


def test_members_that_are_no_files_do_not_stop_a_reader(tmp_path: Path) -> None:
    @quick(30)
    @given(st.binary(min_size=512, max_size=2048), st.sampled_from([tarfile.XHDTYPE, tarfile.GNUTYPE_SPARSE, b"9"]))
    def examples(body: bytes, kind: bytes) -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            member = tarfile.TarInfo("x")
            member.type, member.size = kind, len(body)
            archive.addfile(member, io.BytesIO(body))
        path = tmp_path / "b.tar.gz"
        path.write_bytes(buffer.getvalue())
        with pytest.raises(IngestError):
            reader.read(path)

    examples()
