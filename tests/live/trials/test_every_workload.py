"""Every workload at its smallest on the oldest PostgreSQL that they must serve. TEITEN_TEST_MAJORS=12,13,14 takes
others, of those that `python -m bootstrap oldpg 13 14` has put beside it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from results import agents, models
from results.agents import Contact
from tests.live.trials.conftest import agent_fields, old, run_next, start
from workers import contact, registry
from workers.remote.address import Address

MAJORS = os.environ.get("TEITEN_TEST_MAJORS", "11").split(",")
SECONDS = 1
pytestmark = pytest.mark.smoke
# Parameters, and other parts of the plan, that make a trial of each workload small.
SMALLEST: dict[str, dict[str, Any]] = {
    "access_method": {
        "parameters": {
            "rows": 1000,
            "range_rows": 50,
            "row_repetitions": 20,
            "range_repetitions": 3,
            "scan_repetitions": 1,
        }
    },
    "append": {"parameters": {"clients": 2}},
    "bulk_load": {"parameters": {"size_mb": 2, "jobs": 2}},
    "capabilities": {"parameters": {"checks": "vacuum, index_btree, partitioning, crash_recovery"}},
    "ledger": {"parameters": {"clients": 2}},
    "pgbench": {"parameters": {"script": "tpcb-like", "clients": 2}},
    "read_scaleup": {"parameters": {"variant": "index-only", "clients": 2}},
    "script": {"parameters": {"form": "queries", "text": "-- query: 1\nSELECT 1;\n", "passes": 2}},
    "ssb": {"parameters": {"scale_factor": 0.002, "clients": 2}},
    "tpcc": {"parameters": {"customers_per_district": 30, "items": 200, "clients": 2}},
    "update_scaleup": {"parameters": {"clients": 2}},
}


@pytest.fixture(scope="module", params=MAJORS)
def old_contact(request: pytest.FixtureRequest, address: Address) -> tuple[str, Contact]:
    """(major, what a contact finds): that server, and the client programs of a newer one."""
    search = (old(request.param), *agent_fields(address)["search"])
    return request.param, asyncio.run(contact.discover_agent(replace(address, search=search)))


@pytest.mark.parametrize("workload", sorted(registry.kinds().workloads))
def test_every_workload_runs_on_an_old_server(
    workload: str, old_contact: tuple[str, Contact], transactional_db: None, address: Address, bundles: Path
) -> None:
    major, facts = old_contact
    row = agents.create_agent(agent_fields(address), "test")
    models.Agent.objects.filter(pk=row.pk).update(host_key=address.host_key)
    agents.record_contact(row.pk, facts, timezone.now())
    plan = SMALLEST[workload]
    start(workload=workload, installation=major, duration_s=SECONDS, **plan)
    attempt = run_next()
    assert attempt.error is None
    headline = registry.kinds().workloads[workload].headline_for(plan["parameters"])
    assert attempt.measurements.filter(metric_id=headline, label="").count() == 1
    assert attempt.state == "done"
