"""A fleet of four trial workers and eight agents, with a warehouse of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import factories, restarting
from tests.faults import fleet as fleets
from tests.faults.agents import introduced
from tests.faults.fleet import Fleet
from workers.remote.address import Address

WORKERS, AGENTS = 4, 8


@pytest.fixture(scope="module")
def fleet(django_db_blocker: Any) -> Iterator[Fleet]:
    with (
        django_db_blocker.unblock(),
        restarting.in_place() as warehouse,
        tempfile.TemporaryDirectory(prefix="soak-") as folder,
        fleets.running(warehouse, Path(folder), WORKERS) as running,
    ):
        running.token = factories.tokens(factories.member(staff=True))["admin"]
        yield running


@pytest.fixture(scope="module")
def agents(fleet: Fleet, agent_environment: dict[str, Any]) -> Iterator[list[Address]]:
    folder = Path(agent_environment["home"]) / "soak"
    shutil.rmtree(folder, ignore_errors=True)  # of a run of the tests that was ended
    folder.mkdir()
    folder.chmod(0o777)
    names = [f"soak{number}" for number in range(1, AGENTS + 1)]
    with introduced(names, folder, fleet.agent_port, agent_environment) as addresses:
        yield addresses
