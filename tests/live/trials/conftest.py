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
from results.agents import Contact
from results.domain import plan as plans
from results.domain.matrix import InstallationRef, find_installation
from tests.live.trials import endpoints
from tests.live.trials.afterwards import Afterwards
from workers import attempt, contact, dispatch, registry, tasks
from workers.interfaces import Stage
from workers.postgres import cluster
from workers.postgres.server import Server
from workers.remote.address import Address
from workers.remote.connection import connected
from workers.replication import failover
from workers.replication.failover_parameters import failover_options

Start = Callable[..., subprocess.Popen[bytes]]
PATIENCE_S = 240
PLAN: dict[str, Any] = {
    "name": "test",
    "workload": "pgbench",
    "replicates": 1,
    "duration_s": 2,
    "installation": "16",
    "agents": {"primary": "live"},
    "parameters": {"scale": 1, "script": "select-only"},
}
FROZEN = """
for process in $(pgrep -f 'walsender teiten .*streaming'); do
    [ "$(readlink "/proc/$process/cwd")" = "$1" ] && kill -s STOP "$process" && frozen=$process
done
[ -n "$frozen" ]
"""


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
def agent_contact(address: Address) -> Contact:
    """What a contact finds on the agent, asked once."""
    return asyncio.run(contact.discover_agent(replace(address, search=tuple(agent_fields(address)["search"]))))


def old(major: str) -> str:
    """Where the tests' surroundings put this server; the test is left out where it could not be fetched."""
    folders = os.environ.get("TEITEN_AGENT_SEARCH", "").split(":")
    paths = [folder for folder in folders if Path(folder).name == "old" and (Path(folder) / major).is_dir()]
    if not paths:
        pytest.skip(f"PostgreSQL {major} is not here: python -m bootstrap oldpg {major}")
    return f"{paths[0]}/{major}"


@pytest.fixture(scope="session")
def every_version(address: Address) -> Contact:
    """What a contact finds on the agent, with the old servers beside the others."""
    search = (*agent_fields(address)["search"], *(old(major) for major in ("11", "12", "17")))
    return asyncio.run(contact.discover_agent(replace(address, search=search)))


@pytest.fixture
def agent(transactional_db: None, address: Address, bundles: Path, agent_contact: Contact) -> models.Agent:
    """The agent as the warehouse knows it after its first contact."""
    row = agents.create_agent(agent_fields(address), "test")
    models.Agent.objects.filter(pk=row.pk).update(host_key=address.host_key)
    agents.record_contact(row.pk, agent_contact, timezone.now())
    row.refresh_from_db()
    return row


@pytest.fixture
def further(agent: models.Agent, address: Address, agent_contact: Contact) -> Iterator[Callable[[str], Address]]:
    """Makes further agents by name, which are the same machine, with directories of their own."""
    made: list[Address] = []

    def one(name: str) -> Address:
        folders = {folder: f"{getattr(address, folder)}-{name}" for folder in ("data_dir", "work_dir")}
        made.append(replace(address, name=name, **folders))
        row = agents.create_agent(agent_fields(made[-1]), "test")
        models.Agent.objects.filter(pk=row.pk).update(host_key=address.host_key)
        agents.record_contact(row.pk, agent_contact, timezone.now())
        return made[-1]

    yield one
    for other in made:
        asyncio.run(_removed(other))


@pytest.fixture
def far(further: Callable[[str], Address]) -> Address:
    """A second agent."""
    return further("far")


@pytest.fixture
def two(address: Address, postgres_16: InstallationRef) -> Iterator[list[Server]]:
    """Two servers that Teiten did not arrange, with no database of a trial."""
    with asyncio.Runner() as runner:
        context = endpoints.built(address, postgres_16, ("one", "two"))
        servers = runner.run(context.__aenter__())
        endpoints.prepare(servers, "DROP DATABASE IF EXISTS bench;")
        yield servers
        runner.run(context.__aexit__(None, None, None))


async def _removed(address: Address) -> None:
    async with connected(address) as remote:
        await cluster.stop_others(remote)
        await remote.run("rm", "-rf", "--", address.data_dir, address.work_dir)


def start(**changes: Any) -> models.Run:
    """A run of the small plan with these changes; `parameters` of the same workload are merged."""
    merged = PLAN["parameters"] if changes.get("workload", PLAN["workload"]) == PLAN["workload"] else {}
    mapping = PLAN | changes | {"parameters": merged | changes.get("parameters", {})}
    kinds = registry.kinds()
    return runs.create_run(plans.from_mapping(mapping, kinds), kinds, actor="test", as_admin=True)


def run_next() -> models.Attempt:
    """The next attempt, from its lease to its numbers."""
    attempt_id = dispatch.next_attempt(timezone.now())
    assert attempt_id is not None
    attempt.run(attempt_id, "test")
    return models.Attempt.objects.select_related("trial").get(pk=attempt_id)


@pytest.fixture
def heap2(agent: models.Agent, address: Address, installations: list[InstallationRef]) -> Callable[..., None]:
    """Gives the trials' cluster of an installation ('16') a second table access method: heap by another name. Made in
    template0, of which every trial's database is a copy; the warehouse holds it for one of the installations' own."""

    def made(version: str, initdb: tuple[str, ...] = ()) -> None:
        asyncio.run(_second_access_method(address, find_installation(version, installations), initdb))
        record_access_method("heap2")

    return made


def record_access_method(name: str) -> None:
    """Every installation has it as far as the warehouse knows."""
    models.Installation.objects.update(access_methods=["heap", name])


async def _second_access_method(
    address: Address, installation: InstallationRef | None, initdb: tuple[str, ...]
) -> None:
    assert installation is not None
    async with connected(address) as remote:
        server = await cluster.ensure(remote, installation, initdb=initdb)
        await server.execute("ALTER DATABASE template0 ALLOW_CONNECTIONS true;")
        if not await server.query("SELECT FROM pg_am WHERE amname = 'heap2'", database="template0"):
            make = "CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;"
            await server.execute(make, database="template0")
        await server.execute("ALTER DATABASE template0 ALLOW_CONNECTIONS false;")


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


@pytest.fixture
def afterwards(address: Address, installations: list[InstallationRef]) -> Afterwards:
    """Asks the servers of trials that are over."""
    return Afterwards(address, installations)


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
    environment = {"TEITEN_DATABASE_URL": url, "TEITEN_BUNDLE_DIR": str(bundles)}
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "workers.app", "worker", "--pool", "threads"]
    started: list[subprocess.Popen[bytes]] = []

    def launch(threads: int = 4, queues: str = "control,agents,trials") -> subprocess.Popen[bytes]:
        with (tmp_path / f"worker-{len(started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--concurrency", str(threads), "-Q", queues, "-n", f"test{len(started)}@%h"],
                env=os.environ | environment,
                cwd=django_settings.BASE_DIR,
                stdout=log,
                stderr=log,
            )
        started.append(process)
        wait_for(lambda: any(f"test{len(started) - 1}@" in name for name in tasks.answering_workers(0.5)))
        return process

    yield launch
    for process in started:
        process.terminate()
        process.wait(PATIENCE_S)


@pytest.fixture
def walsender_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent to the standby from the beginning of the measured window on, where the primary is to be lost."""
    carry_out = failover.carry_out

    async def after_the_freeze(stage: Stage, since: float) -> None:
        if failover_options(stage.spec.topology_parameters):
            await stage.primary.remote.script(FROZEN, stage.primary.data_dir)
        await carry_out(stage, since)

    monkeypatch.setattr(failover, "carry_out", after_the_freeze)
