"""What the clients printed → numbers: recorded output of servers, and runs that broke off."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.workloads.ssb.messages import read_messages
from workers.workloads.ssb.parse import parse
from workers.workloads.ssb.sequence import QUERIES, selected_queries, sequence
from workers.workloads.ssb.spec import SPEC
from workers.workloads.ssb.transcript import read_transcript
from workers.workloads.ssb.verify import checks, load_comment

DATA = Path(__file__).parents[2] / "data" / "ssb"
DEFAULTS = {parameter.name: parameter.default for parameter in SPEC.parameters}
STATEMENT = "psql:1.sql:9: DEBUG:  StartTransaction(1) name: unnamed; blockState: DEFAULT; state: INPROGRESS\n"
WORKER = (
    "psql:1.sql:9: DEBUG:  StartTransaction(1) name: unnamed; blockState: DEFAULT\nCONTEXT:  parallel worker\n"
    "psql:1.sql:9: DEBUG:  CommitTransaction(1) name: unnamed; blockState: PARALLEL_INPROGRESS; state: INPROGRESS\n"
    "CONTEXT:  parallel worker\n"
)


def ran(number: int, query: str, ms: float, *rows: str) -> str:
    return "\n".join([f"== {number} {query}", *rows, f"Time: {ms:.3f} ms", "== done", ""])


def explained(query: str, planned: int, launched: int) -> str:
    plan = {"Plan": {"Node Type": "Gather", "Workers Planned": planned, "Workers Launched": launched}}
    return ran(1, query, 1, *json.dumps([plan], indent=1).splitlines())


def reading(files: dict[str, str], **parameters: Any) -> Reading:
    return Reading("client", {"exit": "0\n"} | files, DEFAULTS | {"explain": False} | parameters, (100.0, 136.0))


def two_clients() -> Reading:
    """Two clients, two passes of two queries; the second client gets fewer workers."""
    times = {1: (100, 400, 300, 600), 2: (200, 500, 400, 700)}
    files = {}
    for client, (a, b, c, d) in times.items():
        answers = [ran(1, "q1.1", a, "7"), ran(1, "q3.1", b, "x|1", "y|1")]
        answers += [ran(2, "q1.1", c, "7"), ran(2, "q3.1", d, "y|1", "x|1")]
        files[f"clients/{client}.stdout"] = "".join(answers)
        files[f"clients/{client}.stderr"] = (STATEMENT + WORKER * (3 - client)) * 4
        files[f"clients/{client}.exit"] = "0\n"
    files["explain/clients/1.stdout"] = explained("q1.1", 2, 2) + explained("q3.1", 2, 2)
    files["explain/clients/1.stderr"] = (STATEMENT + WORKER * 2) * 2
    return reading(files, clients=2, passes=2, queries="q1.1, q3.1", explain=True)


def counted(planned: int, launched: int, since: str = "2026-01-01") -> str:
    """The server's counters around the timed queries."""
    before = {"planned": 100, "launched": 70, "since": None}
    after = {"planned": 100 + planned, "launched": 70 + launched, "since": since}
    return json.dumps({"before": before | {"since": "2026-01-01"}, "after": after})


def without_messages(**files: str) -> Reading:
    """The same two clients, whose workers EXPLAIN and the server's counters tell."""
    given = two_clients()
    silent = {name: "" for name in given.files if name.endswith(".stderr")}
    passes = {
        "workers/clients/1.stdout": explained("q1.1", 2, 2) + explained("q3.1", 2, 1),
        "workers/clients/2.stdout": explained("q1.1", 2, 0) + explained("q3.1", 2, 1),
    }
    return replace(given, files={**given.files, **silent, **passes, **files})


def changed(given: Reading, files: dict[str, str]) -> Reading:
    return replace(given, files={**given.files, **files})


def values_of(part: Part, metric: str) -> dict[str, float]:
    return {m.label: m.value for m in part.measurements if m.metric == metric}


def test_times_are_medians_over_passes_and_clients() -> None:
    part = parse(two_clients())
    assert part.failure == ""
    assert values_of(part, "ssb.query.seconds") == pytest.approx({"q1.1": 0.25, "q3.1": 0.55})
    assert values_of(part, "ssb.query.seconds.min") == pytest.approx({"q1.1": 0.1, "q3.1": 0.4})
    assert values_of(part, "ssb.query.seconds.max") == pytest.approx({"q1.1": 0.4, "q3.1": 0.7})
    assert values_of(part, "ssb.query.rows") == {"q1.1": 1, "q3.1": 2}
    assert values_of(part, "ssb.pass.seconds") == pytest.approx({"": 0.8})  # 0.5, 0.9, 0.7, 1.1
    assert values_of(part, "ssb.geometric_mean.seconds") == pytest.approx({"": math.sqrt(0.25 * 0.55)})
    assert values_of(part, "ssb.executions") == {"": 8}
    assert values_of(part, "ssb.queries_per_hour") == pytest.approx({"": 800})


def test_workers_are_counted_by_query_and_by_execution() -> None:
    part = parse(two_clients())
    assert values_of(part, "ssb.workers.planned") == {"": 16, "q1.1": 8, "q3.1": 8}
    assert values_of(part, "ssb.workers.launched") == {"": 12, "q1.1": 6, "q3.1": 6}
    assert values_of(part, "ssb.workers.share") == {"1": 50, "2": 50}
    [executions] = [document for document in part.documents if document.kind == "executions"]
    assert executions.content[0] == {
        "client": 1,
        "pass": 1,
        "query": "q1.1",
        "seconds": 0.1,
        "rows": 1,
        "workers_launched": 2,
    }


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("explain/clients/1.stderr", STATEMENT * 2, "EXPLAIN launched [2, 2], the server reported [0, 0]"),
        ("clients/2.stderr", STATEMENT * 7, "reported 7 statements to a client that ran 4"),
        ("explain/clients/1.stdout", "", "no query was explained"),
    ],
)
def test_workers_that_cannot_be_checked_are_not_told(file: str, text: str, reason: str) -> None:
    part = parse(changed(two_clients(), {file: text}))
    [gap] = part.gaps
    assert reason in gap.reason
    assert not values_of(part, "ssb.workers.launched") and values_of(part, "ssb.pass.seconds")


def test_clients_that_the_server_let_run_nothing_have_no_pass_under_explain_that_was_none() -> None:
    given = two_clients()
    nothing = {name: "" for name in given.files if name.startswith("clients/")}
    part = parse(changed(given, nothing))
    assert part.failure
    assert not [document for document in part.documents if document.kind == "explained"]
    assert not values_of(part, "ssb.explained.launched")


def test_workers_of_the_pass_under_explain_are_told_by_query_and_by_execution() -> None:
    part = parse(without_messages())
    assert part.gaps == ()
    assert values_of(part, "ssb.explained.planned") == {"": 8, "q1.1": 4, "q3.1": 4}
    assert values_of(part, "ssb.explained.launched") == {"": 4, "q1.1": 2, "q3.1": 2}
    assert values_of(part, "ssb.explained.share") == {"0": 25, "1": 50, "2": 25}
    [document] = [document for document in part.documents if document.kind == "explained"]
    assert document.content[1] == {"client": 1, "query": "q3.1", "planned": 2, "launched": 1}
    assert values_of(part, "ssb.workers.planned") == {"": 16, "q1.1": 8, "q3.1": 8}


def test_workers_of_the_timed_executions_are_known_by_the_servers_counters_alone() -> None:
    assert not values_of(parse(without_messages()), "ssb.workers.launched")
    part = parse(without_messages(**{"parallel_workers.json": counted(16, 9)}))
    assert values_of(part, "ssb.workers.launched") == {"": 9}
    assert not values_of(part, "ssb.workers.share")
    [executions] = [document for document in part.documents if document.kind == "executions"]
    assert "workers_launched" not in executions.content[0]
    assert part.gaps == ()


@pytest.mark.parametrize(
    ("counters", "reason"),
    [
        (counted(17, 9), "counted 17 workers that were to be launched, and EXPLAIN planned 16"),
        (counted(16, 9, since="2026-01-02"), "statistics were reset"),
        (counted(-90, -60), "statistics were reset"),
    ],
)
def test_counters_of_something_else_are_a_gap(counters: str, reason: str) -> None:
    part = parse(without_messages(**{"parallel_workers.json": counters}))
    [gap] = part.gaps
    assert reason in gap.reason
    assert not values_of(part, "ssb.workers.launched")
    assert values_of(part, "ssb.explained.launched")[""] == 4


def test_damaged_counters_are_no_number() -> None:
    with pytest.raises(ParseError):
        parse(without_messages(**{"parallel_workers.json": '{"before": 1}'}))


def test_workers_that_nobody_explained_are_a_gap() -> None:
    given = without_messages(**{"parallel_workers.json": counted(16, 9), "explain/clients/1.stdout": ""})
    part = parse(replace(given, parameters={**given.parameters, "explain": False}))
    [gap] = part.gaps
    assert "no query was explained" in gap.reason
    assert not values_of(part, "ssb.workers.launched") and values_of(part, "ssb.pass.seconds")


def test_one_client_has_its_workers_in_its_plans() -> None:
    files = {
        "explain/clients/1.stdout": explained("q1.1", 2, 2),
        "clients/1.stdout": ran(1, "q1.1", 5, "7"),
        "clients/1.exit": "0",
        "parallel_workers.json": counted(2, 1),
    }
    part = parse(reading(files, queries="q1.1", explain=True))
    assert values_of(part, "ssb.explained.share") == {"2": 100}
    assert values_of(part, "ssb.workers.launched") == {"": 1}


@pytest.mark.parametrize("version", ["12", "17"])
def test_the_servers_messages_agree_with_its_explain(version: str) -> None:
    files = {
        "explain/clients/1.stdout": (DATA / f"{version}.stdout").read_text(),
        "explain/clients/1.stderr": (DATA / f"{version}.stderr").read_text(),
        "clients/1.stdout": ran(1, "q1.1", 5, "7") + ran(1, "q2.1", 5, "7"),
        "clients/1.stderr": (DATA / f"{version}.stderr").read_text(),
        "clients/1.exit": "0",
    }
    part = parse(reading(files, queries="q1.1, q2.1"))
    assert values_of(part, "ssb.workers.launched") == {"": 4, "q1.1": 2, "q2.1": 2}
    assert [d.label for d in part.documents if d.kind == "plan"] == ["q1.1", "q2.1"]
    assert values_of(part, "ssb.jit.seconds")[""] == 0
    assert part.gaps == ()


def failing(stderr: str, status: str = "3") -> Reading:
    """Client 2 fails in its second query, whose time psql tells all the same; client 1 is cancelled."""
    cancelled = "psql:1.sql:30: ERROR:  canceling statement due to user request\n"
    begun = "== 1 q3.1\nTime: 80.000 ms\n"
    return changed(
        two_clients(),
        {
            "exit": "1\n",
            "clients/failed": "2\n",
            "clients/1.stdout": ran(1, "q1.1", 100, "7") + begun,
            "clients/1.stderr": STATEMENT * 2 + cancelled,
            "clients/1.exit": "3\n",
            "clients/2.stdout": ran(1, "q1.1", 200, "7") + begun,
            "clients/2.stderr": STATEMENT * 2 + stderr,
            "clients/2.exit": f"{status}\n",
        },
    )


def test_a_query_that_fails_is_named_with_the_servers_words() -> None:
    message = "psql:2.sql:30: ERROR:  could not resize shared memory segment\nCONTEXT:  parallel worker\n"
    chatter = 'psql:2.sql:30: LOG:  temporary file: path "x", size 8192\nSTATEMENT:  SELECT 1\n'
    part = parse(failing(chatter + message))
    assert part.failure == (
        "q3.1 (client 2, pass 1): ERROR:  could not resize shared memory segment\nCONTEXT:  parallel worker"
    )
    assert values_of(part, "ssb.query.seconds") == pytest.approx({"q1.1": 0.15})
    for metric in ("ssb.pass.seconds", "ssb.geometric_mean.seconds", "ssb.queries_per_hour", "ssb.workers.share"):
        assert values_of(part, metric) == {}


def test_a_server_that_is_gone_is_told_in_psqls_words() -> None:
    message = "psql:2.sql:30: server closed the connection unexpectedly\n\tThis probably means the server terminated\n"
    assert parse(failing(message, "2")).failure.startswith("q3.1 (client 2, pass 1): server closed the connection")


def test_a_client_that_was_killed_fails_the_trial() -> None:
    given = two_clients()
    files = {name: text for name, text in given.files.items() if name != "clients/2.exit"}
    files |= {"exit": "137\n", "clients/2.stdout": "== 1 q1.1\n", "clients/2.stderr": ""}
    assert parse(replace(given, files=files)).failure == "q1.1 (client 2, pass 1): psql was killed"


def test_a_deadline_fails_the_trial() -> None:
    part = parse(changed(two_clients(), {"timed_out": "the deadline ended it\n"}))
    assert "deadline" in part.failure and not values_of(part, "ssb.pass.seconds")


def test_answers_that_differ_fail_the_trial_and_their_query_has_no_number() -> None:
    given = two_clients()
    text = given.files["clients/2.stdout"].replace("x|1", "x|2", 1)
    part = parse(changed(given, {"clients/2.stdout": text}))
    assert part.failure == "q3.1 was answered differently: client 1, pass 1, and client 2, pass 1 (2 and 2 rows)"
    assert list(values_of(part, "ssb.query.seconds")) == ["q1.1"]
    assert values_of(part, "ssb.pass.seconds") == {}


@pytest.mark.parametrize(
    "stdout",
    [
        "something else\n",
        "== 1 q1.1\n7\n== done\n",
        "== done\n",
        ran(1, "q1.1", 100, "7"),
        ran(1, "q3.1", 100, "x|1", "y|1") + ran(1, "q1.1", 100, "7"),
    ],
)
def test_a_damaged_transcript_is_no_number(stdout: str) -> None:
    with pytest.raises(ParseError):
        parse(reading({"clients/1.stdout": stdout, "clients/1.exit": "0"}, queries="q1.1, q3.1", count_workers=False))


def test_a_time_above_a_second_is_read_too() -> None:
    text = "== 1 q1.1\n7\nTime: 61234.567 ms (01:01.235)\n== done\n"
    assert read_transcript(text, 1, "x").executions[0].seconds == pytest.approx(61.234567)


def test_messages_without_workers_are_complaints_only() -> None:
    stderr = 'psql: error: connection to server failed: FATAL:  database "x" does not exist\n'
    assert read_messages(stderr).workers == ()
    assert read_messages(stderr).complaint == stderr.strip()


def test_each_client_and_pass_has_an_order_of_its_own_and_keeps_it() -> None:
    shuffled = DEFAULTS | {"order": "shuffled"}
    orders = {(c, p): [q for n, q in sequence(shuffled, c, 2) if n == p] for c in (1, 2) for p in (1, 2)}
    assert all(sorted(order) == sorted(QUERIES) for order in orders.values())
    assert len({tuple(order) for order in orders.values()}) == 4
    assert sequence(shuffled, 1, 2) == sequence(shuffled, 1, 2)
    assert sequence(shuffled, 1, 1) != sequence(shuffled | {"order_seed": 2}, 1, 1)
    assert [q for _, q in sequence(DEFAULTS, 5, 1)] == list(QUERIES)


def test_queries_are_chosen_once_each_in_the_order_given() -> None:
    assert selected_queries({"queries": "q3.4,q2.1 , q3.4"}) == ("q3.4", "q2.1")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scale_factor", 0),
        ("scale_factor", -1),
        ("seed", -1),
        ("queries", "q1.4"),
        ("clients", 0),
        ("passes", 0),
        ("order", "random"),
        ("fact_access_method", "zheap; DROP TABLE x"),
        ("load_jobs", 0),
    ],
)
def test_values_that_make_no_sense_are_refused(name: str, value: Any) -> None:
    parameter = next(p for p in SPEC.parameters if p.name == name)
    with pytest.raises(ValueError):
        parameter.check(value)


def test_a_table_that_is_not_what_the_plan_asks_for_is_found() -> None:
    wanted = DEFAULTS | {"scale_factor": 0.01, "indexes": "keys"}
    rows = {"customer": 300, "supplier": 100, "part": 2000, "date": 2556, "lineorder": 60_123}
    tables: list[dict[str, Any]] = [
        {"name": name, "loaded": load_comment(wanted, count), "indexes": 1} for name, count in rows.items()
    ]
    assert all(check.passed for check in checks(wanted, tables))
    assert not all(check.passed for check in checks(wanted | {"seed": 2}, tables))
    tables[4] |= {"loaded": load_comment(wanted, 105_001)}
    tables[0] |= {"loaded": None, "indexes": 0}
    broken = [check.name for check in checks(wanted, tables) if not check.passed]
    assert broken == ["ssb.customer", "ssb.customer.indexes", "ssb.lineorder"]
    assert len([check for check in checks(wanted, tables[1:]) if not check.passed]) == 3
