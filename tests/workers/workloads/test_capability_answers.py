"""How a refusal, a plan and several findings are judged, on recorded answers of real servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.workloads.capabilities import query_plan, refusal, runner
from workers.workloads.capabilities.outcome import Finding, Outcome, Verdict, weigh
from workers.workloads.capabilities.refusal import fails_differently, last_statement, other_sqlstates, read

RECORDED = Path("tests/data/capabilities/18")
TWICE = """INSERT INTO items VALUES (1, 1, 'a'), (1, 1, 'b')
    ON CONFLICT (id) DO UPDATE
    SET word = excluded.word;"""


def refusal_of(name: str) -> refusal.Refusal:
    return read((RECORDED / f"{name}.stderr").read_text())


def planned(name: str) -> list[query_plan.Node]:
    return query_plan.nodes((RECORDED / f"{name}.plan.json").read_text())


def test_a_refusal_is_told_with_its_sqlstate_its_words_and_the_whole_statement() -> None:
    refused = refusal_of("refused")
    assert (refused.sqlstate, refused.statement) == ("21000", TWICE)
    assert refused.message == (
        "ERROR:  ON CONFLICT DO UPDATE command cannot affect row a second time\n"
        "HINT:  Ensure that no rows proposed for insertion within the same command have duplicate constrained values."
    )


def test_a_notice_before_it_and_the_place_in_the_source_are_left_out() -> None:
    raised = refusal_of("raised")
    assert (raised.sqlstate, raised.message.splitlines()[:3]) == (
        "XX000",
        ["ERROR:  unexpected chunk number", "DETAIL:  why", "HINT:  what"],
    )
    assert raised.statement.startswith("DO $$ BEGIN\nRAISE NOTICE 'first';\n")


def test_of_several_errors_the_last_is_the_one_that_psql_stopped_at() -> None:
    assert (refusal_of("second-error").sqlstate, refusal_of("second-error").statement) == (
        "42703",
        "SELECT nothing FROM pg_class;",
    )


@pytest.mark.parametrize(
    ("stderr", "sqlstate", "message"),
    [
        ("psql:<stdin>:3: NOTICE:  so\npsql:<stdin>:4: ERROR:  no\nDETAIL:  why\n", "", "ERROR:  no\nDETAIL:  why"),
        (
            'psql: error: connection to server on socket "/s" failed: FATAL:  the database system is starting up',
            "",
            'connection to server on socket "/s" failed: FATAL:  the database system is starting up',
        ),
        ("server closed the connection unexpectedly\n", "", "server closed the connection unexpectedly"),
        ("", "", ""),
    ],
)
def test_what_names_no_statement_is_told_as_it_is(stderr: str, sqlstate: str, message: str) -> None:
    assert read(stderr) == refusal.Refusal(sqlstate, message, "")


def test_what_had_to_fail_and_did_with_another_sqlstate_fails_differently() -> None:
    refused = refusal_of("refused")
    assert not fails_differently(refused, "21000", TWICE), "as it should"
    assert fails_differently(refused, "23505", TWICE)
    assert fails_differently(
        refused,
        "23505",
        "INSERT INTO items VALUES (1, 1, 'a'), (1, 1, 'b') ON CONFLICT (id) DO UPDATE SET word = excluded.word",
    )
    assert not fails_differently(refused, "23505", "COMMIT;"), "a statement before it, which had to succeed"
    assert not fails_differently(read("server closed the connection unexpectedly"), "21000", TWICE)


def test_the_last_statement_of_a_script_is_the_one_that_has_to_fail() -> None:
    assert last_statement("COMMIT;\n") == "COMMIT;"
    assert last_statement("BEGIN;\nUPDATE a\n  SET b = 1;\n") == "UPDATE a\n  SET b = 1;"


@pytest.mark.parametrize(
    ("reported", "others"),
    [
        (["3", "55P03", "4"], []),
        (["3", "XX000", "4"], [("55P03", "XX000")]),
        (["3", "1", "00000", "4"], []),
        (["3", "00000", "4"], []),
        (["2", "XX000", "4"], []),
    ],
    ids=["as it should be", "another SQLSTATE", "let pass, with a row", "let pass", "another row too"],
)
def test_only_another_sqlstate_fails_differently(reported: list[str], others: list[tuple[str, str]]) -> None:
    assert other_sqlstates(["3", "55P03", "4"], reported) == others


@pytest.mark.parametrize(
    ("name", "shared", "shape"),
    [
        ("shared", True, "Gather, Parallel Seq Scan on items"),
        ("alone", False, "Gather (one worker, alone), Seq Scan on items"),
        ("declined", False, "Seq Scan on items"),
    ],
)
def test_a_plan_is_parallel_where_workers_share_a_scan(name: str, shared: bool, shape: str) -> None:
    plan = planned(name)
    assert (query_plan.shares_a_scan(plan), query_plan.shape(plan)) == (shared, shape)
    assert (query_plan.relations(plan), query_plan.indexes(plan)) == (["items"], set())


PARTLY = Finding(Outcome.PARTLY, "No benefit.", "SELECT 1;")
DECLINED = Finding(Outcome.CHOSE_NOT_TO, "Another way.", "EXPLAIN SELECT 2;")
DIFFERENT = Finding(Outcome.FAILS_DIFFERENTLY, "XX000 for 21000.", "INSERT 3;", "XX000")
BROKEN = Finding(Outcome.CANNOT, "Not implemented.", "VACUUM 4;", "0A000")
GIVEN_UP = Finding(Outcome.UNKNOWN, "Its time was over.")


@pytest.mark.parametrize(
    ("findings", "verdict"),
    [
        ([], Verdict(Outcome.YES, "2 workers.", "rows: 9")),
        ([PARTLY], Verdict(Outcome.PARTLY, "No benefit. 2 workers.", "rows: 9", "SELECT 1;")),
        (
            [PARTLY, DECLINED],
            Verdict(Outcome.CHOSE_NOT_TO, "Another way. No benefit. 2 workers.", "rows: 9", "EXPLAIN SELECT 2;"),
        ),
        (
            [DECLINED, DIFFERENT, PARTLY],
            Verdict(
                Outcome.FAILS_DIFFERENTLY,
                "XX000 for 21000. Another way. No benefit. 2 workers.",
                "rows: 9",
                "INSERT 3;",
                "XX000",
            ),
        ),
        (
            [BROKEN, DIFFERENT],
            Verdict(Outcome.CANNOT, "Not implemented. XX000 for 21000.", "rows: 9", "VACUUM 4;", "0A000"),
        ),
        ([GIVEN_UP, DIFFERENT], Verdict(Outcome.UNKNOWN, "Its time was over. XX000 for 21000.", "rows: 9")),
    ],
    ids=["none", "partly", "chose not to", "fails differently", "cannot", "unknown"],
)
def test_the_heaviest_finding_decides_with_its_statement(findings: list[Finding], verdict: Verdict) -> None:
    assert weigh(findings, ["2 workers."], ["rows: 9"]) == verdict


@pytest.mark.parametrize("sqlstate", ["53100", "53200", "57014", "58030"])
def test_a_statement_that_never_came_to_its_refusal_does_not_fail_differently(sqlstate: str) -> None:
    ran_out = refusal.Refusal(sqlstate, "ERROR:  out of memory", "INSERT INTO items VALUES (1);")
    assert not fails_differently(ran_out, "23505", "INSERT INTO items VALUES (1);")


_DIED = 'LOG:  background worker "zheap undo" (PID 7) was terminated by signal 11: Segmentation fault'


@pytest.mark.parametrize(
    ("judged", "outcome", "statement"),
    [
        (Verdict(Outcome.YES), Outcome.PARTLY, ""),
        (Verdict(Outcome.CHOSE_NOT_TO, "another way", statement="EXPLAIN;"), Outcome.CHOSE_NOT_TO, "EXPLAIN;"),
        (Verdict(Outcome.FAILS_DIFFERENTLY, "22000", statement="INSERT;"), Outcome.FAILS_DIFFERENTLY, "INSERT;"),
        (Verdict(Outcome.CANNOT, "lost", statement="VACUUM;"), Outcome.CANNOT, "VACUUM;"),
        (Verdict(Outcome.UNKNOWN, "late", statement="SELECT;"), Outcome.CANNOT, "SELECT;"),
    ],
)
def test_a_crash_keeps_what_the_check_found_besides(judged: Verdict, outcome: Outcome, statement: str) -> None:
    verdict, clean = runner.judge(runner.CheckEnd(judged), _DIED)
    assert (verdict.outcome, verdict.statement, clean) == (outcome, statement, False)
    assert verdict.message.startswith(f"The server crashed: {_DIED}")
    assert (outcome is Outcome.CANNOT) or judged.message in verdict.message
