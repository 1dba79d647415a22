"""A primary whose large tables lie on other servers: moved there, verified, measured, kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from results import models
from results.domain.errors import PlanError
from results.domain.matrix import InstallationRef, find_installation
from tests.live.trials.conftest import start, value
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import connected

Measure = Callable[..., models.Attempt]
QueryRow = Callable[..., str]
VERSION = "15"  # the one with contrib modules that an agent of the tests has
PLAN: dict[str, Any] = {"installation": VERSION, "topology": "fdw"}


@pytest.fixture
def query_row(address: Address, installations: list[InstallationRef]) -> QueryRow:
    """Runs a psql script on a node of a trial that is over; what it printed."""

    async def tell(node: str, script: str, database: str) -> str:
        installation = find_installation(VERSION, installations)
        assert installation is not None
        async with connected(address) as remote:
            server = await cluster.ensure(remote, installation, name=f"fdw-{node}")
            return await server.execute(script, database=database)

    return lambda node, script, database="bench": asyncio.run(tell(node, script, database))


def checks(attempt: models.Attempt, node: str = "primary") -> dict[str, str]:
    return {check["name"]: check["actual"] for check in attempt.checks if check["node"] == node}


@pytest.mark.parametrize(("method", "at_once"), [("hash", True), ("range", False)])
def test_the_accounts_lie_on_the_shards_and_are_changed_there(
    measure: Measure, query_row: QueryRow, method: str, at_once: bool
) -> None:
    attempt = measure(
        **PLAN,
        topology_parameters={"shards": 2, "method": method, "async_capable": at_once},
        parameters={"script": "tpcb-like", "clients": 2, "max_tries": 10},
        data="template",
    )
    assert attempt.error is None, attempt.error
    all_checks = checks(attempt)
    assert all_checks["rows of pgbench_accounts on all shards"] == "100000"
    assert checks(attempt, "shard2")["queries from primary"] == "1 foreign partition"
    assert all_checks["foreign scans of a range of pgbench_accounts"] == f"2, {2 if at_once else 0} of them at once"
    assert attempt.notes["shards"] == {"how": "moved", "rows": {"pgbench_accounts": 100000}}
    sums = "SELECT count(*), sum(abalance) FROM pgbench_accounts;"
    parts = [[int(word) for word in query_row(node, sums).split("|")] for node in ("shard1", "shard2")]
    rows, balances = zip(*parts, strict=True)
    assert sum(rows) == 100000
    assert all(45000 < count < 55000 for count in rows)
    changes, delta = query_row("primary", "SELECT count(*), sum(delta) FROM pgbench_history;").split("|")
    assert int(changes) == value(attempt, "transactions") > 0
    assert sum(balances) == int(delta)


def test_shared_out_data_are_kept_until_a_part_is_lost(measure: Measure, query_row: QueryRow) -> None:
    def one(shards: int, **options: Any) -> models.Attempt:
        attempt = measure(
            **PLAN, workload="read_scaleup", topology_parameters={"shards": shards, "method": "range", **options}
        )
        assert attempt.error is None, attempt.error
        return attempt

    first, again, three = one(2), one(2, fetch_size=1000, use_remote_estimate=True), one(3)
    assert [attempt.notes["shards"]["how"] for attempt in (first, again, three)] == ["moved", "kept", "moved"]
    assert again.notes["data"] == first.notes["data"] | {"how": "reused"}
    assert three.notes["data"]["database"] != first.notes["data"]["database"]
    assert one(2).notes["shards"]["how"] == "kept"
    query_row("shard2", f"COMMENT ON DATABASE {first.notes['data']['database']} IS NULL;", "postgres")
    mended = one(2)
    assert (mended.notes["shards"]["how"], mended.notes["data"]["how"]) == ("moved", "loaded")


def test_what_cannot_be_shared_out_fails_before_the_clock_starts(measure: Measure) -> None:
    attempt = measure(**PLAN, parameters={"foreign_keys": True})
    assert attempt.error["what"] == "The table pgbench_accounts cannot lie on other servers."
    attempt = measure(**PLAN, topology_parameters={"least_rows": 1_000_000})
    assert attempt.error["what"] == "There is no table to move to the shards."


def test_an_installation_without_postgres_fdw_is_refused_before_it_runs(agent: models.Agent) -> None:
    with pytest.raises(PlanError, match="has no postgres_fdw"):
        start(topology="fdw", installation="16")
