"""The pure parts of the capability checks: contents, turns, logs, answers read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import ParseError, VerifyError
from results.domain.kinds.specs import Reading
from workers.workloads.capabilities import finding, log
from workers.workloads.capabilities.checks import indexes
from workers.workloads.capabilities.contents import difference, items, texts
from workers.workloads.capabilities.finding import all_checks, selected_checks
from workers.workloads.capabilities.parse import parse
from workers.workloads.capabilities.sessions import Step, scripts
from workers.workloads.capabilities.spec import CHECKS, PARAMETERS

ANSWER: dict[str, Any] = {
    "access_method": "heap",
    "title": "TOAST",
    "group": "Storage",
    "order": 0,
    "outcome": "yes",
    "message": "",
    "compared": "values: 30 rows",
    "statement": "",
    "sqlstate": "",
    "seconds": 0.5,
}
NAMED: dict[str, Any] = {"answers": 2, "checks": ["toast", "vacuum"]}
FIRST_ANSWERS = Path("tests/data/capabilities/first-answers")
STAMP = "2026-11-21 10:55:29.992 UTC [27995] "


def reading(files: dict[str, Any]) -> Reading:
    encoded = {name: value if isinstance(value, str) else json.dumps(value) for name, value in files.items()}
    return Reading("client", encoded, {}, (0.0, 10.0))


def test_rows_are_as_postgresql_writes_them() -> None:
    assert texts(items(2).values()) == [
        "(1,1,c4ca4238a0b923820dcc509a6f75849b)",
        "(2,2,c81e728d9d4c2f636f067f89cc14862c)",
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "message"),
    [
        (["a", "b", "b"], ["b", "a", "b"], ""),
        ([], [], ""),
        (["a", "b"], ["a"], "expected 2 rows, found 1; 1 missing, such as b"),
        (["a"], ["a", "a"], "expected 1 rows, found 2; 1 that should not be there, such as a"),
        (
            ["a", "b"],
            ["a", "c"],
            "expected 2 rows, found 2; 1 missing, such as b; 1 that should not be there, such as c",
        ),
    ],
)
def test_contents_are_compared_row_for_row_whatever_their_order(
    expected: list[str], actual: list[str], message: str
) -> None:
    assert difference(expected, actual) == message


def test_a_long_row_is_told_by_its_beginning() -> None:
    assert difference(["x" * 5000], []).endswith("x…")
    assert len(difference(["x" * 5000], [])) < 200


def test_sessions_take_their_steps_in_order() -> None:
    made = scripts([Step("a", "A1;\n"), Step("b", "B1;\n", waits=True), Step("a", "A2;\n")])
    statements = {session: [line.split(" \\g")[0] for line in text.splitlines()] for session, text in made.items()}
    assert statements == {
        "a": [
            "SELECT await_turn(0)",
            "A1;",
            "SELECT setval('turn', 1)",
            "SELECT await_turn(2)",
            "SELECT await_waiting()",
            "A2;",
            "SELECT setval('turn', 3)",
        ],
        "b": ["SELECT await_turn(1)", "SELECT setval('turn', 2)", "B1;"],
    }


@pytest.mark.parametrize(
    ("line", "killed"),
    [
        ("LOG:  server process (PID 7) was terminated by signal 11: Segmentation fault", False),
        ('LOG:  background worker "logical replication worker" (PID 7) was terminated by signal 6: Aborted', False),
        ("LOG:  startup process (PID 7) was terminated by signal 9: Killed", True),
        ("PANIC:  could not replay", False),
        ('TRAP: failed Assert("x"), File: "zheapam.c", Line: 7, PID: 9', False),
        ("LOG:  server process (PID 7) exited with exit code 2", False),
    ],
)
def test_a_crash_is_seen_in_the_log_with_its_words(line: str, killed: bool) -> None:
    text = f"{STAMP}LOG:  ready\n{STAMP}{line}\n{STAMP}DETAIL:  Failed process was running: VACUUM items;\n"
    crash = log.crash_in(text)
    assert crash is not None
    assert crash.words == f"{line} DETAIL:  Failed process was running: VACUUM items;"
    assert (crash.killed, crash.statement) == (killed, "VACUUM items;")


@pytest.mark.parametrize(
    "line",
    [
        'ERROR:  relation "items" does not exist',
        "LOG:  received immediate shutdown request",
        "FATAL:  terminating connection due to administrator command",
        "STATEMENT:  SELECT 'PANIC: not really'",
        'ERROR:  column "(PID 7) was terminated by signal 11" does not exist',
    ],
)
def test_what_is_no_crash_is_not_taken_for_one(line: str) -> None:
    assert log.crash_in(STAMP + line) is None


def test_the_errors_of_a_log_are_told_once_and_without_those_of_waiting() -> None:
    lines = ["FATAL:  the database system is starting up", "ERROR:  bad", "ERROR:  bad", "LOG:  fine"]
    assert log.errors_in("\n".join(STAMP + line for line in lines)) == "ERROR:  bad"


def test_every_check_has_a_name_of_its_own_and_stands_in_the_readme() -> None:
    names = [check.name for check in all_checks()]
    assert len(set(names)) == len(names) > 30
    readme = (Path(finding.__file__).parent / "README.md").read_text()
    assert [name for name in names if f"`{name}`" not in readme] == []
    assert [check.name for check in selected_checks(" toast,vacuum ")] == ["vacuum", "toast"]


def test_the_plan_knows_every_check_by_name() -> None:
    assert tuple(check.name for check in all_checks()) == CHECKS


def test_a_check_that_there_is_not_is_named() -> None:
    with pytest.raises(VerifyError, match="There is no check nothing") as refused:
        selected_checks("toast, nothing")
    assert "vacuum_full" in refused.value.todo


@pytest.mark.parametrize("text", ["Toast", "toast;vacuum", "toast,,vacuum", ","])
def test_a_list_of_checks_has_one_form(text: str) -> None:
    parameter = next(parameter for parameter in PARAMETERS if parameter.name == "checks")
    assert parameter.check("toast, index_btree") == "toast, index_btree"
    with pytest.raises(ValueError, match=r"is not a valid checks|is none of the checks"):
        parameter.check(text)


def test_every_query_by_index_is_about_some_rows_and_not_all() -> None:
    rows = indexes.changed(indexes.things(1, 500))
    for kind, meant in indexes.MEANT.items():
        assert 0 < sum(map(meant, rows)) < len(rows), kind


def test_answers_become_documents_counts_and_times() -> None:
    part = parse(
        reading(
            {
                "expected.json": {"answers": 2, "checks": ["toast", "vacuum"]},
                "checks/toast.json": ANSWER,
                "checks/vacuum.json": ANSWER | {"outcome": "fails-differently", "seconds": 2},
            }
        )
    )
    assert part.failure == ""
    assert [(d.kind, d.label, d.node, d.content["outcome"]) for d in part.documents] == [
        ("capability", "toast", "primary", "yes"),
        ("capability", "vacuum", "primary", "fails-differently"),
    ]
    assert {(m.metric, m.label): m.value for m in part.measurements} == {
        ("capabilities.yes", ""): 1,
        ("capabilities.partly", ""): 0,
        ("capabilities.chose_not_to", ""): 0,
        ("capabilities.fails_differently", ""): 1,
        ("capabilities.cannot", ""): 0,
        ("capabilities.unknown", ""): 0,
        ("check.seconds", "toast"): 0.5,
        ("check.seconds", "vacuum"): 2,
    }


def test_a_bundle_from_before_three_answers_were_told_apart_says_what_it_said() -> None:
    paths = {str(path.relative_to(FIRST_ANSWERS)): path.read_text() for path in FIRST_ANSWERS.rglob("*.*")}
    part = parse(reading(paths))
    answers = {document.label: document.content for document in part.documents}
    assert {name: answer["outcome"] for name, answer in answers.items()} == {
        "vacuum": "yes",
        "fillfactor": "yes",
        "toast": "yes",
        "pgstattuple": "no",
    }
    assert answers["pgstattuple"] == json.loads((FIRST_ANSWERS / "checks/pgstattuple.json").read_text())
    counts = {m.metric: m.value for m in part.measurements if m.metric != "check.seconds"}
    assert counts == {
        "capabilities.yes": 3,
        "capabilities.partly": 0,
        "capabilities.no": 1,
        "capabilities.unknown": 0,
    }


def test_checks_that_were_not_come_to_fail_the_trial_and_the_others_stay() -> None:
    part = parse(reading({"expected.json": NAMED, "checks/toast.json": ANSWER}))
    assert part.failure == "Checks that did not run: vacuum."
    assert [document.label for document in part.documents] == ["toast"]


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({}, "the file is not there"),
        ({"expected.json": "["}, "not JSON"),
        ({"expected.json": {}}, "not a list of names"),
        ({"expected.json": {"answers": 3, "checks": ["toast"]}}, "not a list of names"),
        ({"expected.json": {"answers": 2, "checks": "toast"}}, "not a list of names"),
        ({"expected.json": NAMED, "checks/toast.json": "[]"}, "not the account of a check"),
        ({"expected.json": NAMED, "checks/toast.json": ANSWER | {"outcome": "maybe"}}, "'maybe' is not an outcome"),
        ({"expected.json": NAMED, "checks/toast.json": ANSWER | {"outcome": "no"}}, "'no' is not an outcome"),
        ({"expected.json": NAMED, "checks/toast.json": ANSWER | {"seconds": "1"}}, "no seconds"),
        ({"expected.json": NAMED, "checks/toast.json": ANSWER | {"statement": None}}, "no statement"),
        ({"expected.json": ["toast"], "checks/toast.json": {"outcome": "yes"}}, "no access_method"),
    ],
)
def test_damaged_files_are_named(files: dict[str, Any], what: str) -> None:
    with pytest.raises(ParseError, match=what):
        parse(reading(files))
