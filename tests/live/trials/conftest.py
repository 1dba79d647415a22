"""An agent that the warehouse knows, and short plans on it, run in this very process."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.utils import timezone

from results import agents, models, runs
from results import plan as plans
from results.agents import Contact
from workers import attempt, contact, dispatch, registry, tasks
from workers.remote.address import Address

Start = Callable[[], subprocess.Popen[bytes]]
PATIENCE_S = 60
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
def measure(agent: models.Agent) -> Callable[..., models.Attempt]:
    """Runs a plan of one trial with the given changes; its attempt."""

    def one(**changes: Any) -> models.Attempt:
        start(**changes)
        return run_next()

    return one


def value(attempt_row: models.Attempt, metric: str, **where: str) -> float:
    """The attempt's one value of a metric."""
    return float(attempt_row.measurements.get(metric_id=metric, **{"node": "", "label": ""} | where).value)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = timezone.now() + timedelta(seconds=PATIENCE_S)
    while not condition():
        assert timezone.now() < deadline, "waited in vain"
        threading.Event().wait(0.1)


@pytest.fixture
def worker(agent: models.Agent, bundles: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts Celery workers on the tests' database; all are ended by their own process."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    environment = os.environ | {"TEITEN_DATABASE_URL": url, "TEITEN_BUNDLE_DIR": str(bundles)}
    command = [sys.executable, "-m", "celery", "-A", "workers.app", "worker", "--pool", "threads", "--concurrency", "4"]
    started: list[subprocess.Popen[bytes]] = []

    def launch() -> subprocess.Popen[bytes]:
        with (tmp_path / f"worker-{len(started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "-n", f"test{len(started)}@%h"],
                env=environment,
                cwd=django_settings.BASE_DIR,
                stdout=log,
                stderr=log,
            )
        started.append(process)
        wait_for(lambda: any(f"test{len(started) - 1}@" in name for name in tasks.listening(0.5)))
        return process

    yield launch
    for process in started:
        process.terminate()
        process.wait(PATIENCE_S)
