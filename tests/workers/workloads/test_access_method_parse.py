"""A profile's protocol and outputs, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from results.domain.stored_texts import made_of
from workers.workloads.access_method.parse import parse
from workers.workloads.access_method.spec import SPEC

DATA = Path(__file__).parents[2] / "data" / "access_method"
COLUMNS = ("id", "val10", "val20")


def recorded(case: str) -> dict[str, str]:
    files: dict[str, str] = json.loads((DATA / f"{case}.json").read_text())
    return files


def parsed(files: dict[str, str]) -> Part:
    return parse(Reading("client", files, {}, (0.0, 3.0)))


def value(part: Part, metric: str, label: str = "") -> float:
    [values] = [m.value for m in part.measurements if (m.metric, m.label) == (metric, label)]
    return values


def has(part: Part, metric: str) -> bool:
    return any(m.metric == metric for m in part.measurements)


def protocol(files: dict[str, str]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(files["steps.json"])
    return entries


def number(files: dict[str, str], step: str) -> int:
    return next(number for number, entry in enumerate(protocol(files)) if entry["step"] == step)


def out(files: dict[str, str], step: str) -> str:
    return f"{number(files, step):03d}/stdout"


def changed(files: dict[str, str], step: str, **change: Any) -> dict[str, str]:
    entries = protocol(files)
    entries[number(files, step)] |= change
    return {**files, "steps.json": json.dumps(entries)}


@pytest.mark.parametrize("case", ["15-heap", "15-heap2"])
def test_every_number_is_of_a_declared_metric_and_told_once(case: str) -> None:
    part = parsed(recorded(case))
    assert part.failure == ""
    declared = {metric.name for metric in SPEC.metrics}
    assert {m.metric for m in part.measurements} <= declared
    keys = [(m.metric, m.label) for m in part.measurements]
    assert len(keys) == len(set(keys))


def test_the_recorded_heap_tells_every_metric_but_those_of_a_twin() -> None:
    reported = {m.metric for m in parsed(recorded("15-heap")).measurements}
    aa_run = {"scan.break_even", "scan.heap.seconds", "scan.heap.blocks", "scan.heap.blocks.read"}
    assert reported == {metric.name for metric in SPEC.metrics} - aa_run


def test_update_and_commit_are_told_apart() -> None:
    files = recorded("15-heap")
    lines = files[out(files, "update range")].splitlines()
    [update] = [float(line.split()[0]) for line in lines if "UPDATE foo" in line]
    [commit] = [float(line.split()[0]) for line in lines if line.strip().endswith("END;")]
    part = parsed(files)
    assert value(part, "update.latency", "range") == pytest.approx(1000 * update)
    assert value(part, "commit.latency", "range") == pytest.approx(1000 * commit)


def test_a_latency_without_a_label_is_called_that_of_one_row_beside_a_range() -> None:
    called = {metric.name: metric.whole for metric in SPEC.metrics}
    names = {one.metric for one in parsed(recorded("15-heap")).measurements if one.label == "range"}
    assert {name: called[name] for name in names} == dict.fromkeys(
        ("index_scan.latency", "update.latency", "commit.latency"), "one row"
    )


def test_bulk_insert_is_copy_and_commit_together() -> None:
    part = parsed(recorded("15-heap"))
    both = [value(part, "bulk_insert.seconds", f"foo: {word}") for word in ("COPY", "COMMIT")]
    assert value(part, "bulk_insert.seconds") == sum(both)


def test_what_was_refused_is_a_gap_and_no_number() -> None:
    part = parsed(recorded("15-heap2"))
    assert "pgstattuple foo: only heap AM is supported (SQLSTATE 0A000)" in [gap.reason for gap in part.gaps]
    assert not has(part, "dead_tuples.found")
    assert has(parsed(recorded("15-heap")), "dead_tuples.found")


def test_why_a_step_was_left_out_can_be_shown_in_another_language() -> None:
    why = _("It needs '{step}', which was not done.", step="pages foo")
    left_out = {"outcome": "skipped", "why": why, **made_of({"why": why})}
    part = parsed(changed(recorded("15-heap"), "pgstattuple foo", **left_out))
    [reason] = [gap.reason for gap in part.gaps if gap.reason.startswith("pgstattuple foo: ")]
    assert reason == "pgstattuple foo: It needs 'pages foo', which was not done."
    assert isinstance(reason, Message)
    assert reason.values["why"].values == {"step": "pages foo"}


def test_statistics_and_contents_agree_on_dead_rows() -> None:
    part = parsed(recorded("15-heap"))
    assert value(part, "dead_tuples", "grown") == 300
    assert value(part, "dead_tuples.found", "grown") <= 300  # some were pruned on the way


def test_growth_is_the_difference_of_two_looks() -> None:
    files = recorded("15-heap")
    before, after = (json.loads(files[out(files, f"sizes {when} growth")])["grown"] for when in ("before", "after"))
    part = parsed(files)
    assert value(part, "growth.bytes", "grown: indexes") == after["indexes"] - before["indexes"] > 0
    assert value(part, "growth.percent", "grown") == pytest.approx(100 * (after["table"] / before["table"] - 1))
    assert value(part, "size.table", "grown") == before["table"]


def with_scans(blocks: dict[str, int], milliseconds: dict[str, float], heap_ms: float) -> dict[str, str]:
    """The recorded profile with other blocks and times of its scans; the heap's read 1,000 blocks."""
    files = recorded("15-heap2")
    for column in COLUMNS:
        for table, read, time_ms in (("wide", blocks[column], milliseconds[column]), ("wide_heap", 1000, heap_ms)):
            name = out(files, f"scan {table} {column}")
            plan = json.loads(files[name])
            plan[0]["Plan"] |= {"Shared Hit Blocks": 0, "Shared Read Blocks": read}
            plan[0]["Execution Time"] = time_ms
            files[name] = json.dumps(plan)
    return files


def test_break_even_lies_where_the_line_meets_the_heap() -> None:
    blocks = {"id": 100, "val10": 900, "val20": 20}
    part = parsed(with_scans(blocks, {c: 1.5 + 0.01 * n for c, n in blocks.items()}, heap_ms=6.5))
    assert value(part, "scan.break_even") == pytest.approx(500)
    assert value(part, "scan.blocks", "val10") == 900
    assert value(part, "scan.seconds", "val20") == pytest.approx(0.0017)
    assert value(part, "scan.heap.seconds", "id") == pytest.approx(0.0065)


@pytest.mark.parametrize(
    ("blocks", "milliseconds", "heap_ms", "message"),
    [
        ({"id": 7, "val10": 7, "val20": 7}, {"id": 1.0, "val10": 2.0, "val20": 3.0}, 5.0, "the same number of blocks"),
        ({"id": 1, "val10": 9, "val20": 5}, {"id": 3.0, "val10": 1.0, "val20": 2.0}, 5.0, "do not take longer"),
        ({"id": 1, "val10": 9, "val20": 5}, {"id": 11.0, "val10": 19.0, "val20": 15.0}, 5.0, "however few blocks"),
    ],
)
def test_a_break_even_that_is_not_there_is_a_gap(
    blocks: dict[str, int], milliseconds: dict[str, float], heap_ms: float, message: str
) -> None:
    part = parsed(with_scans(blocks, milliseconds, heap_ms))
    assert not has(part, "scan.break_even")
    assert [gap for gap in part.gaps if gap.reason.startswith("break-even") and message in gap.reason]


def test_a_scan_that_was_none_is_left_out() -> None:
    files = recorded("15-heap")
    plan = json.loads(files[out(files, "scan wide val10")])
    plan[0]["Plan"]["Node Type"] = "Gather"
    part = parsed({**files, out(files, "scan wide val10"): json.dumps(plan)})
    assert {m.label for m in part.measurements if m.metric == "scan.seconds"} == {"id", "val20"}
    assert "scan wide val10: the server chose Gather, not a sequential scan" in [gap.reason for gap in part.gaps]


def test_plans_are_kept() -> None:
    part = parsed(recorded("15-heap"))
    plans = {document.label: document.content for document in part.documents if document.kind == "plan"}
    assert set(plans) == {"plan row", "plan range", *(f"scan wide {column}" for column in COLUMNS)}
    assert plans["scan wide val10"]["Plan"]["Output"] == ["val10"]


def test_a_step_that_broke_off_fails_the_trial_and_keeps_the_earlier_numbers() -> None:
    files = recorded("15-heap2")
    cut = number(files, "update row")
    entries = protocol(files)[: cut + 1]
    entries[cut] |= {"outcome": "failed", "why": "server closed the connection unexpectedly"}
    part = parsed({**files, "steps.json": json.dumps(entries)})
    assert part.failure == "The step 'update row' broke off. server closed the connection unexpectedly"
    assert has(part, "index_scan.latency") and not has(part, "update.latency")


def test_a_table_stored_otherwise_fails_the_trial() -> None:
    files = recorded("15-heap2")
    name = out(files, "sizes after TPC-B")
    sizes = json.loads(files[name])
    sizes["pgbench_accounts"]["access_method"] = "heap"
    part = parsed({**files, name: json.dumps(sizes)})
    assert part.failure == "Tables are not stored by heap2: pgbench_accounts: heap."


@pytest.mark.parametrize(
    ("step", "text", "message"),
    [
        ("VACUUM", "", "0 times of 1 statements"),
        ("scan wide id", "[]", "not EXPLAIN's JSON"),
        ("sizes loaded", "{", "not JSON"),
        ("select row", "number of transactions actually processed: 7/20\n", "7 transactions, not 20"),
        ("update row", "number of transactions actually processed: 20/20\n", "no latency of UPDATE"),
        ("TPC-B", "", "0 transactions, not some"),
    ],
)
def test_damaged_output_is_named_with_its_file(step: str, text: str, message: str) -> None:
    files = recorded("15-heap")
    with pytest.raises(ParseError, match=message) as raised:
        parsed({**files, out(files, step): text})
    assert raised.value.file == out(files, step)


@pytest.mark.parametrize("text", ["", "{}", '[{"step": "copy foo"}]', '[{"step": "x", "kind": "unheard of"}]'])
def test_a_damaged_protocol_is_named(text: str) -> None:
    with pytest.raises(ParseError) as raised:
        parsed({**recorded("15-heap"), "steps.json": text})
    assert raised.value.file == "steps.json"


def test_each_step_is_marked_on_the_time_axis() -> None:
    files = changed(recorded("15-heap"), "copy foo", started_s=12.5)
    part = parse(Reading("client", files, {}, (10.0, 20.0), clock_offset_s=0.5))
    assert next(event.at_s for event in part.events if event.text == "copy foo") == 2.0
