"""A primary and its standbys: arranged, verified, loaded, measured on every node, taken down."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from results import models
from tests.live.trials.conftest import value
from tests.live.trials.killing import on_agent
from workers.remote.address import Address

Measure = Callable[..., models.Attempt]
SLOTS_OF_THE_LAST_STARTED = """
last=$(ls -t "$1"/clusters/16*-cascading-cascade-*/data/postmaster.opts | head -n 1)
ls "${last%/*}/pg_replslot"
"""


def checks(attempt: models.Attempt, node: str) -> dict[str, str]:
    return {check["name"]: check["actual"] for check in attempt.checks if check["node"] == node}


@pytest.mark.parametrize("version", ["16", "18"])
def test_standbys_stream_synchronously_and_take_reads(measure: Measure, version: str) -> None:
    attempt = measure(
        installation=version,
        topology="streaming",
        topology_parameters={"standbys": 2, "synchronous": "remote_apply", "load": "both"},
        parameters={"script": "tpcb-like", "clients": 2},
    )
    assert attempt.error is None, attempt.error
    assert checks(attempt, "primary")["role"] == "primary"
    for standby in ("standby1", "standby2"):
        all_checks = checks(attempt, standby)
        assert (all_checks["role"], all_checks["stream from primary"], all_checks["synchronous state"]) == (
            "standby",
            "streaming",
            "sync",
        )
    assert value(attempt, "tps") == value(attempt, "tps", node="primary")
    assert value(attempt, "tps", node="standby1") > 0
    assert value(attempt, "tps", node="standby2") > 0
    assert value(attempt, "latency.p99") == value(attempt, "latency.p99", node="primary")
    assert [gap for gap in attempt.gaps if gap["source"] == "latency_log"] == []


def test_reads_on_the_standbys_are_summed(measure: Measure) -> None:
    attempt = measure(
        topology="streaming", topology_parameters={"standbys": 2, "load": "standbys"}, parameters={"clients": 2}
    )
    assert attempt.error is None, attempt.error
    one, two = (value(attempt, "tps", node=node) for node in ("standby1", "standby2"))
    assert value(attempt, "tps") == pytest.approx(one + two)
    assert value(attempt, "tps.per_node") == pytest.approx((one + two) / 2)
    counted = [value(attempt, "transactions", node=node) for node in ("standby1", "standby2")]
    assert value(attempt, "transactions") == sum(counted)
    assert [sum(row.counts) for row in attempt.histograms.order_by("node")] == counted


def test_a_cascade_is_made_once_and_kept(measure: Measure) -> None:
    plan = {"topology": "cascading", "topology_parameters": {"standbys": 2}, "parameters": {"script": "tpcb-like"}}
    first = measure(**plan)
    assert first.error is None, first.error
    assert checks(first, "cascade")["stream from primary"] == "streaming"
    assert checks(first, "standby2")["stream from cascade"] == "streaming"
    second = measure(**plan)
    assert second.error is None, second.error
    assert second.notes["standbys"] == {"cascade": "kept", "standby1": "kept", "standby2": "kept"}


def test_a_cascading_standby_keeps_wal_for_those_alone_that_follow_it(measure: Measure, address: Address) -> None:
    for standbys in (2, 1):
        attempt = measure(topology="cascading", topology_parameters={"standbys": standbys})
        assert attempt.error is None, attempt.error
    [slot] = on_agent(address, SLOTS_OF_THE_LAST_STARTED, address.data_dir).split()
    assert slot.startswith("teiten_standby1_")
