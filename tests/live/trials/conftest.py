"""An agent that the warehouse knows, and short plans on it, run in this very process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from results import agents, models, runs
from results import plan as plans
from results.agents import Contact
from workers import attempt, contact, dispatch, registry
from workers.remote.address import Address

PLAN: dict[str, Any] = {
    "name": "test",
    "workload": "pgbench",
    "replicates": 1,
    "duration_s": 2,
    "installation": "16",
    "agents": {"primary": "live"},
    "parameters": {"scale": 1, "script": "select-only"},
}


@pytest.fixture
def bundles(settings: Any, tmp_path: Path) -> Path:
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"
    return tmp_path / "bundles"


def agent_fields(address: Address) -> dict[str, Any]:
    """What a person enters. Old servers are left out: discovering them takes its time."""
    return {
        "name": address.name,
        "host": address.host,
        "port": address.port,
        "user": address.user,
        "key_path": address.key_path,
        "search": [folder for folder in address.search if "/old" not in folder],
        "data_dir": address.data_dir,
        "work_dir": address.work_dir,
    }


@pytest.fixture(scope="session")
def found(address: Address) -> Contact:
    """What a contact finds on the agent, asked once."""
    return asyncio.run(contact.discovered(replace(address, search=tuple(agent_fields(address)["search"]))))


@pytest.fixture
def agent(transactional_db: None, address: Address, bundles: Path, found: Contact) -> models.Agent:
    """The agent as the warehouse knows it after its first contact."""
    row = agents.create_agent(agent_fields(address), "test")
    models.Agent.objects.filter(pk=row.pk).update(host_key=address.host_key)
    agents.record_contact(row.pk, found, timezone.now())
    row.refresh_from_db()
    return row


def start(**changes: Any) -> models.Run:
    """A run of the small plan with these changes; `parameters` are merged."""
    mapping = PLAN | changes | {"parameters": PLAN["parameters"] | changes.get("parameters", {})}
    kinds = registry.kinds()
    return runs.create_run(plans.from_mapping(mapping, kinds), kinds, actor="test")


def run_next() -> models.Attempt:
    """The next attempt, from its lease to its numbers."""
    attempt_id = dispatch.next_attempt(timezone.now())
    assert attempt_id is not None
    attempt.run(attempt_id, "test")
    return models.Attempt.objects.select_related("trial").get(pk=attempt_id)


@pytest.fixture
def measure(agent: models.Agent) -> Iterator[Callable[..., models.Attempt]]:
    """Runs a plan of one trial with the given changes; its attempt."""

    def one(**changes: Any) -> models.Attempt:
        start(**changes)
        return run_next()

    yield one


def value(attempt_row: models.Attempt, metric: str, **where: str) -> float:
    """The attempt's one value of a metric."""
    return float(attempt_row.measurements.get(metric_id=metric, **{"node": "", "label": ""} | where).value)
