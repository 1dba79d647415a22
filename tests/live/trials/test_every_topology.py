"""One trial of every topology, with every collector that it brings along, at its smallest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from results import models
from tests.live.trials import endpoints
from tests.live.trials.conftest import value
from workers import registry
from workers.postgres.server import Server

pytestmark = pytest.mark.smoke
Measure = Callable[..., models.Attempt]

# What a plan of each topology must say beside the topology.
SMALLEST: dict[str, dict[str, Any]] = {
    "single": {"collectors": ["latency_log", "pg_stat", "sar", "perf", "perf_stat"]},
    "streaming": {},
    "cascading": {},
    "pgpool": {},
    "logical": {},
    "fdw": {"installation": "15"},  # the one with contrib modules
    "endpoints": {},
}
RATE = {"clients": 2, "rate": 200}  # leaves a core to what else runs here


@pytest.mark.parametrize("topology", sorted(set(registry.kinds().topologies) - {"endpoints"}))
def test_every_topology_is_arranged_measured_and_watched(measure: Measure, topology: str) -> None:
    attempt = measure(topology=topology, duration_s=1, parameters=RATE, **SMALLEST[topology])
    assert attempt.error is None, attempt.error
    assert value(attempt, "tps") > 0
    assert attempt.state == "done"


def test_servers_that_teiten_did_not_arrange_are_measured(measure: Measure, two: list[Server]) -> None:
    attempt = measure(**endpoints.plan(two[:1]) | {"data": "fresh", "duration_s": 1})
    assert attempt.error is None, attempt.error
    assert value(attempt, "tps") > 0
