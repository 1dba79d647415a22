"""The replication collector on real servers, old and new, that stand still or replicate tables alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from results.domain.kinds.specs import Reading
from results.domain.matrix import InstallationRef, TrialSpec, find_installation
from results.domain.measurement.parsed_trial import Part
from workers import registry
from workers.bundle.writer import BundleWriter
from workers.collectors.replication import collect
from workers.collectors.replication.parse import parse
from workers.interfaces import Stage
from workers.postgres import cluster
from workers.postgres.server import Server
from workers.remote import job
from workers.remote.connection import Remote
from workers.replication import standby

VERSIONS = ("12", "16")


@pytest.fixture(params=VERSIONS)
def installation(request: pytest.FixtureRequest, installations: list[InstallationRef]) -> InstallationRef:
    installation = find_installation(request.param, installations)
    assert installation is not None
    return installation


def stage_of(
    remote: Remote, installation: InstallationRef, writer: BundleWriter, topology: str, nodes: Sequence[str]
) -> Stage:
    spec = TrialSpec(
        workload="pgbench",
        parameters={},
        topology=topology,
        topology_parameters=registry.kinds().topologies[topology].complete({}),
        installation=installation,
        agents=dict.fromkeys(("client", *nodes), "live"),
        settings={},
    )
    return Stage(spec, dict.fromkeys(spec.agents, remote), {}, writer, "replication-1", "postgres")


async def now_s(stage: Stage) -> float:
    return float(await stage.primary.execute("SELECT extract(epoch FROM clock_timestamp());"))


async def watched(stage: Stage, writer: BundleWriter, work: str) -> Mapping[str, Part]:
    """What the collector says of each server while the primary does this and everybody was asked thrice after it."""
    began = await now_s(stage)
    for node in stage.servers:
        await collect.COLLECTOR.start(stage, node)
    await stage.primary.execute(work)
    for node in stage.servers:
        enough = await samples(stage, node) + 4
        while await samples(stage, node) < enough:
            await asyncio.sleep(0.2)
    ended = await now_s(stage)
    for node in stage.servers:
        await collect.COLLECTOR.stop(stage, node)
    folder = writer.directory / "collectors" / "replication"
    return {
        node: parse(
            Reading(node, {path.name: path.read_text() for path in (folder / node).iterdir()}, {}, (began, ended))
        )
        for node in stage.servers
    }


async def samples(stage: Stage, node: str) -> int:
    """How many lines there are by now."""
    text = await stage.primary.remote.get(f"{stage.job_dir(stage.primary.remote)}/replication-{node}/stdout")
    return len(text.splitlines())


async def test_a_standby_that_stands_still_grows_old_and_is_given_up(
    tmp_path: Path, remote: Remote, installation: InstallationRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "_PATIENCE_S", 1.0)
    writer = BundleWriter(tmp_path, "1/1", 1)
    stage = stage_of(remote, installation, writer, "streaming", ("primary", "standby1"))
    topology = registry.topology("streaming")
    try:
        await topology.build(stage)
        await topology.arrange(stage)  # type: ignore[attr-defined]
        await stage.primary.execute("CREATE TABLE begun (); DROP TABLE begun;")  # flushed when it returns
        await standby.wait_until_caught_up(stage, "standby1", "primary")
        server = stage.servers["standby1"]
        await server.execute("SELECT pg_wal_replay_pause();")
        parts = await watched(
            stage, writer, "CREATE TABLE grown AS SELECT generate_series(1, 100000); DROP TABLE grown;"
        )
        await server.execute("SELECT pg_wal_replay_resume();")
    finally:
        await topology.tear_down(stage)
        await job.sweep(remote)
    lag = {(m.metric, m.label): m.value for m in parts["primary"].measurements if m.node == "standby1"}
    assert lag["replication.lag_bytes.max", ""] > 3_000_000
    assert lag["replication.lag_bytes.max", "flushed"] < lag["replication.lag_bytes.max", ""]
    assert [gap.node for gap in parts["primary"].gaps] == ["standby1"]
    [age] = [one for one in parts["standby1"].series if one.name == "replication.replay_age"]
    grown, passed = age.values[-1] - age.values[-2], age.times()[-1] - age.times()[-2]
    assert grown == pytest.approx(passed, abs=0.01)


async def test_a_subscriber_is_known_by_the_name_of_its_subscription(
    tmp_path: Path, remote: Remote, installation: InstallationRef
) -> None:
    writer = BundleWriter(tmp_path, "1/1", 1)
    stage = stage_of(remote, installation, writer, "single", ("primary", "subscriber1"))
    settings = {"wal_level": "logical"}
    try:
        for node in ("primary", "subscriber1"):
            stage.servers[node] = await cluster.ensure(
                remote, installation, settings=settings, name=f"replication-test-{node}"
            )
        await subscribe(stage.primary, stage.servers["subscriber1"])
        parts = await watched(stage, writer, "INSERT INTO sent SELECT generate_series(1, 20000);")
        [row] = await stage.servers["subscriber1"].query("SELECT count(*) AS rows FROM sent")
        await unsubscribe(stage.primary, stage.servers["subscriber1"])
    finally:
        await cluster.stop_all_but([remote])
        await job.sweep(remote)
    assert row["rows"] == 20000, "it was waited for"
    values = {(m.metric, m.node): m.value for m in parts["primary"].measurements if not m.label}
    assert values["replication.lag_bytes", "subscriber1"] >= 0
    assert values["replication.catch_up", "subscriber1"] >= 0
    assert parts["primary"].gaps == () and parts["subscriber1"] == Part()


async def unsubscribe(publisher: Server, subscriber: Server) -> None:
    await subscriber.execute("DROP SUBSCRIPTION IF EXISTS subscriber1; DROP TABLE IF EXISTS sent;")
    await publisher.execute("DROP PUBLICATION IF EXISTS everything; DROP TABLE IF EXISTS sent;")


async def subscribe(publisher: Server, subscriber: Server) -> None:
    """One table, empty, replicated by a subscription that has the node's name."""
    await unsubscribe(publisher, subscriber)
    for server in (publisher, subscriber):
        await server.execute("CREATE TABLE sent (id int PRIMARY KEY);")
    await publisher.execute("CREATE PUBLICATION everything FOR TABLE sent;")
    reach = f"host={publisher.socket_dir} port={publisher.port} user=teiten dbname=postgres"
    await subscriber.execute(f"CREATE SUBSCRIPTION subscriber1 CONNECTION '{reach}' PUBLICATION everything;")
    ready = "SELECT FROM pg_subscription_rel WHERE srsubstate = 'r'"
    while not await subscriber.query(ready):
        await asyncio.sleep(0.1)
