"""A primary and its subscribers: tables copied, changes applied, verified, measured, taken down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from results import models
from results.domain.matrix import InstallationRef, find_installation
from tests.live.trials.conftest import value
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import connected

Measure = Callable[..., models.Attempt]
QueryRows = Callable[..., list[dict[str, Any]]]
SUMS = "SELECT count(*) AS changes, coalesce(sum(delta), 0) AS delta FROM pgbench_history"


@pytest.fixture
def query_rows(address: Address, installations: list[InstallationRef]) -> QueryRows:
    """Rows of one SELECT from a node of a trial that is over."""

    async def ask(version: str, node: str, sql: str, database: str) -> list[dict[str, Any]]:
        installation = find_installation(version, installations)
        assert installation is not None
        async with connected(address) as remote:
            server = await cluster.ensure(remote, installation, name=f"logical-{node}")
            return await server.query(sql, database=database)

    return lambda *words: asyncio.run(ask(*words))


def checks(attempt: models.Attempt, node: str) -> dict[str, str]:
    return {check["name"]: check["actual"] for check in attempt.checks if check["node"] == node}


@pytest.mark.parametrize(("version", "streaming"), [("15", "on"), ("16", "parallel"), ("18", "off")])
def test_subscribers_have_every_change_that_was_committed(
    measure: Measure, query_rows: QueryRows, version: str, streaming: str
) -> None:
    attempt = measure(
        installation=version,
        topology="logical",
        topology_parameters={"subscribers": 2, "synchronous": "remote_apply", "streaming": streaming},
        parameters={"script": "tpcb-like", "clients": 2},
        data="fresh",
        duration_s=5,  # of two looks neither may know a lag
    )
    assert attempt.error is None, attempt.error
    for node in ("subscriber1", "subscriber2"):
        all_checks = checks(attempt, node)
        assert all_checks["rows of every table"] == "100011 rows in 4 tables"
        assert all_checks["subscription's tables"] == "all 4 ready"
        assert (all_checks["changes from primary"], all_checks["synchronous state"]) == ("streaming", "sync")
        assert value(attempt, "replication.lag.max", node=node) > 0
        assert value(attempt, "replication.lag_bytes.max", node=node) >= 0
        assert value(attempt, "replication.catch_up", node=node) >= 0
    assert attempt.notes["publication"]["replica identity full"] == ["pgbench_history"]
    [primary] = query_rows(version, "primary", SUMS, "bench")
    assert primary["changes"] == value(attempt, "transactions") > 0
    for node in ("subscriber1", "subscriber2"):
        assert query_rows(version, node, SUMS, "bench") == [primary]


def test_subscribers_are_read_while_the_primary_is_written_and_no_slot_is_left(
    measure: Measure, query_rows: QueryRows
) -> None:
    plan: dict[str, Any] = {"topology": "logical", "parameters": {"script": "tpcb-like", "clients": 2}}
    measure(**plan, topology_parameters={"subscribers": 2})
    attempt = measure(**plan, topology_parameters={"subscribers": 1, "load": "both"})
    assert attempt.error is None, attempt.error
    assert checks(attempt, "subscriber1")["synchronous state"] == "async"
    assert value(attempt, "tps") == value(attempt, "tps", node="primary")
    assert value(attempt, "tps", node="subscriber1") > 0
    assert query_rows("16", "primary", "SELECT slot_name FROM pg_replication_slots", "postgres") == []
    assert query_rows("16", "subscriber1", "SELECT subname FROM pg_subscription", "postgres") == []


def test_what_cannot_be_replicated_fails_before_the_clock_starts(measure: Measure) -> None:
    attempt = measure(topology="logical", parameters={"unlogged": True})
    assert (attempt.error["phase"], "nlogged" in attempt.error["why"]) == ("arrange", True)
    attempt = measure(topology="logical", workload="bulk_load")
    assert attempt.error["phase"] == "verify"
    assert "tables that are not published on primary: expected none, found customer" in attempt.error["why"]
    attempt = measure(topology="logical", workload="script", parameters={"text": "SELECT 1;"})
    assert attempt.error["what"] == "There is no table to publish."
