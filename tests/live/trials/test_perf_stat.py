"""What perf counts of servers and clients in real trials, and when collectors begin and end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from results import models
from results.domain.matrix import InstallationRef
from tests.live.trials.conftest import value
from tests.live.trials.test_perf import staged
from workers import registry, reingest
from workers.bundle.manifest import FILE, Manifest
from workers.bundle.reader import open_files
from workers.remote import job
from workers.remote.address import Address
from workers.remote.connection import Remote, connected

Measure = Callable[..., models.Attempt]
EVERY = ["latency_log", "sar", "pg_stat", "perf_stat"]
MAY_COUNT = "perf stat -e task-clock -p $$ -- true"
MAY_COUNT_INSTRUCTIONS = "perf stat -x , -e instructions -- true 2>&1 | grep -q '^[0-9]'"


@pytest.fixture(scope="session")
def may_count(address: Address) -> tuple[bool, bool]:
    """Whether perf may count a process of the agent's account here, and whether the processor counts instructions."""

    async def ask() -> tuple[bool, bool]:
        async with connected(address) as remote:
            statuses = [
                (await remote.script(text, check=False)).exit_status for text in (MAY_COUNT, MAY_COUNT_INSTRUCTIONS)
            ]
            return statuses[0] == 0, statuses[1] == 0

    return asyncio.run(ask())


@pytest.mark.parametrize("installation", ["16", "18"])
def test_server_and_client_are_counted_apart(measure: Measure, installation: str, may_count: tuple[bool, bool]) -> None:
    attempt = measure(collectors=["perf_stat"], installation=installation, parameters={"clients": 2})
    assert attempt.error is None
    if not may_count[0]:
        assert {(gap["source"], gap["node"]) for gap in attempt.gaps} == {
            ("perf_stat", "primary"),
            ("perf_stat", "client"),
        }
        return
    transactions = value(attempt, "transactions")
    length_us = (attempt.measured_to - attempt.measured_from).total_seconds() * 1e6
    for node in ("primary", "client"):
        clock_us = value(attempt, "perf_stat.task_clock", node=node)
        assert 0.01 * length_us < clock_us < 2 * 2 * length_us
        assert value(attempt, "perf_stat.task_clock.per_transaction", node=node) == clock_us / transactions
        assert value(attempt, "perf_stat.page_faults", node=node) > 0
        counted = attempt.measurements.filter(metric_id="perf_stat.instructions.per_transaction", node=node).exists()
        assert counted == may_count[1]
        reasons = [gap["reason"] for gap in attempt.gaps if gap["node"] == node]
        assert any("the processor does not count this here" in reason for reason in reasons) != may_count[1]
    [same] = reingest.reread(None, replace=False)
    assert (same.differences, same.error) == ((), None)


def test_collectors_watch_before_the_window_opens_and_until_it_has_closed(measure: Measure, bundles: Path) -> None:
    attempt = measure(collectors=EVERY, parameters={"clients": 2})
    assert attempt.error is None
    files = open_files(bundles / attempt.bundle)
    manifest = Manifest.from_json(files[FILE].decode())
    assert manifest.window is not None
    from_s, to_s = manifest.window
    phases = {phase.name: phase for phase in manifest.phases}
    watch, collect = phases["watch"], phases["collect"]
    assert manifest.started_s + watch.offset_s + watch.seconds <= from_s + 0.001  # a clock's reading
    assert manifest.started_s + collect.offset_s >= to_s - 0.001
    [clock] = [node for node in manifest.nodes if node.role == "primary"]
    samples = [json.loads(line) for line in files["collectors/pg_stat/primary/samples.txt"].splitlines() if line]
    assert samples[0]["at"] - clock.clock_offset_s < from_s


async def test_a_collector_has_begun_when_its_start_returns(
    tmp_path: Path, remote: Remote, postgres_16: InstallationRef, may_count: tuple[bool, bool]
) -> None:
    """What they write first is there."""
    stage = await staged(remote, postgres_16, tmp_path)
    stage.database = "postgres"
    first = {"sar": "sar.data", "pg_stat": "stdout", "replication": "stdout"}
    if may_count[0]:
        first["perf_stat"] = "begun"
    written = {}
    try:
        for name, file in first.items():
            await registry.collector(name).start(stage, "primary")
            written[name] = len(await remote.get(f"{stage.job_dir(remote)}/{name}-primary/{file}"))
    finally:
        await job.sweep(remote)
    assert all(written.values()), written
