"""The Star Schema Benchmark as whole trials: what it measures, on which servers, and how it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from results import models, runs
from results.domain import plan as plans
from results.domain.matrix import InstallationRef, find_installation
from results.domain.states import AttemptState, TrialState
from tests.live.trials.conftest import record_access_method, run_next, value, wait_for
from tests.live.trials.killing import beside, servers_killed_at
from tests.workers.workloads.ssb_model import Model
from workers import registry
from workers.bundle import reader
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import connected
from workers.workloads.ssb import execute, load
from workers.workloads.ssb.sizes import sizes

SMALL: dict[str, Any] = {
    "name": "stars",
    "workload": "ssb",
    "replicates": 1,
    "installation": "16",
    "collectors": [],
    "agents": {"primary": "live"},
}
DATA = {"scale_factor": 0.01, "seed": 3}
WORKERS = {  # as if the small tables were large
    "min_parallel_table_scan_size": "0",
    "parallel_setup_cost": "0",
    "parallel_tuple_cost": "0",
    "max_parallel_workers_per_gather": "2",
}


@pytest.fixture(scope="module")
def model() -> Model:
    """The rows of the small data, made in Python."""
    size = sizes(0.01)
    return Model(3, size.customers, size.suppliers, size.parts, size.orders)


def planned(parameters: dict[str, Any] | None = None, **changes: Any) -> models.Run:
    """A run of one trial over the small data, kept for the next."""
    mapping = SMALL | changes | {"parameters": DATA | (parameters or {})}
    kinds = registry.kinds()
    return runs.create_run(plans.from_mapping(mapping, kinds), kinds, actor="test")


def trial(agent: models.Agent, parameters: dict[str, Any] | None = None, **changes: Any) -> models.Attempt:
    """One trial over the small data, from its lease to its numbers."""
    planned(parameters, **changes)
    return run_next()


def answers(attempt: models.Attempt, bundles: Path, client: int = 1) -> dict[str, list[str]]:
    """Query → the rows of its first execution, from the raw output."""
    text = reader.open_files(bundles / attempt.bundle)[f"workload/clients/{client}.stdout"].decode()
    rows_of: dict[str, list[str]] = {}
    for block in text.split("== ")[1:]:
        head, *rows = block.splitlines()
        if head != "done":
            rows_of.setdefault(head.split()[1], rows[:-1])
    return rows_of


def measured(attempt: models.Attempt, metric: str) -> dict[str, float]:
    """Label → value."""
    return dict(attempt.measurements.filter(metric_id=metric).values_list("label", "value"))


def failed(attempt: models.Attempt) -> dict[str, Any]:
    """The attempt's error; no sum of anything may stand beside it."""
    assert (attempt.state, attempt.trial.state) == (AttemptState.FAILED, TrialState.FAILED)
    sums = ("ssb.pass.seconds", "ssb.geometric_mean.seconds", "ssb.queries_per_hour", "ssb.workers.share")
    assert not attempt.measurements.filter(metric_id__in=sums).exists()
    return dict(attempt.error)


@pytest.mark.parametrize("installation", ["15", "16", "18"])
def test_every_answer_is_that_of_the_model(agent: models.Agent, bundles: Path, model: Model, installation: str) -> None:
    attempt = trial(agent, installation=installation)
    assert attempt.error is None
    assert answers(attempt, bundles) == model.answers
    assert all(check["passed"] for check in attempt.checks)
    assert measured(attempt, "ssb.query.rows") == {query: len(rows) for query, rows in model.answers.items()}


def test_many_clients_and_many_passes(agent: models.Agent, bundles: Path, model: Model) -> None:
    shuffled = {"clients": 3, "passes": 2, "order": "shuffled", "queries": "q1.1, q2.1, q3.1", "warmup_passes": 1}
    attempt = trial(agent, shuffled, installation="18", settings=WORKERS)
    assert (attempt.error, attempt.gaps) == (None, [])
    [executions] = attempt.documents.filter(kind="executions")
    assert len(executions.content) == value(attempt, "ssb.executions") == 18
    assert {(e["client"], e["pass"]) for e in executions.content} == {(c, p) for c in (1, 2, 3) for p in (1, 2)}
    for client in (1, 2, 3):
        assert answers(attempt, bundles, client) == {q: model.answers[q] for q in ("q1.1", "q2.1", "q3.1")}
    passes = [
        sum(e["seconds"] for e in executions.content if (e["client"], e["pass"]) == (c, p))
        for c in (1, 2, 3)
        for p in (1, 2)
    ]
    assert value(attempt, "ssb.pass.seconds") == pytest.approx(sum(sorted(passes)[2:4]) / 2)


def test_plans_are_kept_and_jit_is_timed_where_the_server_has_it(agent: models.Agent) -> None:
    costs = {"jit": "on", "jit_above_cost": "0", "jit_inline_above_cost": "0", "jit_optimize_above_cost": "0"}
    attempt = trial(agent, {"queries": "q2.1"}, installation="15", settings=costs)
    assert attempt.error is None
    plan = attempt.documents.get(kind="plan", label="q2.1").content[0]
    assert plan["Plan"]["Shared Hit Blocks"] > 0
    steps = measured(attempt, "ssb.jit.seconds")
    timing = plan["JIT"]["Timing"]
    assert steps["inlining"] == pytest.approx(timing["Inlining"] / 1000)
    assert steps["emission"] == pytest.approx(timing["Emission"] / 1000)
    assert 0 < steps["emission"] < steps[""] == pytest.approx(timing["Total"] / 1000, rel=0.01)
    assert measured(attempt, "ssb.jit.functions")[""] == plan["JIT"]["Functions"] > 0


def test_the_fact_table_stored_by_another_access_method(
    agent: models.Agent, heap2: Callable[..., None], bundles: Path, model: Model
) -> None:
    heap2("16")
    several = {"fact_access_method": "heap2", "load_jobs": 3, "indexes": "keys and fact columns", "explain": False}
    attempt = trial(agent, several, data="fresh")
    assert attempt.error is None
    stored = next(check for check in attempt.checks if check["name"] == "access method of every table")
    assert stored["actual"] == "heap, lineorder: heap2 (5 tables)"
    assert next(c for c in attempt.checks if c["name"] == "ssb.lineorder.indexes")["actual"] == "5"
    assert answers(attempt, bundles)["q4.2"] == model.answers["q4.2"]
    assert measured(attempt, "ssb.load.seconds").keys() >= {"", "dimensions", "lineorder", "keys", "indexes", "vacuum"}
    assert "no query was explained" in attempt.gaps[0]["reason"]
    assert not attempt.measurements.filter(metric_id="ssb.workers.launched").exists()


def test_an_access_method_that_the_server_lacks(agent: models.Agent) -> None:
    record_access_method("zheap")
    error = failed(trial(agent, {"fact_access_method": "zheap"}, data="fresh"))
    assert error["phase"] == "load"
    assert error["what"].endswith("has no table access method 'zheap' for the fact table.")
    assert "heap" in error["why"]


def test_a_warm_up_by_time_is_refused(agent: models.Agent) -> None:
    error = failed(trial(agent, warmup_s=1))
    assert error["where"] == "warmup_s"
    assert "warmup_passes" in error["todo"]


def broken(monkeypatch: pytest.MonkeyPatch, query: str, sql: str) -> None:
    monkeypatch.setitem(execute.QUERY_TEXT, query, sql)


def test_a_query_that_errors_is_named_before_the_clock_starts(
    agent: models.Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, "q2.2", "SELECT 1 / (lo_tax - lo_tax) FROM lineorder;\n")
    error = failed(trial(agent))
    assert error["phase"] == "warm"
    assert "q2.2, pass 1:" in error["why"] and "division by zero" in error["why"]


def test_a_query_that_errors_in_the_run_leaves_no_total(agent: models.Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, "q2.2", "SELECT 1 / (lo_tax - lo_tax) FROM lineorder;\n")
    attempt = trial(agent, {"explain": False, "clients": 2})
    error = failed(attempt)
    assert error["where"] == "measure"
    assert error["why"].startswith("q2.2 (client ")
    assert "ERROR:  division by zero" in error["why"]
    assert "DEBUG" not in error["why"]
    assert measured(attempt, "ssb.query.seconds").keys() >= {"q1.1", "q1.2", "q1.3", "q2.1"}
    assert "q2.2" not in measured(attempt, "ssb.query.seconds")


def test_the_first_failure_ends_the_other_clients(agent: models.Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gets the lock sleeps; the other fails at once."""
    sleeps = "SELECT CASE WHEN pg_try_advisory_lock(7) THEN pg_sleep(60)::text ELSE (1 / (lo_tax - lo_tax))::text END"
    broken(monkeypatch, "q1.1", f"{sleeps} FROM lineorder LIMIT 1;\n")
    attempt = trial(agent, {"explain": False, "clients": 2})
    assert "division by zero" in failed(attempt)["why"]
    assert measured(attempt, "phase.seconds")["measure"] < 60


def test_the_statistics_see_the_sessions_of_the_load(agent: models.Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, "q1.1", "SELECT pg_sleep(6);\n")
    attempt = trial(agent, {"explain": False, "queries": "q1.1", "clients": 2}, collectors=["pg_stat"])
    assert attempt.error is None
    assert max(attempt.series.get(name="backends.active").values) == 2
    waits = measured(attempt, "waits")
    assert max(waits, key=lambda wait: waits[wait]) == "Timeout: PgSleep"
    assert sum(waits.values()) <= 2, "of the load alone"


def test_a_cancelled_trial_leaves_no_query_behind(
    agent: models.Agent, address: Address, installations: list[InstallationRef], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client is gone; the server would go on with its query, into the next trial."""
    broken(monkeypatch, "q1.1", "SELECT pg_sleep(120);\n")

    def cancel() -> None:
        wait_for(lambda: models.Trial.objects.filter(phase="measure").exists())
        runs.cancel_run(cancelled.pk, "test")

    async def sleeping() -> list[dict[str, Any]]:
        installation = find_installation("16", installations)
        assert installation is not None
        async with connected(address) as remote:
            server = await cluster.ensure(remote, installation)
            assert server.how == "reused"
            requested = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'ssb of teiten%'"
            return await server.query(requested)

    cancelled = planned({"explain": False, "queries": "q1.1"})
    planned()  # waits for the agent, so that the server stays
    with beside(cancel):
        attempt = run_next()
    assert (attempt.error["kind"], asyncio.run(sleeping())) == ("cancelled", [])


def test_a_generator_that_dies_fails_the_load(agent: models.Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """COPY itself takes a stream that ends early for a whole one."""
    whole = load.read
    monkeypatch.setattr(load, "read", lambda name: whole(name).replace("print rows > counted", "exit 1"))
    error = failed(trial(agent, data="fresh"))
    assert (error["phase"], error["what"]) == ("load", "Loading (dimensions) ended with exit status 1")
    assert error["why"].endswith("customer: the generator made unknown rows, COPY took 300")


def test_clients_that_are_answered_differently_fail_the_trial(
    agent: models.Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, "q1.1", "SELECT pg_backend_pid();\n")
    attempt = trial(agent, {"clients": 2, "queries": "q1.1, q1.2"})
    error = failed(attempt)
    assert error["why"] == "q1.1 was answered differently: client 1, pass 1, and client 2, pass 1 (1 and 1 rows)"
    assert list(measured(attempt, "ssb.query.seconds")) == ["q1.2"]


def test_a_server_killed_in_mid_query(agent: models.Agent, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = "\\if :second\n\\echo both\n\\endif\n"
    broken(
        monkeypatch,
        "q1.2",
        f"SELECT NOT pg_try_advisory_lock(7) AS second \\gset\n{marks}SELECT pg_sleep(60);\n",
    )
    with servers_killed_at(address, "^both$", "queries-timed/clients/*.stdout"):
        attempt = trial(agent, {"explain": False, "clients": 2})
    error = failed(attempt)
    gone, query = error["why"].splitlines()[:2]
    assert gone.startswith("The server primary on agent live had ended, and not by Teiten.")
    assert query.startswith("q1.2 (client ")
    assert "unexpected postmaster exit" in error["why"] or "closed the connection" in error["why"]
    assert list(measured(attempt, "ssb.query.seconds")) == ["q1.1"]
    monkeypatch.undo()
    assert trial(agent, {"queries": "q1.2"}).error is None
