"""The single topology on a real agent: by socket, by TCP, and from another machine."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import VerifyError
from results.domain.matrix import InstallationRef, TrialSpec
from workers.bundle.writer import BundleWriter
from workers.interfaces import Stage
from workers.postgres import cluster
from workers.remote import job
from workers.remote.address import Address
from workers.remote.connection import Remote, connected
from workers.topologies.single.build import TOPOLOGY

JOB = "single-1"


@pytest.fixture
async def second(address: Address) -> AsyncIterator[Remote]:
    """The same machine as another agent: of another name, with a work directory of its own."""
    other = dataclasses.replace(address, name="live2", work_dir=f"{address.work_dir}-2")
    async with connected(other) as opened:
        yield opened
        await job.sweep(opened)


def stage_of(
    tmp_path: Path, installation: InstallationRef, client: Remote, primary: Remote, connection: str, **settings: str
) -> Stage:
    spec = TrialSpec(
        workload="pgbench",
        parameters={},
        topology="single",
        topology_parameters={"connection": connection},
        installation=installation,
        agents={"client": client.address.name, "primary": primary.address.name},
        settings=settings,
    )
    return Stage(spec, {"client": client, "primary": primary}, {}, BundleWriter(tmp_path, "1/1", 1), JOB, "postgres")


async def ask(stage: Stage, environment: dict[str, str]) -> tuple[int | None, str]:
    """How a client's question ends, and what was said."""
    program = f"{stage.spec.installation.client_bin}/psql"
    words = (program, "-XAtwc", "SELECT inet_server_addr() IS NULL", "postgres")
    answer = await stage.client.run(*words, env=environment, check=False)
    return answer.exit_status, answer.stdout.strip() + answer.stderr


def all_logged(stage: Stage) -> str:
    return "\n".join(run.command for remote in stage.agents.values() for run in remote.log)


async def test_a_socket_between_two_machines_is_refused(
    tmp_path: Path, remote: Remote, second: Remote, postgres_16: InstallationRef
) -> None:
    stage = stage_of(tmp_path, postgres_16, second, remote, "socket")
    with pytest.raises(VerifyError, match="no Unix socket between live2 and live") as raised:
        await TOPOLOGY.build(stage)
    assert raised.value.where == "topology.connection"
    assert stage.servers == {}


@pytest.mark.parametrize("connection", ["auto", "socket"])
async def test_one_machine_is_reached_by_its_private_socket(
    tmp_path: Path, remote: Remote, postgres_16: InstallationRef, connection: str
) -> None:
    stage = stage_of(tmp_path, postgres_16, remote, remote, connection)
    await TOPOLOGY.build(stage)
    environment = stage.primary.environment()
    assert "PGPASSFILE" not in environment
    assert await ask(stage, environment) == (0, "t")
    mode = await remote.run("stat", "-c", "%a", stage.primary.socket_dir)
    assert mode.stdout.strip() == "700"


LOGGING: dict[str, Any] = {
    "log_statement": "all",
    "log_min_duration_statement": "0",
    "debug_print_parse": "on",
    "synchronous_commit": "off",
}


@pytest.mark.parametrize("major", ["16", "18"])
@pytest.mark.parametrize("machines", [1, 2])
async def test_tcp_asks_for_a_password_that_only_the_two_accounts_can_read(
    tmp_path: Path,
    remote: Remote,
    second: Remote,
    postgres_16: InstallationRef,
    postgres_18: InstallationRef,
    machines: int,
    major: str,
) -> None:
    installation = {"16": postgres_16, "18": postgres_18}[major]
    client = remote if machines == 1 else second
    stage = stage_of(tmp_path, installation, client, remote, "tcp" if machines == 1 else "auto", **LOGGING)
    fresh = await cluster.ensure(remote, installation)
    await cluster.drop(remote, fresh)
    await TOPOLOGY.build(stage)

    environment = stage.primary.environment()
    assert await ask(stage, environment) == (0, "f")
    without = {name: value for name, value in environment.items() if name != "PGPASSFILE"}
    status, message = await ask(stage, without | {"PGPASSFILE": "/dev/null"})
    assert (status, "no password supplied" in message) == (2, True)

    directory = cluster.directory_of(remote, installation, ())
    files = ((remote, f"{directory}/password"), (client, f"{stage.job_dir(client)}/pgpass-primary"))
    for agent, path in files:
        assert (await agent.run("stat", "-c", "%a", path)).stdout.strip() == "600"
    password = (await remote.get(files[0][1])).decode().strip()
    assert len(password) == 48
    assert password not in all_logged(stage)
    assert password not in await stage.primary.log_tail()
    hashed = await stage.primary.query("SELECT rolpassword LIKE 'SCRAM-SHA-256$%' AS it FROM pg_authid WHERE oid = 10")
    assert hashed == [{"it": True}]

    again = stage_of(tmp_path, installation, client, remote, "tcp" if machines == 1 else "auto", **LOGGING)
    await TOPOLOGY.build(again)
    assert again.primary.how == "reused"
    assert (await remote.get(files[0][1])).decode().strip() == password
    assert await ask(again, again.primary.environment()) == (0, "f")
    await job.sweep(client)
    assert (await client.run("test", "-e", files[1][1], check=False)).exit_status == 1
    await TOPOLOGY.tear_down(again)


async def test_a_server_left_on_the_clients_machine_is_stopped(
    tmp_path: Path, remote: Remote, address: Address, postgres_16: InstallationRef
) -> None:
    other = dataclasses.replace(
        address, name="live2", work_dir=f"{address.work_dir}-2", data_dir=f"{address.data_dir}-2"
    )
    async with connected(other) as client:
        left = await cluster.ensure(client, postgres_16)
        stage = stage_of(tmp_path, postgres_16, client, remote, "tcp")
        await TOPOLOGY.build(stage)
        assert (await client.run("test", "-e", f"{left.data_dir}/postmaster.pid", check=False)).exit_status == 1
        assert await stage.primary.query("SELECT 1 AS one") == [{"one": 1}]
        await job.sweep(client)
