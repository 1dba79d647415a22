"""Where the processor's time goes, seen in real trials: sampled stacks, and what every session waits for."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from results import models
from results.domain.errors import AgentError
from results.domain.matrix import InstallationRef, TrialSpec
from tests.live.trials.conftest import value
from workers import registry, reingest
from workers.bundle.reader import open_files
from workers.bundle.writer import BundleWriter
from workers.collectors.perf import collect
from workers.interfaces import Stage
from workers.postgres import cluster
from workers.postgres.server import Server
from workers.remote import job
from workers.remote.address import Address
from workers.remote.connection import Remote, connected

Measure = Callable[..., models.Attempt]
MAY_WATCH = "perf record -N -o /dev/null -e cpu-clock:u -p $$ -- true"
WITHOUT_PERF = """
mkdir -p "$1" && cd "$1" && for program in sh mkdir head ps awk; do ln -s "$(command -v "$program")" .; done
"""


@pytest.fixture(scope="session")
def may_watch(address: Address) -> bool:
    """Whether perf may watch a process of the agent's account here: asked of perf itself."""

    async def ask() -> bool:
        async with connected(address) as remote:
            return (await remote.script(MAY_WATCH, check=False)).exit_status == 0

    return asyncio.run(ask())


def only_the_gap_says_why(attempt: models.Attempt) -> None:
    [gap] = attempt.gaps
    assert (gap["source"], gap["node"]) == ("perf", "primary")
    assert "perf" in gap["reason"]
    assert not attempt.documents.exists()
    assert not attempt.measurements.filter(metric__name__startswith="perf.").exists()


@pytest.mark.parametrize("installation", ["16", "18"])
def test_the_stacks_of_a_trial_lead_from_main_to_what_it_does(
    measure: Measure, installation: str, may_watch: bool, bundles: Path
) -> None:
    busy = {"clients": 2, "script": "custom", "custom_script": "SELECT sum(a) FROM generate_series(1, 200000) a;\n"}
    attempt = measure(collectors=["perf"], installation=installation, duration_s=6, parameters=busy)
    assert attempt.error is None
    if not may_watch:
        return only_the_gap_says_why(attempt)
    [document] = attempt.documents.all()
    samples = value(attempt, "perf.samples", node="primary")
    assert (document.kind, document.node) == ("stacks", "primary")
    assert sum(document.content.values()) == samples > 0
    assert 2.8 < value(attempt, "perf.seconds", node="primary") < 6
    backends = [stack for stack in document.content if stack.startswith("client backend;")]
    way = re.compile(";main;.*;PostgresMain;.*;standard_ExecutorRun;")
    assert any(way.search(stack) for stack in backends)
    shares = list(attempt.measurements.filter(metric__name="perf.share").values_list("value", flat=True))
    assert 0 < sum(shares) <= 100.001
    [same] = reingest.reread(None, replace=False)
    assert (same.differences, same.error) == ((), None)
    raw = open_files(bundles / attempt.bundle)["collectors/perf/primary/stacks.txt"].decode()
    assert sum(int(line.split()[0]) for line in raw.splitlines() if not line.startswith("lost")) == samples


def test_backends_that_come_and_go_do_not_stop_perf(measure: Measure, may_watch: bool) -> None:
    """Each lives too short to be sampled often, if at all."""
    attempt = measure(collectors=["perf"], parameters={"clients": 2, "connect": True})
    assert attempt.error is None
    if not may_watch:
        return only_the_gap_says_why(attempt)
    if not attempt.documents.exists():
        only_the_gap_says_why(attempt)
        reasons = ("its processes lived too short to be sampled", "the run ended before perf was to begin")
        assert attempt.gaps[0]["reason"].endswith(reasons)


def test_a_run_that_is_over_before_perf_begins_is_a_gap(
    measure: Measure, may_watch: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = collect.slices
    monkeypatch.setattr(collect, "slices", lambda measured_s: usual(measured_s) | {"FIRST_S": "600"})
    attempt = measure(collectors=["perf"], parameters={"transactions": 5})
    assert attempt.error is None
    only_the_gap_says_why(attempt)
    if may_watch:
        assert attempt.gaps[0]["reason"] == "the run ended before perf was to begin"


async def staged(remote: Remote, installation: InstallationRef, folder: Path) -> Stage:
    """A trial about to be watched, on a running server."""
    spec = TrialSpec(
        workload="pgbench",
        parameters={},
        topology="single",
        topology_parameters={},
        installation=installation,
        agents={"client": "live", "primary": "live"},
        settings={},
        duration_s=5,
    )
    server = await cluster.ensure(remote, installation)
    agents = {"client": remote, "primary": remote}
    return Stage(spec, agents, {"primary": server}, BundleWriter(folder, "1/1", 1), "perf-1", measured_s=5.0)


async def refusal(stage: Stage) -> AgentError:
    with pytest.raises(AgentError) as raised:
        await registry.collector("perf").start(stage, "primary")
    await job.sweep(stage.client)
    return raised.value


class Bare(Server):
    """A server on an agent that has everything but perf."""

    def environment(self, *, local: bool = False) -> dict[str, str]:
        return super().environment(local=local) | {"PATH": f"{self.remote.address.work_dir}/without-perf"}


async def test_an_agent_without_perf_says_what_to_install(
    tmp_path: Path, remote: Remote, postgres_16: InstallationRef
) -> None:
    stage = await staged(remote, postgres_16, tmp_path)
    folder = f"{remote.address.work_dir}/without-perf"
    await remote.script(WITHOUT_PERF, folder)
    stage.servers["primary"] = Bare(**vars(stage.primary))
    error = await refusal(stage)
    await remote.remove(folder)
    assert (error.what, error.why) == ("perf cannot be used on the agent", "perf is not on the PATH")
    assert "linux-perf" in error.todo


async def test_a_server_that_perf_may_not_watch_is_told_in_perfs_own_words(
    tmp_path: Path, remote: Remote, postgres_16: InstallationRef
) -> None:
    """Another account's process stands for it: the first of the machine."""
    stage = await staged(remote, postgres_16, tmp_path)
    elsewhere = f"{remote.address.work_dir}/elsewhere"
    await remote.put(f"{elsewhere}/postmaster.pid", "1\n")
    stage.servers["primary"] = replace(stage.primary, data_dir=elsewhere)
    error = await refusal(stage)
    await remote.remove(elsewhere)
    if "not on the PATH" not in error.why:
        assert error.what == "perf may not watch the server"
        assert "kernel.perf_event_paranoid is " in error.why
        assert len(error.why) > 60


@pytest.mark.parametrize("installation", ["16", "18"])
def test_sessions_that_wait_for_a_lock_are_seen_waiting(measure: Measure, installation: str) -> None:
    script = "SELECT pg_advisory_xact_lock(1), pg_sleep(0.3);\n"
    attempt = measure(
        collectors=["pg_stat"],
        installation=installation,
        duration_s=8,
        parameters={"clients": 3, "script": "custom", "custom_script": script},
    )
    assert (attempt.error, attempt.gaps) == (None, [])
    waits = {series.label: series.values for series in attempt.series.filter(name="waits", node="primary")}
    assert max(waits["Lock: advisory"]) == 2
    assert max(waits["Timeout: PgSleep"]) == 1
    assert all(sum(at_once) <= 3 for at_once in zip(*waits.values(), strict=True))
    assert 1 < value(attempt, "waits", node="primary", label="Lock: advisory") <= 2
