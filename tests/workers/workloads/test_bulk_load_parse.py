"""What a bulk load printed, read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.workloads.bulk_load.data import TABLES, rows_of, shares
from workers.workloads.bulk_load.parse import parse
from workers.workloads.bulk_load.spec import SPEC

DATA = Path(__file__).parents[2] / "data" / "bulk_load" / "15"


def recorded(case: str) -> dict[str, str]:
    folder = DATA / case
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def parsed(files: dict[str, str], size_mb: int = 1) -> Part:
    return parse(Reading("client", files, {"size_mb": size_mb}, (0.0, 3.0)))


def value(part: Part, metric: str, label: str = "") -> float:
    [values] = [m.value for m in part.measurements if (m.metric, m.label) == (metric, label)]
    return values


def has(part: Part, metric: str, label: str) -> bool:
    return any((m.metric, m.label) == (metric, label) for m in part.measurements)


def marks(case: str, step: str, table: str) -> list[list[str]]:
    lines = [line.split("|") for line in recorded(case)["stdout"].splitlines()]
    return [line for line in lines if line[0] in ("begin", "end") and line[1:3] == [step, table]]


@pytest.mark.parametrize("case", ["by-parts", "by-tables"])
def test_every_number_is_of_a_declared_metric_and_told_once(case: str) -> None:
    part = parsed(recorded(case))
    assert part.failure == ""
    assert {m.metric for m in part.measurements} == {metric.name for metric in SPEC.metrics}
    keys = [(m.metric, m.label) for m in part.measurements]
    assert len(keys) == len(set(keys))


def test_a_table_loaded_by_two_sessions_takes_from_the_first_begin_to_the_last_end() -> None:
    part = parsed(recorded("by-parts"))
    all_marks = marks("by-parts", "copy", "order_line")
    assert len(all_marks) == 4
    moments = [int(mark[3]) for mark in all_marks]
    assert value(part, "bulk.seconds", "copy: order_line") == (max(moments) - min(moments)) / 1e6
    positions = [int(mark[4]) for mark in all_marks]
    assert value(part, "bulk.wal", "copy: order_line") == max(positions) - min(positions)


def test_the_wal_of_a_table_loaded_beside_others_is_not_told() -> None:
    part = parsed(recorded("by-tables"))
    assert not has(part, "bulk.wal", "copy: orders")
    assert has(part, "bulk.seconds", "copy: orders")
    assert has(part, "bulk.wal", "copy")
    assert has(part, "bulk.wal", "primary keys: orders")


def test_the_whole_is_from_the_first_copy_to_the_last_analyze() -> None:
    part = parsed(recorded("by-parts"))
    first, last = marks("by-parts", "copy", "customer")[0], marks("by-parts", "analyze", "order_line")[-1]
    assert value(part, "bulk.seconds") == (int(last[3]) - int(first[3])) / 1e6
    assert value(part, "bulk.wal") == int(last[4]) - int(first[4])


def test_rates_are_of_the_files_for_copy_and_of_the_tables_for_the_rest() -> None:
    part, files = parsed(recorded("by-parts")), recorded("by-parts")
    bytes_of = {table: entry["bytes"] for table, entry in json.loads(files["files.json"]).items()}
    tables = json.loads(files["check/stdout"])["table_bytes"]
    copy_s, vacuum_s = value(part, "bulk.seconds", "copy"), value(part, "bulk.seconds", "vacuum")
    assert value(part, "bulk.bytes_per_s", "copy") * copy_s == pytest.approx(sum(bytes_of.values()))
    assert value(part, "bulk.bytes_per_s", "vacuum") * vacuum_s == pytest.approx(sum(tables.values()))
    keys_s = value(part, "bulk.seconds", "primary keys: orders")
    assert value(part, "bulk.rows_per_s", "primary keys: orders") * keys_s == pytest.approx(4000)


def test_a_load_that_broke_off_says_where_and_why_and_gives_no_number() -> None:
    files = recorded("by-parts")
    cut = files["stdout"].splitlines(keepends=True)
    at = next(n for n, line in enumerate(cut) if line.startswith("end|primary keys|orders"))
    message = "psql:timed.sql:4: server closed the connection unexpectedly\n\tThis probably means …\n"
    part = parsed({**files, "stdout": "".join(cut[:at]), "stderr": message, "exit": "2\n"})
    assert "exit status 2 in primary keys of orders" in part.failure
    assert "server closed the connection" in part.failure
    assert part.measurements == ()


def test_a_load_that_broke_off_between_two_steps_says_how_far_it_came() -> None:
    files = recorded("by-parts")
    cut = files["stdout"].splitlines(keepends=True)
    at = next(n for n, line in enumerate(cut) if line.startswith("begin|primary keys|customer"))
    message = "psql: error: connection to server failed: Connection refused\n"
    part = parsed({**files, "stdout": "".join(cut[:at]), "stderr": message, "exit": "2\n"})
    assert part.failure == f"The load ended with exit status 2 after copy of order_line: {message.strip()}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"exit": "124\n", "timed_out": "yes\n"}, "still running at its deadline"),
        ({"check/exit": "2\n", "check/stderr": "psql: error: connection refused\n"}, "The check of what was loaded"),
        ({"stdout": ""}, "ended without copy, primary keys, foreign keys, vacuum, analyze"),
    ],
)
def test_what_did_not_end_well_is_a_failure(change: dict[str, str], message: str) -> None:
    part = parsed({**recorded("by-parts"), **change})
    assert message in part.failure
    assert part.measurements == ()


@pytest.mark.parametrize(
    ("key", "left", "message"),
    [
        ("rows", {"customer": 1200, "item": 200, "orders": 4000, "order_line": 11999}, "order_line has 11999 rows"),
        ("primary_keys", ["customer", "item", "orders"], "valid primary keys are"),
        ("foreign_keys", ["orders -> customer"], "valid foreign keys are"),
    ],
)
def test_tables_that_are_not_what_was_to_be_loaded_are_a_failure(key: str, left: object, message: str) -> None:
    files = recorded("by-parts")
    check = json.loads(files["check/stdout"]) | {key: left}
    part = parsed({**files, "check/stdout": json.dumps(check)})
    assert message in part.failure
    assert part.measurements == ()


def test_rows_for_another_size_are_a_failure() -> None:
    assert "not 2400" in parsed(recorded("by-parts"), size_mb=2).failure


@pytest.mark.parametrize("line", ["nonsense", "end|copy|item|1|2", "begin|copy|nothing|1|2", "rows|nothing|3"])
def test_a_damaged_line_is_named(line: str) -> None:
    files = recorded("by-parts")
    with pytest.raises(ParseError) as raised:
        parsed({**files, "stdout": f"{line}\n{files['stdout']}"})
    assert raised.value.line == 1
    assert line in raised.value.why


def test_tables_are_shared_whole_among_the_sessions() -> None:
    bytes_of = {"customer": 16, "item": 1, "orders": 23, "order_line": 57}
    assert shares(1, bytes_of) == [["order_line", "orders", "customer", "item"]]
    assert shares(2, bytes_of) == [["order_line"], ["orders", "customer", "item"]]
    assert sorted(table for share in shares(40, bytes_of) for table in share) == sorted(TABLES)


def test_rows_grow_with_the_size() -> None:
    assert {table: 10 * rows for table, rows in rows_of(1).items()} == rows_of(10)
