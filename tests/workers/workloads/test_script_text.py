"""One text that holds several scripts, and what is wrong with one."""

from __future__ import annotations

from typing import Any

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from workers.workloads.script.output import read_output
from workers.workloads.script.parse import parse
from workers.workloads.script.passes import Execution, complaint, driver, read_client
from workers.workloads.script.sections import Section, sections
from workers.workloads.script.spec import SPEC, headline_of, measured_s, problems


def parameters(**changes: Any) -> dict[str, Any]:
    return SPEC.complete({"text": "SELECT 1;"} | changes)


def test_a_text_without_headings_is_one_part() -> None:
    assert sections("SELECT 1;\n-- a remark\n", "queries") == (Section("queries", "SELECT 1;\n-- a remark\n\n", 1),)


def test_every_heading_begins_a_part_with_its_name_weight_and_line() -> None:
    text = (
        "-- what these do\n\n-- script: read @9\nSELECT 1;\n\n--query:02-write\nSELECT 2;\n--  file: 3.c@0\nSELECT 3;"
    )
    assert sections(text, "x") == (
        Section("read", "SELECT 1;\n\n", 4, 9),
        Section("02-write", "SELECT 2;\n", 7, None),
        Section("3.c", "SELECT 3;\n", 9, 0),
    )


def test_only_a_line_feed_ends_a_line() -> None:
    [part] = sections("-- query: a\nSELECT 'one\u2028line\x0c';\n", "x")
    assert part.text == "SELECT 'one\u2028line\x0c';\n\n"


WRONG = {
    "empty": ({"text": " \n"}, "text", "The script is empty."),
    "a part without SQL": ({"text": "-- script: a\n-- nothing\n-- script: b\nSELECT 1;"}, "text", "'a' is empty."),
    "SQL before the first heading": (
        {"text": "SELECT 1;\n-- script: a\nSELECT 2;"},
        "text",
        "There is text before the first heading.",
    ),
    "two of one name": (
        {"text": "-- script: a\nSELECT 1;\n-- query: a\nSELECT 1;"},
        "text",
        "There are two called 'a'.",
    ),
    "a name with a space": ({"text": "-- script: a b\nSELECT 1;"}, "text", "Line 1: 'a b' is no name"),
    "a name that leads elsewhere": ({"text": "-- script: ../a\nSELECT 1;"}, "text", "Line 1: '../a' is no name"),
    "every weight 0": ({"text": "-- script: a @0\nSELECT 1;"}, "text", "Every script has the weight 0."),
    "a query with a weight": (
        {"form": "queries", "text": "-- query: a @2\nSELECT 1;"},
        "text",
        "A query has no weight.",
    ),
    "too many psql": ({"form": "queries", "clients": 501}, "clients", "501 clients run queries."),
    "too long": ({"text": "x" * 200_001}, "text", "It is longer than 200,000 characters."),
    "a setup that is too long": ({"setup": "x" * 200_001}, "setup", "It is longer than 200,000 characters."),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_script_is_known_before_it_runs(name: str) -> None:
    changes, field, what = WRONG[name]
    [problem] = problems(parameters(**changes))
    assert problem.field == field
    assert problem.what.startswith(what)
    assert problem.todo


@pytest.mark.parametrize("form", ["pgbench", "queries", "command"])
def test_a_right_script_has_no_problem(form: str) -> None:
    assert list(problems(parameters(form=form))) == []


def test_queries_and_commands_last_until_they_are_done() -> None:
    assert measured_s(parameters(), 60) == 60
    assert measured_s(parameters(transactions=5), 60) is None
    assert measured_s(parameters(form="queries"), 60) is None
    assert measured_s(parameters(form="command"), 60) is None


def test_the_form_decides_what_pages_show_first() -> None:
    assert headline_of(parameters()) == "tps"
    assert headline_of(parameters(form="queries")) == "script.pass.seconds"
    assert headline_of(parameters(form="command")) == "script.seconds"
    assert headline_of(parameters(form="command", headline="rate")) == "own.rate"
    assert headline_of(parameters(form="command", headline="own.rate")) == "own.rate"


def output(*marks: str) -> str:
    return "\n".join(marks) + "\n"


ONE = ("teiten begin 1 1", "Time: 1.250 ms", "teiten end 1 1 4")


def test_the_times_of_a_parts_statements_are_added() -> None:
    text = output(
        *ONE, "teiten begin 1 2", "Time: 0.250 ms", "hello", "Time: 61000.500 ms (01:01.001)", "teiten end 1 2 0"
    )
    assert read_client(text, 3, "x").executions == (
        Execution(3, 1, 1, pytest.approx(0.00125), 4),
        Execution(3, 1, 2, pytest.approx(61.00075), 0),
    )


def test_a_query_that_was_cut_off_is_known() -> None:
    client = read_client(output(*ONE, "teiten begin 1 2") + "Time: 3.", 1, "x")
    assert (len(client.executions), client.begun) == (1, (1, 2))


@pytest.mark.parametrize(
    "text",
    [
        output("teiten end 1 1 4"),
        output("teiten begin 1 1", "teiten begin 1 2"),
        output("teiten begin 1 1", "Time: 1.0 ms", "teiten end 1 2 4"),
        output("teiten begin 1 1", "teiten end 1 1 4"),
        output("teiten begin 1 1", "Time: 1.0 ms", "teiten end 1 1 :ROW_COUNT"),
    ],
)
def test_what_psql_would_not_print_is_no_result(text: str) -> None:
    with pytest.raises(ParseError):
        read_client(text, 1, "client-1.stdout")


def test_the_driver_runs_every_file_in_every_pass() -> None:
    lines = driver(2, 3).splitlines()
    assert [line for line in lines if line.startswith("\\i")] == ["\\i 0001.sql", "\\i 0002.sql"] * 3


def test_the_first_error_is_told_with_its_detail_and_without_psqls_place() -> None:
    notice, error = "psql:0001.sql:1: NOTICE:  hello\n", "psql:0001.sql:3: ERROR:  no\nLINE 1: SELECT\n        ^\n"
    stderr = f"{notice}{error}psql:0001.sql:3: HINT:  go\nx\n"
    assert complaint(stderr) == "ERROR:  no\nLINE 1: SELECT\n        ^\nHINT:  go"
    assert complaint("psql: error: connection to server failed\n").startswith("psql: error: connection")
    assert complaint("WARNING:  fine\n") == ""


def reading(files: dict[str, str], **changes: Any) -> Reading:
    text = "-- query: a\nSELECT 1;\n-- query: b\nSELECT 2;\n"
    return Reading("client", files, parameters(form="queries", text=text, passes=1) | changes, (100.0, 102.0))


def test_rows_that_differ_between_passes_are_a_gap_and_no_number() -> None:
    marks = [
        f"teiten begin {turn} {n}\nTime: {turn}.0 ms\nteiten end {turn} {n} {turn * (n - 1)}"
        for turn in (1, 2)
        for n in (1, 2)
    ]
    part = parse(reading({"client-1.stdout": output(*marks), "exit": "0\n"}, passes=2))
    assert part.failure == ""
    assert [gap.reason for gap in part.gaps] == ["query b returned from 1 to 2 rows: no count is kept"]
    assert [(m.label, m.value) for m in part.measurements if m.metric == "script.query.rows"] == [("a", 0)]


def test_a_client_that_ends_early_without_an_error_is_a_failure() -> None:
    part = parse(reading({"client-1.stdout": output(*ONE), "exit": "0\n"}))
    assert part.failure == "Client 1 ended after 1 of 2 queries, without an error."
    assert part.measurements == ()


def test_a_client_of_which_nothing_came_is_a_failure() -> None:
    assert parse(reading({"exit": "1\n"})).failure == "psql ended with exit status 1: it gave no reason"


def test_half_a_character_is_refused_by_the_plan_and_by_the_output() -> None:
    text = next(parameter for parameter in SPEC.parameters if parameter.name == "text")
    with pytest.raises(ValueError, match="lone surrogate"):
        text.check("echo \ud800")
    with pytest.raises(ParseError):
        read_output('{"a{\\ud800}": 1}')
