"""The fleet, its agents, and trials held in every phase."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.utils import timezone

from results import hostfactors, models
from results.domain.kinds.host_factors import read
from tests import factories, restarting
from tests.faults import fleet as fleets
from tests.faults import trials, watching
from tests.faults.agents import introduced
from tests.faults.fleet import Fleet
from tests.faults.processes import until
from tests.faults.trials import PHASES, Gates
from workers.remote.address import Address

Hold = Callable[[Mapping[str, Mapping[str, Any]]], "Held"]  # phase → what differs in the plan of its trial
_FROM = PHASES.index("prepare")


@dataclass
class Held:
    """One trial in each phase. trials: phase → its id."""

    fleet: Fleet
    agents: list[Address]
    gates: Gates
    trials: dict[str, int]
    lock: psycopg.Connection[Any]

    def let_go(self) -> None:
        """Nothing is held any more."""
        self.gates.open()
        self.lock.close()

    def outcomes(self, patience_s: float = 240.0) -> dict[str, str]:
        """Waits for the end of all; phase → what became of the trial."""
        until(lambda: all(trials.ended(one) for one in self.trials.values()), self.why, patience_s)
        return {phase: trials.outcome(one) for phase, one in self.trials.items()}

    def where(self) -> dict[str, str]:
        return {phase: trials.phase_of(one) for phase, one in self.trials.items()}

    def why(self) -> list[dict[str, Any]]:
        """What a test that waited in vain says of them, and of the agents."""
        rows = models.Trial.objects.filter(pk__in=self.trials.values()).order_by("pk")
        agents = models.Agent.objects.values("name", "state", "lease__attempt", "lease__heartbeat_at")
        words = ("run__name", "state", "phase", "error", "attempts__state", "attempts__worker")
        return [*rows.values(*words), *agents]


def require_nothing_left(fleet: Fleet, agents: Sequence[Address]) -> None:
    """No lease, nothing on the agents, and no unfinished bundle, once there has been time to clean up."""

    def unfinished() -> list[str]:
        return [path.name for path in (fleet.bundles / "unfinished").iterdir()]

    leases = models.Lease.objects.filter(attempt__isnull=False)
    until(lambda: not leases.exists(), lambda: list(leases.values()))
    until(lambda: not watching.left_behind(agents), lambda: watching.left_behind(agents), 30)
    until(lambda: not unfinished(), unfinished)


@pytest.fixture(scope="module")
def warehouse(django_db_blocker: Any) -> Iterator[restarting.Warehouse]:
    with django_db_blocker.unblock(), restarting.in_place() as server:
        yield server


@pytest.fixture(scope="module")
def fleet(warehouse: restarting.Warehouse) -> Iterator[Fleet]:
    with tempfile.TemporaryDirectory(prefix="faults-") as folder, fleets.running(warehouse, Path(folder)) as running:
        running.token = factories.tokens(factories.member(staff=True))["admin"]
        yield running


@pytest.fixture(scope="module")
def gates(agent_environment: dict[str, Any]) -> Gates:
    folder = Path(agent_environment["home"]) / "faults" / "gates"
    shutil.rmtree(folder, ignore_errors=True)  # of a run of the tests that was ended
    folder.mkdir(parents=True)
    for one in (folder.parent, folder):
        one.chmod(0o777)
    return Gates(folder)


@pytest.fixture(scope="module")
def agents(fleet: Fleet, gates: Gates, agent_environment: dict[str, Any]) -> Iterator[list[Address]]:
    """An agent for each phase but the first, whose trial waits for the next one's."""
    phases = PHASES[_FROM:]
    with introduced(phases, gates.folder.parent, fleet.agent_port, agent_environment) as addresses:
        for phase in phases:
            hostfactors.define(models.Agent.objects.get(name=phase), read(trials.definition(gates, phase)), "test")
        yield addresses


@pytest.fixture
def hold(fleet: Fleet, agents: list[Address], gates: Gates) -> Iterator[Hold]:
    """Starts a trial in each phase, and waits until each is there. The measured one starts last."""
    made: list[Held] = []

    def start(phase: str, changes: Mapping[str, Mapping[str, Any]]) -> int:
        plan = trials.changed(trials.plan(phase, gates), changes.get(phase, {}))
        return models.Trial.objects.get(run=fleet.ask("POST", "runs/", plan)["id"]).pk

    def held(changes: Mapping[str, Mapping[str, Any]]) -> Held:
        gates.close()
        models.Agent.objects.update(facts_at=timezone.now())  # or a contact would be due, and the trials wait for it
        settings = fleet.warehouse.settings
        lock = psycopg.connect(
            host=settings["HOST"], port=int(settings["PORT"]), user=settings["USER"], dbname=settings["NAME"]
        )
        lock.execute("LOCK TABLE results_measurement IN SHARE ROW EXCLUSIVE MODE")
        here = Held(fleet, agents, gates, {}, lock)
        made.append(here)
        for phase in ("prepare", "queued", "load", "collect", "ingest"):
            here.trials[phase] = start(phase, changes)
        until(lambda: all(phase == where for phase, where in here.where().items()), here.why)
        here.trials["measure"] = start("measure", changes)
        saved = fleet.bundles / "unfinished"
        until(
            lambda: (
                here.where()["measure"] == "measure" and any(saved.glob(f"*-{here.trials['measure']}-1.checkpoint"))
            ),
            here.why,
        )
        return here

    with watching.watched(agents) as seen:
        yield held
    for one in made:
        one.let_go()
        one.outcomes()  # of a row that failed too, lest the next one waits for its agents
    for agent, moments in seen.items():
        assert all(len(moment) <= 1 for moment in moments), f"{agent}: {moments}"
