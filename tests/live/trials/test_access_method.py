"""Access-method profiles on real servers: what they tell, what is refused, and how they fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from results import models
from results.domain.matrix import InstallationRef
from tests.live.trials.afterwards import Afterwards
from tests.live.trials.conftest import record_access_method, run_next, start, value
from tests.live.trials.killing import servers_killed_at
from workers.bundle import reader
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import connected

Measure = Callable[..., models.Attempt]
SMALL = {
    "rows": 2_000,
    "wide_rows": 1_000,
    "range_rows": 50,
    "scan_repetitions": 1,
    "row_repetitions": 20,
    "range_repetitions": 3,
    "updates": 300,
    "tpcb_scale": 1,
}
QUIET = {"autovacuum": "off"}
FIXED = {"workload": "access_method", "collectors": [], "data": "fresh", "duration_s": 1, "settings": QUIET}


@pytest.fixture
def profile(measure: Measure) -> Measure:
    """Runs a small profile with these parameters and changes of its plan."""

    def one(parameters: dict[str, Any] | None = None, **changes: Any) -> models.Attempt:
        return measure(**FIXED | {"parameters": SMALL | (parameters or {})} | changes)

    return one


@pytest.fixture
def no_index(address: Address, postgres_16: InstallationRef) -> Iterator[Callable[[str], None]]:
    """Has the server of 16 refuse CREATE INDEX with a SQLSTATE, as an access method might that knows no indexes."""

    async def in_template(script: str, sqlstate: str) -> None:
        async with connected(address) as remote:
            server = await cluster.ensure(remote, postgres_16)
            await server.execute("ALTER DATABASE template0 ALLOW_CONNECTIONS true;")
            await server.execute(script, database="template0", variables={"sqlstate": sqlstate})
            await server.execute("ALTER DATABASE template0 ALLOW_CONNECTIONS false;")

    yield lambda sqlstate: asyncio.run(in_template(REFUSE, sqlstate))
    asyncio.run(in_template("DROP FUNCTION IF EXISTS refuse CASCADE;", ""))


REFUSE = """
SELECT format('CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
               BEGIN RAISE EXCEPTION USING MESSAGE = ''no index here'', ERRCODE = %L; END $$', :'sqlstate') \\gexec
CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION refuse();
"""


def gaps(attempt: models.Attempt) -> dict[str, str]:
    """Step → why it is not there."""
    return dict(gap["reason"].split(": ", 1) for gap in attempt.gaps if gap["source"] == "access_method")


@pytest.mark.parametrize("version", ["16", "18"])
def test_a_profile_tells_what_the_server_says(profile: Measure, afterwards: Afterwards, version: str) -> None:
    attempt = profile(installation=version)
    assert attempt.error is None
    [left] = afterwards.query(
        version,
        "SELECT (SELECT relpages FROM pg_class WHERE relname = 'wide') AS pages, pg_table_size('wide') AS wide,"
        " (SELECT count(*) FROM foo) AS foo, (SELECT count(*) FROM wide) AS wide_rows,"
        " (SELECT count(*) FROM foo WHERE val1 !~ '^[0-9a-f]{32}$') AS updated",
    )
    assert (left["foo"], left["wide_rows"]) == (2_000, 1_000)
    assert 20 + 50 < left["updated"] <= 20 + 3 * 50
    for column in ("id", "val10", "val20"):
        assert value(attempt, "scan.blocks", label=column) == left["pages"]
        assert value(attempt, "scan.blocks.read", label=column) <= left["pages"]
    assert value(attempt, "size.table", label="wide") == left["wide"]
    assert (value(attempt, "updates.hot", label="grown"), value(attempt, "dead_tuples", label="grown")) == (0, 300)
    assert value(attempt, "maintenance.seconds", label="CLUSTER") > 0
    assert value(attempt, "tpcb.tps") > 0
    reported = next(gap["reason"] for gap in attempt.gaps if gap["source"] == "cold caches")
    assert reported.startswith("caches are as they are found: The caches of live cannot be dropped.")
    if "pgstattuple foo" in gaps(attempt):
        assert gaps(attempt)["pgstattuple foo"] == 'extension "pgstattuple" is not available (SQLSTATE 0A000)'
    assert ("pgstattuple foo" in gaps(attempt)) != attempt.measurements.filter(metric_id="dead_tuples.found").exists()


def test_builds_are_profiled_by_one_plan_and_each_beside_its_own_heap(
    agent: models.Agent, bundles: Path, heap2: Callable[[str], None]
) -> None:
    heap2("16")
    builds = {name: {"installation": "16", "access_method": name} for name in ("heap", "heap2")}
    levels = [{"label": f"16 {name}", "values": values} for name, values in builds.items()]
    start(**FIXED | {"parameters": SMALL, "factors": {"build": levels}})
    attempts = {str(row.trial.configuration.levels["build"]): row for row in (run_next(), run_next())}
    heap, other = attempts["16 heap"], attempts["16 heap2"]
    assert (heap.error, other.error) == (None, None)
    for table in ("foo", "wide", "grown", "pgbench_accounts"):
        for metric in ("size.table", "size.indexes", "size.total"):
            assert value(heap, metric, label=table) == value(other, metric, label=table), (metric, table)
    for label in ("grown", "grown: indexes"):
        assert value(heap, "growth.bytes", label=label) == value(other, "growth.bytes", label=label) > 0
    assert value(other, "scan.blocks", label="id") == value(other, "scan.heap.blocks", label="id")
    assert "reads the same number of blocks" in gaps(other)["break-even with the heap"]
    assert not other.measurements.filter(metric_id="scan.break_even").exists()
    assert not heap.measurements.filter(metric_id="scan.heap.seconds").exists()
    files = reader.open_files(bundles / other.bundle)
    protocol = json.loads(files["workload/steps.json"])
    last = max(number for number, entry in enumerate(protocol) if entry["kind"] == "sizes")
    tables = json.loads(files[f"workload/{last:03d}/stdout"])
    stored = {table: entry["access_method"] for table, entry in tables.items()}
    assert {table for table, name in stored.items() if name != "heap2"} == {"wide_heap"}
    assert len(stored) == 8


def test_what_the_server_refuses_costs_what_needs_it_and_no_more(
    profile: Measure, no_index: Callable[[str], None]
) -> None:
    no_index("0A000")
    attempt = profile()
    assert attempt.error is None
    assert gaps(attempt)["index foo"] == "no index here (SQLSTATE 0A000)"
    for step in ("plan row", "select row", "update range", "statistics foo", "CLUSTER", "grow", "TPC-B"):
        assert "which was not done" in gaps(attempt)[step]
    for metric in ("index_scan.latency", "update.latency", "commit.latency", "dead_tuples"):
        assert not attempt.measurements.filter(metric_id=metric).exists()
    assert not attempt.measurements.filter(metric__name__startswith="tpcb.").exists()
    assert value(attempt, "scan.blocks", label="id") > 0
    assert value(attempt, "maintenance.seconds", label="VACUUM") > 0


def test_an_error_that_is_no_refusal_fails_the_trial(profile: Measure, no_index: Callable[[str], None]) -> None:
    no_index("53100")
    attempt = profile()
    assert attempt.error is not None
    assert attempt.error["where"] == "measure"
    assert "The step 'index foo' broke off." in attempt.error["why"]
    assert "no index here" in attempt.error["why"]


@pytest.mark.parametrize("policy", ["required", "restart"])
def test_steps_after_a_restart_find_nothing_in_the_server_s_buffers(
    profile: Measure, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    """The system's caches cannot be dropped here; the server's restart is real."""
    monkeypatch.setattr("workers.postgres.database._MAY_DROP", "true")
    monkeypatch.setattr("workers.postgres.database._DROP", "sync")
    attempt = profile({"tpcb": False, "cold": policy})
    assert attempt.error is None
    for column in ("id", "val10", "val20"):
        assert value(attempt, "scan.blocks.read", label=column) == value(attempt, "scan.blocks", label=column) > 0
    assert value(attempt, "dead_tuples", label="foo") > 0


def test_caches_that_may_not_be_dropped_fail_a_trial_that_requires_it(profile: Measure) -> None:
    required = profile({"cold": "required"})
    assert required.error is not None
    assert (required.error["kind"], required.error["phase"]) == ("verify", "verify")
    assert "expected cold, found as-found" in required.error["why"]
    assert required.measured_from is None


def test_an_access_method_that_the_server_lacks_is_named(profile: Measure) -> None:
    record_access_method("zheap")
    attempt = profile(access_method="zheap")
    assert attempt.error is not None
    assert attempt.error["phase"] == "load"
    assert 'Table access method "zheap" does not exist' in attempt.error["why"]


def test_a_server_killed_in_mid_step_fails_the_trial_and_keeps_what_was_told(
    profile: Measure, address: Address, bundles: Path
) -> None:
    with servers_killed_at(address, "71_grow.sql", "step-*/script"):
        attempt = profile({"updates": 1_000_000})
    assert attempt.error is not None
    assert attempt.error["where"] == "measure"
    assert "The step 'grow' broke off." in attempt.error["why"]
    assert value(attempt, "size.table", label="foo") > 0
    assert not attempt.measurements.filter(metric_id="growth.bytes", label="grown").exists()
    assert models.Trial.objects.get(pk=attempt.trial_id).attempt_id is None
