"""Your own scripts, queries and commands, as whole trials against real servers."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from results import models, runs
from results.domain import plan as plans
from results.domain.states import TrialState
from tests.live.trials.conftest import run_next, value
from workers import registry, reingest
from workers.bundle import reader

Measure = Callable[..., models.Attempt]
SETUP = "CREATE TABLE numbers AS SELECT i FROM generate_series(1, 100 * :scale) AS i;"
QUERIES = """-- query: 01-count
SELECT count(*) FROM numbers
-- query: 02-all
SET work_mem = '8MB';
SELECT i FROM numbers WHERE i > :scale;
"""


PLAN: dict[str, Any] = {
    "name": "test",
    "workload": "script",
    "replicates": 1,
    "duration_s": 1,
    "installation": "16",
    "agents": {"primary": "live"},
    "collectors": [],
    "data": "fresh",
}


def values(attempt: models.Attempt, metric: str) -> dict[str, float]:
    return dict(attempt.measurements.filter(metric_id=metric).values_list("label", "value"))


@pytest.fixture
def measure_own(agent: models.Agent) -> Measure:
    """Runs one trial with these parameters; the plan's other keys as `plan`."""

    def one(plan: dict[str, Any] | None = None, **parameters: Any) -> models.Attempt:
        kinds = registry.kinds()
        mapping = PLAN | {"parameters": {"setup": SETUP, "scale": 3} | parameters} | (plan or {})
        runs.create_run(plans.from_mapping(mapping, kinds), kinds, actor="test", as_admin=True)
        return run_next()

    return one


@pytest.mark.parametrize("installation", ["16", "18"])
def test_queries_are_timed_one_by_one_in_every_pass(measure_own: Measure, installation: str) -> None:
    attempt = measure_own({"installation": installation}, form="queries", text=QUERIES, passes=2, clients=3)
    assert attempt.error is None
    assert values(attempt, "script.query.rows") == {"01-count": 1, "02-all": 297}
    seconds = values(attempt, "script.query.seconds")
    assert set(seconds) == {"01-count", "02-all"}
    passes = values(attempt, "script.pass.seconds")
    assert set(passes) == {"", "1", "2"}
    assert min(passes["1"], passes["2"]) <= passes[""] <= max(passes["1"], passes["2"])
    assert sum(seconds.values()) == pytest.approx(passes[""], rel=2)
    taken = value(attempt, "script.seconds")
    assert value(attempt, "script.queries_per_hour") == pytest.approx(2 * 2 * 3 * 3600 / taken)
    [same] = reingest.reread(None, replace=False)
    assert (same.differences, same.error) == ((), None)


def test_scripts_of_pgbench_run_by_weight_on_their_own_data_and_access_method(
    measure_own: Measure, heap2: Callable[..., None]
) -> None:
    heap2("18")
    setup = SETUP + "CREATE TABLE plain (n int); CREATE INDEX ON numbers (i);"
    text = """-- script: read @3
\\set n random(1, 100 * :scale)
SELECT i FROM numbers WHERE i = :n;
-- script: write
INSERT INTO plain VALUES (:scale);
"""
    attempt = measure_own(
        {"installation": "18", "access_method": "heap2", "collectors": ["latency_log"]},
        form="pgbench",
        setup=setup,
        text=text,
        transactions=400,
        clients=2,
    )
    assert attempt.error is None
    counted = values(attempt, "transactions")
    assert counted[""] == 800
    assert counted["read"] + counted["write"] == pytest.approx(800, rel=0.01)
    assert 2 < counted["read"] / counted["write"] < 4.5
    logged = {h.label: sum(h.counts) for h in attempt.histograms.all()}
    assert logged[""] == logged["read"] + logged["write"] == 800
    assert attempt.trial.run.headline == "tps"
    stored = {check["actual"] for check in attempt.checks if "access method" in check["name"]}
    assert stored == {"heap2 (2 tables)"}


def tool(attempt: models.Attempt) -> dict[str, Any]:
    return next(content for content in layers(attempt, "tool") if "teiten" in content)


def layers(attempt: models.Attempt, kind: str) -> list[dict[str, Any]]:
    return [dict(use.layer.content) for use in attempt.layer_uses.filter(layer__kind=kind)]


COMMAND = """# the database is there, and psql before all others
rows=$(psql -X -A -t -c 'SELECT count(*) FROM numbers')
echo "# a remark"
echo "rows $rows"
echo "took{all} 1500 ms lower"
echo "took{half} 0.75 s lower"
echo "given{scale} $TEITEN_SCALE"
echo "given{clients} $TEITEN_CLIENTS 1"
echo "read 2 MB higher"
echo "rate 12.5 rows/s"
printenv PGHOST PGPORT PGUSER PGDATABASE >&2
"""


@pytest.mark.parametrize("installation", ["16", "18"])
def test_a_command_prints_its_own_metrics(measure_own: Measure, bundles: Path, installation: str) -> None:
    attempt = measure_own(
        {"installation": installation, "warmup_s": 60}, form="command", text=COMMAND, clients=7, headline="rate"
    )
    assert attempt.error is None
    assert (value(attempt, "own.rows"), value(attempt, "own.rate")) == (300, 12.5)
    assert values(attempt, "own.took") == {"all": 1.5, "half": 0.75}
    assert values(attempt, "own.given") == {"scale": 3, "clients": 7}
    assert value(attempt, "own.read") == 2 * 1024 * 1024
    metrics = {m.name: (m.unit, m.better) for m in models.Metric.objects.filter(name__startswith="own.")}
    assert metrics == {
        "own.rows": ("1", "neither"),
        "own.took": ("s", "lower"),
        "own.given": ("1", "neither"),
        "own.read": ("B", "higher"),
        "own.rate": ("rows/s", "neither"),
    }
    assert attempt.trial.run.headline == "own.rate"
    assert value(attempt, "script.seconds") < 60, "the warm-up is not for commands"
    files = reader.open_files(bundles / attempt.bundle)
    assert files["workload/script"].decode() == COMMAND
    assert files["workload/stderr"].decode().splitlines()[-1] == "bench"
    digest = hashlib.sha256(COMMAND.encode()).hexdigest()
    assert tool(attempt)["script SHA-256"] == digest
    assert {
        "name": "script SHA-256",
        "node": "client",
        "expected": digest,
        "actual": digest,
        "passed": True,
    } in attempt.checks


def test_a_trial_of_ones_own_shows_its_numbers_and_the_hash_of_what_ran(
    measure_own: Measure, client: Client, settings: Any
) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    settings.TEITEN_OPEN_READING = True
    attempt = measure_own(form="command", text="echo pages{read} 5 pages/s higher")
    text = html.unescape(client.get(f"/trials/{attempt.trial_id}/").content.decode())
    assert "Printed by the command" in text
    assert "5 pages/s" in text
    assert hashlib.sha256(b"echo pages{read} 5 pages/s higher").hexdigest() in text


def test_two_scripts_are_two_tools_and_two_setups_two_data(measure_own: Measure) -> None:
    first, second = (measure_own(form="command", text=f"echo a {n}") for n in (1, 2))
    third = measure_own(form="command", text="echo a 1", setup=SETUP + " ")
    assert tool(first) != tool(second)
    assert layers(first, "data") == layers(second, "data")
    assert tool(first)["script SHA-256"] == tool(third)["script SHA-256"]
    assert layers(first, "data") != layers(third, "data")


BROKEN = {
    "a query that errors": (
        {"form": "queries", "text": "-- query: good\nSELECT 1;\n-- query: bad\nSELECT 1 / 0;\n", "clients": 2},
        r"Query bad \(client 1, pass 1\): ERROR:  division by zero",
    ),
    "an error that the query tells psql to pass over": (
        {"form": "queries", "text": "\\set ON_ERROR_STOP off\nSELECT 1 / 0;\nSELECT 1;\n"},
        r"ERROR:  division by zero",
    ),
    "a connection that the server ends": (
        {"form": "queries", "text": "SELECT pg_terminate_backend(pg_backend_pid());\n"},
        r"Query queries \(client 1, pass 1\).*terminating connection due to administrator command",
    ),
    "queries past their deadline": (
        {"form": "queries", "text": "-- query: long\nSELECT pg_sleep(60);\n", "deadline_s": 8},
        r"Query long \(client 1, pass 1\) was still running at the deadline of 8 s",
    ),
    "a command past its deadline": (
        {"form": "command", "text": "echo a 1; sleep 60", "deadline_s": 1},
        "The command was still running at the deadline of 1 s",
    ),
    "a command that fails": (
        {"form": "command", "text": "echo a 1; echo 'no such thing' >&2; exit 7"},
        "The command ended with exit status 7: no such thing",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_off_counts_for_nothing_and_says_why(measure_own: Measure, name: str) -> None:
    parameters, why = BROKEN[name]
    attempt = measure_own(**parameters)
    assert attempt.error is not None
    assert re.search(why, attempt.error["why"], re.DOTALL), attempt.error["why"]
    assert models.Trial.objects.get().state == TrialState.FAILED
    assert not attempt.measurements.filter(metric__name__regex=r"^(own|script)\.").exists()
    assert {"workload/script", "workload/exit"} <= {file["path"] for file in attempt.files}


def test_a_line_that_is_no_metric_fails_the_trial_with_its_number_and_text(measure_own: Measure) -> None:
    attempt = measure_own(form="command", text="echo a 1 s; echo; echo 'b many 1'")
    assert attempt.error is not None
    assert (attempt.error["where"], attempt.error["what"]) == ("stdout:3", "'many' is no finite number.")
    assert "b many 1" in attempt.error["why"]
    assert not attempt.measurements.filter(metric_id="own.a").exists()


def test_a_setup_that_fails_names_the_line(measure_own: Measure) -> None:
    attempt = measure_own(form="command", text="echo a 1", setup="SELECT 1;\nSELEC 2;")
    assert attempt.error is not None
    assert attempt.error["phase"] == "load"
    assert 'own.sql:2: ERROR:  syntax error at or near "SELEC"' in attempt.error["why"]


def test_a_metric_that_comes_in_another_unit_is_refused(measure_own: Measure) -> None:
    assert measure_own(form="command", text="echo speed 1 pages/s").error is None
    again = measure_own(form="command", text="echo speed 1 rows/s")
    assert again.error is not None
    assert "own.speed" in again.error["what"]
    assert models.Metric.objects.get(name="own.speed").unit == "pages/s"
    assert measure_own(form="command", text="echo speed 2 pages/s higher").error is None


def test_a_warm_up_of_queries_is_kept_and_not_counted(measure_own: Measure, bundles: Path) -> None:
    attempt = measure_own({"warmup_s": 1}, form="queries", text=QUERIES, passes=1)
    files = reader.open_files(bundles / attempt.bundle)
    assert files["workload/warmup/client-1.stdout"].count(b"teiten end") == 2
    assert files["workload/client-1.stdout"].count(b"teiten end") == 2
    assert files["workload/0001.sql"].decode() == "SELECT count(*) FROM numbers\n"
