"""What the sessions of a real server do and wait for, on old and new ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from results.domain.matrix import InstallationRef, find_installation
from workers.postgres import activity, cluster, sessions
from workers.postgres.activity import Activity
from workers.postgres.server import Server
from workers.remote.address import Address
from workers.remote.connection import Remote
from workers.remote.job import Job, sweep

SLEEP = "SELECT pg_sleep(600) /* at length */;"
TURN = "DO $$ BEGIN LOOP PERFORM 1; END LOOP; END $$;"


@pytest.fixture(params=["11", "16", "18"])
async def server(
    request: pytest.FixtureRequest, remote: Remote, installations: list[InstallationRef]
) -> AsyncIterator[Server]:
    installation = find_installation(request.param, installations)
    assert installation is not None
    ensure = await cluster.ensure(remote, installation, name="activity")
    yield ensure
    await sweep(remote)
    await cluster.drop(remote, ensure)


async def begin(server: Server, address: Address, name: str, sql: str) -> None:
    directory = f"{address.work_dir}/jobs/activity/{name}"
    env = server.environment(local=True)
    await Job.start(server.remote, directory, [*server.psql("postgres"), "-c", sql], deadline_s=600, env=env)


async def look_at(server: Server, count: int) -> Activity:
    """A look once there are so many sessions at their statements."""
    async with asyncio.timeout(60):
        while True:
            sample = await activity.sample(server)
            if sum(one.count for one in sample.sessions if one.state == "active") == count:
                return sample


async def test_sessions_that_wait_are_told_from_those_that_work(server: Server, address: Address) -> None:
    assert await activity.sample(server) == Activity(ticks=0)
    for name in ("one", "two"):
        await begin(server, address, name, SLEEP)
    before = await look_at(server, 2)
    [waiting] = before.sessions
    assert (waiting.count, waiting.wait, waiting.query) == (2, "Timeout: PgSleep", SLEEP)
    now = await activity.sample(server)
    assert now.is_stalled_since(before)
    await begin(server, address, "three", TURN)
    moved = await look_at(server, 3)
    assert not moved.is_stalled_since(now)
    async with asyncio.timeout(60):
        while (later := await activity.sample(server)).ticks == moved.ticks:
            await asyncio.sleep(0.02)
    assert not later.is_stalled_since(moved)


async def test_a_server_that_cannot_be_asked_says_why(server: Server) -> None:
    await server.stop()
    sample = await activity.sample(server)
    assert sample.error.startswith("it does not answer: ")
    assert sample.is_stalled_since(sample)
    assert not sample.is_stalled_since(Activity())


async def test_sessions_left_on_a_server_are_ended_and_the_server_stays(server: Server, address: Address) -> None:
    await begin(server, address, "left", SLEEP)
    await look_at(server, 1)
    assert await sessions.end(server) == ""
    assert (await activity.sample(server)).sessions == ()
    await server.stop()
    assert await sessions.end(server) == ""
