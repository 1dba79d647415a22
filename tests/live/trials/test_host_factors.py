"""What a plan sets on its agents' machines: applied, checked and reverted on a real one, whatever becomes of the trial.
A file of the agent's account stands in for what a kernel or a file system has as its setting."""

from __future__ import annotations

import asyncio
import posixpath
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from results import command_texts, hostfactors, models, runs
from results.domain.errors import AgentError, PlanError
from results.domain.kinds.host_factors import Change, factor_of
from results.domain.matrix import InstallationRef
from results.domain.measurement.parsed_trial import Check
from results.domain.states import AttemptState, RunState
from tests.live.trials.conftest import PATIENCE_S, run_next, start, wait_for
from tests.live.trials.killing import beside
from workers import contact, dispatch, lease, tasks
from workers.host import cpus, factors, state
from workers.postgres import cluster
from workers.remote.address import Address, Layout
from workers.remote.connection import connected, host_key_of

Measure = Callable[..., models.Attempt]
Start = Callable[[], subprocess.Popen[bytes]]
OWN = "as found, with a blank and a 'quote'"


class Setting:
    """A file on the agent that is set as a kernel's settings are."""

    def __init__(self, address: Address) -> None:
        self.address, self.path = address, f"{address.work_dir}/setting"
        self.shell('mkdir -p "${1%/*}" && printf \'%s\\n\' "$2" >"$1"', OWN)

    def shell(self, script: str, *words: str) -> str:
        async def ask() -> str:
            async with connected(self.address) as remote:
                return (await remote.script(script, self.path, *words)).stdout.strip()

        return asyncio.run(ask())

    @property
    def value(self) -> str:
        return self.shell('cat "$1"')

    @property
    def left(self) -> str:
        return self.shell('ls "${1%/*}/host" 2>/dev/null || true')

    def definition(self, **changes: Any) -> dict[str, Any]:
        levels = {
            label: {"apply": f"echo {label} >'{self.path}'", "check": f"cat '{self.path}'", "expected": label}
            for label in ("small", "large")
        }
        revert = f"printf '%s\\n' \"$1\" >'{self.path}'"
        return {"show": f"cat '{self.path}'", "revert": revert, "levels": levels} | changes


@pytest.fixture
def setting(address: Address) -> Setting:
    return Setting(address)


@pytest.fixture
def define(agent: models.Agent, setting: Setting) -> Callable[..., None]:
    def defined(**changes: Any) -> None:
        hostfactors.define(agent, [factor_of("setting", setting.definition(**changes))], "test")

    return defined


@pytest.fixture(autouse=True)
def agent_is_as_it_was(agent: models.Agent, setting: Setting) -> Iterator[None]:
    """Whatever a test did, the value is back and nothing is left to revert."""
    yield
    assert (setting.value, setting.left) == (OWN, "")


def checks(attempt: models.Attempt) -> dict[str, str]:
    return {check["name"]: check["actual"] for check in attempt.checks if check["name"].startswith("host.")}


def layer(attempt: models.Attempt) -> dict[str, Any]:
    content: dict[str, Any] = models.LayerUse.objects.get(attempt=attempt, layer__kind="host").layer.content
    return content


def test_a_level_is_applied_checked_and_reverted(
    measure: Measure, define: Callable[..., None], setting: Setting
) -> None:
    define(needs_stopped_servers=True)
    attempt = measure(duration_s=1, host={"setting": "large"})
    assert attempt.error is None, attempt.error
    assert checks(attempt) == {"host.setting": "large"}
    assert layer(attempt) == {"setting": "large"}
    assert not models.HostChange.objects.exists()
    run = [command["command"] for command in command_texts.whole(attempt.pk) if "echo large" in command["command"]]
    assert len(run) == 1
    assert attempt.trial.configuration.dimensions["host.setting"] == "large"


def test_a_factor_of_the_client_is_set_on_its_machine(measure: Measure, define: Callable[..., None]) -> None:
    define(roles=["client"])
    attempt = measure(duration_s=1, host={"setting": "small"})
    assert attempt.error is None, attempt.error
    assert [(c["name"], c["node"]) for c in attempt.checks if c["name"] == "host.setting"] == [
        ("host.setting", "client")
    ]
    assert models.LayerUse.objects.get(attempt=attempt, layer__kind="host").node == "client"


def test_a_level_equal_to_the_own_value_is_checked_all_the_same(
    measure: Measure, define: Callable[..., None], setting: Setting
) -> None:
    level = {"apply": "true", "check": f"cat '{setting.path}'", "expected": OWN}
    define(levels={"own": level})
    attempt = measure(duration_s=1, host={"setting": "own"})
    assert attempt.error is None, attempt.error
    assert checks(attempt) == {"host.setting": OWN}


def test_the_check_decides_and_not_the_command(measure: Measure, define: Callable[..., None]) -> None:
    level = {"apply": "echo not allowed >&2; exit 1", "check": "echo small", "expected": "large"}
    define(levels={"large": level})
    attempt = measure(duration_s=1, host={"setting": "large"})
    assert attempt.error is not None
    assert (attempt.state, attempt.error["kind"], attempt.error["phase"]) == (AttemptState.FAILED, "verify", "prepare")
    assert "Expected large, found small" in attempt.error["why"]
    assert "status 1 and printed: not allowed" in attempt.error["why"]
    assert attempt.notes.get("window") is None


def test_a_level_that_is_lost_before_the_clock_starts_fails_the_trial(
    measure: Measure, define: Callable[..., None], setting: Setting
) -> None:
    once = f"cat '{setting.path}'; echo small >'{setting.path}'"
    define(levels={"large": {"apply": f"echo large >'{setting.path}'", "check": once, "expected": "large"}})
    attempt = measure(duration_s=1, host={"setting": "large"})
    assert attempt.error is not None
    assert attempt.error["phase"] == "verify"
    assert "host.setting on primary: expected large, found small" in attempt.error["why"]


def test_a_factor_that_shows_nothing_is_not_touched(measure: Measure, define: Callable[..., None]) -> None:
    define(show="true")
    attempt = measure(duration_s=1, host={"setting": "large"})
    assert attempt.error is not None
    assert "printed nothing" in attempt.error["why"]


def test_cancelling_a_trial_reverts_what_it_set(
    agent: models.Agent, define: Callable[..., None], setting: Setting
) -> None:
    define()
    run = start(duration_s=600, host={"setting": "large"})
    meanwhile: list[str] = []

    def cancel() -> None:
        wait_for(lambda: models.Trial.objects.filter(phase="measure").exists())
        meanwhile.extend([setting.value, models.HostChange.objects.get().own])
        runs.cancel_run(run.pk, "test")

    with beside(cancel):
        attempt = run_next()
    assert attempt.state == AttemptState.CANCELLED
    assert meanwhile == ["large", OWN]
    assert not models.HostChange.objects.exists()


def killed_while_set(worker: Start, setting: Setting) -> models.Run:
    """A run whose worker was killed (−9) after the level was set, and before anything was measured."""
    first = worker()
    run = start(duration_s=1, warmup_s=8, host={"setting": "large"})
    tasks.dispatch.delay()
    wait_for(lambda: models.Trial.objects.filter(phase="warm").exists())
    first.kill()
    first.wait(PATIENCE_S)
    assert (setting.value, setting.left) == ("large", "setting.json")
    return run


def test_what_a_killed_worker_left_is_shown_and_reverted_by_the_next_attempt(
    worker: Start, define: Callable[..., None], setting: Setting
) -> None:
    define()
    run = killed_while_set(worker, setting)
    left = models.HostChange.objects.get()
    assert (left.agent.name, left.factor, left.level, left.own) == ("live", "setting", "large", OWN)
    assert left.trial is not None and left.trial.run_id == run.pk
    assert dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 5)) == 1
    models.Trial.objects.update(not_before=None)
    second = run_next()
    assert (second.number, second.error, second.state) == (2, None, AttemptState.DONE)
    own = [command for command in command_texts.whole(second.pk) if OWN.split("'")[0] in command["command"]]
    assert len(own) >= 2  # first what was left, then its own
    assert models.Run.objects.get().state == RunState.FINISHED
    assert not models.HostChange.objects.exists()


def test_what_a_killed_worker_left_is_reverted_though_no_trial_comes(
    worker: Start, define: Callable[..., None], setting: Setting
) -> None:
    define()
    run = killed_while_set(worker, setting)
    assert hostfactors.agents_to_revert(timezone.now()) == []  # the attempt's lease still holds the agent
    runs.cancel_run(run.pk, "test")
    dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 5))
    worker()
    tasks.reap()
    wait_for(lambda: not models.HostChange.objects.exists())
    assert setting.value == OWN


def test_what_cannot_be_reverted_is_shown_and_no_trial_is_measured_with_it(
    measure: Measure, agent: models.Agent, define: Callable[..., None], setting: Setting, address: Address
) -> None:
    define(revert="echo it is busy >&2; exit 1")
    first = measure(duration_s=1, host={"setting": "large"})
    assert first.state == AttemptState.DONE
    assert "clean" in {gap["source"] for gap in first.gaps}
    left = models.HostChange.objects.get()
    assert f"It is 'large' and was {OWN!r}" in left.error and "it is busy" in left.error
    second = measure(duration_s=1)
    assert second.error is not None
    assert second.error["what"] == "Agent live is not as its operator left it."
    assert hostfactors.agents_to_revert(timezone.now()) == []  # tried a moment ago
    assert hostfactors.agents_to_revert(timezone.now() + 2 * hostfactors.RETRY_AFTER) == [agent.pk]
    tasks.settle(agent.pk)
    assert models.HostChange.objects.count() == 1
    setting.shell('printf \'%s\\n\' "$2" >"$1"', OWN)  # an operator, by hand
    fingerprint = asyncio.run(host_key_of(address)).fingerprint
    models.Agent.objects.update(host_key_fingerprint=fingerprint)
    tasks.contact_now(agent.pk)
    assert not models.HostChange.objects.exists()


@pytest.fixture
def hanging(setting: Setting) -> Iterator[str]:
    """A command that ends only when the test does."""
    file = f"{setting.path}.hangs"
    setting.shell(': >"$1.hangs"')
    yield f"while [ -e '{file}' ]; do sleep 0.05; done"
    setting.shell('rm -f "$1.hangs"')


def changed(setting: Setting, factor: str, since_s: float, revert: str, file: str) -> Change:
    """As a vanished trial leaves it: the file is not as it was found."""
    setting.shell('echo large >"$2"', file)
    return Change(factor, "large", OWN, f"cat '{file}'", revert, "1/1", since_s)


def test_a_revert_that_hangs_keeps_no_other_value_from_being_set_back(
    address: Address, setting: Setting, hanging: str
) -> None:
    paths = [f"{setting.path}-{name}" for name in ("first", "stuck", "last")]
    back = [f"printf '%s\\n' \"$1\" >'{path}'" for path in paths]
    reverts = [back[0], hanging, back[2]]
    changes = [
        changed(setting, str(place), place, revert, path)
        for place, (revert, path) in enumerate(zip(reverts, paths, strict=True))
    ]

    async def settled() -> tuple[list[Change], list[Change], list[Change]]:
        async with connected(address) as remote:
            for change in changes:
                await state.write(remote, change)
            left = await factors.revert(remote, limit_s=0.5)
            on_the_agent = await state.read(remote)
            await state.write(remote, replace(changes[1], revert=back[1]))  # an operator mends it
            return left, on_the_agent, await factors.revert(remote)

    left, on_the_agent, none = asyncio.run(settled())
    assert [change.factor for change in left] == [change.factor for change in on_the_agent] == ["1"]
    assert "did not end within 0.5 s" in left[0].error
    assert none == []
    assert setting.shell('cat "$1-first" "$1-stuck" "$1-last"').splitlines() == [OWN] * 3


def test_settling_that_takes_too_long_is_given_up_and_said_on_the_agents_page(
    agent: models.Agent, address: Address, setting: Setting, hanging: str
) -> None:
    change = changed(setting, "setting", 1.0, hanging, setting.path)

    async def left() -> None:
        async with connected(address) as remote:
            await state.write(remote, change)

    asyncio.run(left())
    hostfactors.note_changes("live", [change], timezone.now())
    with pytest.raises(AgentError, match=r"took longer than 0\.5 s"):
        contact.revert_changes(agent, limit_s=0.5)
    assert "took longer than 0.5 s" in models.HostChange.objects.get().error
    setting.shell('printf \'%s\\n\' "$2" >"$1" && rm "$1.hangs"', OWN)  # an operator, by hand
    contact.revert_changes(agent)
    assert not models.HostChange.objects.exists()


def test_a_definition_that_is_gone_fails_the_trial_with_the_cause(
    agent: models.Agent, define: Callable[..., None]
) -> None:
    define()
    start(duration_s=1, host={"setting": "large"})
    hostfactors.remove(agent, "setting", "test")
    attempt = run_next()
    assert attempt.error is not None
    assert "no longer has host factor 'setting'" in attempt.error["what"]


@pytest.mark.parametrize(("level", "wanted"), [("0", "0"), ("1", "1"), ("1 cpus", "0"), ("0-1", "0-1")])
def test_servers_run_on_the_processors_of_the_level(measure: Measure, level: str, wanted: str) -> None:
    attempt = measure(duration_s=1, host={"cpus": level})
    assert attempt.error is None, attempt.error
    check = checks(attempt)["host.cpus"]
    assert check == wanted.replace("-", ",")
    assert layer(attempt) == {"cpus": {"list": check, "by": "taskset"}}


def test_each_role_runs_on_its_own_processors(measure: Measure) -> None:
    attempt = measure(
        duration_s=1,
        topology="streaming",
        topology_parameters={"standbys": 2},
        host={"cpus": "client=0 primary=0 standby=1 standby2=0-1"},
    )
    assert attempt.error is None, attempt.error
    checks = {check["node"]: check["actual"] for check in attempt.checks if check["name"] == "host.cpus"}
    assert checks == {"client": "0", "primary": "0", "standby1": "1", "standby2": "0,1"}
    assert layer(attempt) == {"cpus": {"lists": checks, "by": "taskset"}}


def test_what_puts_the_load_on_runs_on_the_clients_processors(measure: Measure) -> None:
    for level, count in (("client=1", 1), ("client=0-1", 2), ("primary=0", 2)):
        attempt = measure(
            workload="script",
            parameters={"form": "command", "text": 'echo "processors $(nproc)"'},
            host={"cpus": level},
        )
        assert attempt.error is None, attempt.error
        assert attempt.measurements.get(metric_id="own.processors").value == count


def test_a_server_that_is_restarted_keeps_its_processors(address: Address, postgres_16: InstallationRef) -> None:
    async def restarted() -> list[Check]:
        async with connected(replace(address, layout=Layout(cpus="1"))) as remote:
            server = await cluster.ensure(remote, postgres_16, name="pinned")
            await server.stop()
            check = await cpus.check(await server.start(), "1", "primary")
            wrong = await cpus.check(server, "0-1", "primary")
            await cluster.drop(remote, server)
            return [check, wrong]

    check, wrong = asyncio.run(restarted())
    assert (check.actual, check.passed) == ("1", True)
    assert (wrong.actual, wrong.passed) == ("1", False)


def test_processors_that_are_not_there_fail_the_trial_with_the_cause(measure: Measure) -> None:
    attempt = measure(duration_s=1, host={"cpus": "0,4000"})
    assert attempt.error is not None
    assert attempt.error["phase"] == "prepare"
    assert "does not have all of the processors 0,4000" in attempt.error["what"]


@pytest.fixture
def places(agent: models.Agent, setting: Setting) -> Iterator[dict[str, str]]:
    """Two places on the agent, as two disks would be."""
    home = setting.shell('mkdir -p "${1%/*}/places/fast" "${1%/*}/places/slow" && cd "${1%/*}/places" && pwd -P')
    places = {name: f"{home}/{name}" for name in ("fast", "slow")}
    models.Agent.objects.filter(pk=agent.pk).update(places=places)
    yield places
    setting.shell(
        'for file in "${1%/*}"/places/*/clusters/*/data/postmaster.pid; do\n'
        '[ -f "$file" ] && read -r pid <"$file" && kill -s INT "$pid" || continue\n'
        'while kill -0 "$pid"; do sleep 0.1; done\n'
        'done 2>/dev/null\nrm -rf -- "${1%/*}/places"'
    )


def test_data_wal_and_tablespace_lie_where_the_plan_says(
    measure: Measure, places: dict[str, str], setting: Setting, bundles: Path
) -> None:
    host = {"data": "fast", "wal": "slow", "tablespace": "slow"}
    attempt = measure(duration_s=1, host=host)
    assert attempt.error is None, attempt.error
    all_checks = checks(attempt)
    assert all_checks["host.data"].startswith(f"{places['fast']} (device ")
    assert all_checks["host.wal"].startswith(f"{places['slow']} (device ")
    assert all_checks["host.tablespace"].startswith(f"{places['slow']} (device ")
    assert all_checks["host.tablespace of tables"] == "all tables are there"
    real = setting.shell('readlink -f "${1%/*}"/places/fast/clusters/*/data/pg_wal')
    assert real.startswith(f"{places['slow']}/wal/")
    assert setting.shell('ls "${1%/*}"/places/slow/tablespaces/*/') != ""
    assert {name: part["place"] for name, part in layer(attempt).items()} == host
    assert layer(attempt)["data"]["filesystem"]


def test_two_clusters_of_one_name_share_no_wal_folder(
    address: Address, places: dict[str, str], postgres_16: InstallationRef
) -> None:
    async def made() -> list[str]:
        violations = []
        layouts = [Layout(data=places[name], wal=places["slow"]) for name in ("fast", "slow")]
        servers = []
        for layout in layouts:
            async with connected(replace(address, layout=layout)) as remote:
                servers.append(await cluster.ensure(remote, postgres_16, name="twin"))
        async with connected(address) as remote:
            for server in servers:
                violations.append((await remote.run("readlink", "-f", f"{server.data_dir}/pg_wal")).stdout.strip())
                await replace(server, remote=remote).execute("CHECKPOINT;")
        assert len({posixpath.basename(posixpath.dirname(server.data_dir)) for server in servers}) == 1
        return violations

    one, other = asyncio.run(made())
    assert one != other
    assert {posixpath.dirname(one), posixpath.dirname(other)} == {f"{places['slow']}/wal"}


def test_a_server_in_another_place_is_stopped_before_the_next_trial(
    measure: Measure, places: dict[str, str], setting: Setting
) -> None:
    run = start(duration_s=1, factors={"host.data": ["fast", "slow"]})
    assert [run_next().error, run_next().error] == [None, None]
    assert run.configurations.count() == 2
    running = 'for f in "${1%/*}"/places/*/clusters/*/data/postmaster.pid; do [ ! -f "$f" ] || echo "$f"; done'
    assert setting.shell(running) == ""


def test_each_level_that_shapes_what_lies_on_disk_has_a_cluster_of_its_own(
    agent: models.Agent, define: Callable[..., None], address: Address
) -> None:
    define(keeps_data_apart=True)
    start(duration_s=1, factors={"host.setting": ["small", "large"]})
    made = [run_next() for _ in range(2)]
    assert [attempt.error for attempt in made] == [None, None]
    assert {attempt.notes["data"]["how"] for attempt in made} <= {"loaded", "reused"}
    directories = {
        word
        for attempt in made
        for command in command_texts.whole(attempt.pk)
        for word in command["command"].split()
        if word.startswith(f"{address.data_dir}/clusters/")
    }
    assert len({directory.split("/clusters/")[1].split("/")[0] for directory in directories}) == 2


def test_a_plan_is_refused_where_the_agent_does_not_allow_it(agent: models.Agent, define: Callable[..., None]) -> None:
    define()
    for host, message in (
        ({"setting": "huge"}, "has no level 'huge'"),
        ({"unknown": "x"}, "Agent live has no host factor 'unknown'"),
        ({"data": "fast"}, "Agent live has no storage place 'fast'"),
        ({"cpus": "4000 cpus"}, "not 4000"),
    ):
        with pytest.raises(PlanError, match=message):
            start(host=host)


@pytest.mark.parametrize("topology", ["streaming", "cascading", "pgpool", "logical", "fdw"])
def test_a_tablespace_is_refused_where_there_are_several_servers(
    agent: models.Agent, places: dict[str, str], topology: str
) -> None:
    with pytest.raises(PlanError, match="a copy of a server cannot share"):
        start(topology=topology, installation="15" if topology == "fdw" else "16", host={"tablespace": "slow"})
