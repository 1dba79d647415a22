"""Collectors on a real agent live as long as the run that they watch may take."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.domain.matrix import InstallationRef, TrialSpec
from results.domain.matrix.deadlines import deadlines
from workers import registry
from workers.bundle.writer import BundleWriter
from workers.interfaces import Stage
from workers.postgres import cluster
from workers.remote import job
from workers.remote.connection import Remote

DAY_S = 86400.0


@pytest.mark.parametrize("name", ["sar", "pg_stat", "replication"])
@pytest.mark.parametrize(("duration_s", "transactions"), [(7 * DAY_S, 0), (60.0, 1000)])
async def test_a_collector_outlives_the_longest_run(
    tmp_path: Path, remote: Remote, postgres_16: InstallationRef, name: str, duration_s: float, transactions: int
) -> None:
    kinds = registry.kinds()
    spec = TrialSpec(
        workload="pgbench",
        parameters=kinds.workloads["pgbench"].complete({"transactions": transactions}),
        topology="single",
        topology_parameters={},
        installation=postgres_16,
        agents={"client": "live", "primary": "live"},
        settings={},
        duration_s=duration_s,
    )
    server = await cluster.ensure(remote, postgres_16)
    agents = {"client": remote, "primary": remote}
    stage = Stage(spec, agents, {"primary": server}, BundleWriter(tmp_path, "1/1", 1), "collectors-1", "postgres")
    stage.deadlines = deadlines(spec, kinds)
    await registry.collector(name).start(stage, "primary")
    deadline = await remote.get(f"{stage.job_dir(remote)}/{name}-primary/deadline")
    await registry.collector(name).stop(stage, "primary")
    await job.sweep(remote)
    assert float(deadline) > stage.deadlines["warm"] + stage.deadlines["measure"] > duration_s


async def test_a_log_is_folded_once_more_where_the_worker_that_folded_it_is_gone(
    tmp_path: Path, remote: Remote, postgres_16: InstallationRef
) -> None:
    spec = TrialSpec(
        workload="pgbench",
        parameters=registry.kinds().workloads["pgbench"].complete({}),
        topology="single",
        topology_parameters={},
        installation=postgres_16,
        agents={"client": "live", "primary": "live"},
        settings={},
    )
    writer = BundleWriter(tmp_path, "1/1", 1)
    stage = Stage(spec, {"client": remote, "primary": remote}, {}, writer, "collectors-2")
    await registry.collector("latency_log").start(stage, "client")
    write = 'echo "0 1 250 0 1 500000" >"$1/latency/pgbench_log.7"'
    await remote.script(write, stage.job_dir(remote))
    folded = []
    try:
        for _ in range(2):
            await registry.collector("latency_log").stop(stage, "client")
            folded.append((writer.directory / "collectors/latency_log/client/folded.txt").read_text())
    finally:
        await job.sweep(remote)
    assert "origin" in folded[0] and folded[1] == folded[0]
    assert writer.gaps == []
