"""Clusters that real trials left on a real agent: known from the trials' plans, kept while one waits, else removed."""

from __future__ import annotations

import asyncio
import posixpath
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from results import hostfactors, models, runs
from results.domain.errors import AgentError, StateError
from results.domain.kinds.host_factors import factor_of
from results.domain.matrix import InstallationRef, TrialSpec, find_installation
from results.domain.matrix.clusters import ClusterState, folder_names
from results.domain.states import RunState
from results.hostfactors import known_hosts
from results.pruning import REMOVE
from tests.live.trials.conftest import run_next, start, wait_for
from workers import dispatch, pruning, registry, tasks
from workers.postgres import cluster, cluster_inventory
from workers.remote.address import Address
from workers.remote.connection import Remote, connected, host_key_of

Left = Callable[..., list[str]]
SHORT: dict[str, Any] = {"duration_s": 1, "initdb": ["--no-sync"], "agents": {"primary": "own"}}
OLD = 'find "$1" -name made -o -name "*.log" -o -name pg_control | xargs touch -d "$2 days ago"'


class Own:
    """An agent with directories of its own, and what lies there."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.row = models.Agent.objects.get(name=address.name)

    def shell(self, script: str, *words: str) -> str:
        async def ask() -> str:
            async with connected(self.address) as remote:
                return (await remote.script(script, *words)).stdout.strip()

        return asyncio.run(ask())

    def set(self, **fields: Any) -> None:
        models.Agent.objects.filter(pk=self.row.pk).update(**fields)

    @property
    def directories(self) -> list[str]:
        """As the warehouse knows them."""
        return sorted(self.row.clusters.values_list("directory", flat=True))

    @property
    def there(self) -> list[str]:
        """As they are."""
        return sorted(self.shell('ls -d "$1"/clusters/*/ 2>/dev/null || true', self.address.data_dir).splitlines())

    def age(self, directory: str, days: int) -> None:
        self.shell(OLD, directory, str(days))

    def look(self) -> None:
        pruning.record_clusters(models.Agent.objects.get(pk=self.row.pk))

    def prune(self) -> None:
        tasks.prune(self.row.pk)

    @property
    def history(self) -> list[tuple[str, str]]:
        entries = models.AuditEntry.objects.filter(verb=REMOVE, object="agent own").order_by("id")
        return [(entry.actor, entry.detail["directory"]) for entry in entries]


@pytest.fixture
def own(further: Callable[[str], Address]) -> Own:
    return Own(further("own"))


@pytest.fixture(scope="module")
def templates(address: Address, installations: list[InstallationRef]) -> Iterator[dict[str, str]]:
    """Version → a stopped cluster as the trials of this module make it, to be copied: that saves most of the time."""
    aside = replace(address, data_dir=f"{address.data_dir}-template")

    async def make() -> dict[str, str]:
        templates_of = {}
        async with connected(aside) as remote:
            for version in ("16", "18"):
                installation = find_installation(version, installations)
                assert installation is not None
                server = await cluster.ensure(remote, installation, initdb=SHORT["initdb"])
                await server.stop()
                templates_of[version] = posixpath.dirname(server.data_dir)
        return templates_of

    async def drop() -> None:
        async with connected(aside) as remote:
            await remote.run("rm", "-rf", "--", aside.data_dir)

    yield asyncio.run(make())
    asyncio.run(drop())


@pytest.fixture
def left(own: Own, templates: dict[str, str]) -> Callable[..., list[str]]:
    """Clusters of these versions in the agent's data directory, as the warehouse knows them; their directories."""

    def copied(*versions: str) -> list[str]:
        clusters = f"{own.address.data_dir}/clusters"
        own.shell('to=$1; shift; mkdir -p "$to" && cp -a "$@" "$to"', clusters, *(templates[v] for v in versions))
        own.look()
        paths = [f"{clusters}/{posixpath.basename(templates[version])}" for version in versions]
        assert own.directories == sorted(paths)
        return paths

    return copied


def measured(**changes: Any) -> models.Attempt:
    start(**{**SHORT, **changes})
    attempt = run_next()
    assert attempt.error is None, attempt.error
    return attempt


def names_of(attempt: models.Attempt) -> set[str]:
    spec = TrialSpec.from_json(attempt.trial.configuration.spec)
    return set(folder_names(spec, "own", registry.kinds(), known_hosts()))


@pytest.mark.parametrize(
    "changes",
    [
        {"topology": "streaming", "topology_parameters": {"standbys": 1}},
        {"topology": "pgpool", "topology_parameters": {"through": "direct", "mode": "streaming_replication"}},
        {"topology": "pgpool", "topology_parameters": {"through": "direct", "mode": "native_replication"}},
        {"topology": "logical", "topology_parameters": {}},
        {"topology": "fdw", "topology_parameters": {}, "installation": "15"},
    ],
    ids=["streaming", "pgpool, streaming", "pgpool, native", "logical", "fdw"],
)
def test_the_clusters_of_an_arrangement_are_known_from_its_plan(own: Own, changes: dict[str, Any]) -> None:
    attempt = measured(**changes)
    own.look()
    assert len(own.directories) >= 2
    assert {posixpath.basename(directory) for directory in own.directories} == names_of(attempt)


def test_a_cluster_whose_parts_lie_elsewhere_is_known_from_its_plan_and_removed_wholly(own: Own) -> None:
    places = {name: f"{own.address.work_dir}/{name}" for name in ("fast", "slow")}
    own.shell('mkdir -p "$@"', *places.values())
    own.set(places=places)
    setting = {"show": "echo own", "revert": "true", "keeps_data_apart": True}
    level = {"apply": "true", "check": "true"}
    hostfactors.define(own.row, [factor_of("setting", {**setting, "levels": {"large": level}})], "test")
    attempt = measured(host={"data": "fast", "wal": "slow", "tablespace": "slow", "setting": "large"})
    own.look()
    [directory] = own.directories
    assert {posixpath.basename(directory)} == names_of(attempt)
    assert directory.startswith(f"{places['fast']}/clusters/")
    parts = own.row.clusters.get().parts
    assert sorted(posixpath.dirname(part) for part in parts) == [
        f"{places['slow']}/tablespaces",
        f"{places['slow']}/wal",
    ]
    own.age(directory, 8)
    own.prune()
    assert own.directories == []
    assert own.shell('cd "$1" && find . -mindepth 3', own.address.work_dir + "/slow") == ""
    assert own.shell('cd "$1" && find . -mindepth 2 ! -name .removal.lock', own.address.work_dir + "/fast") == ""


def test_what_is_old_goes_and_what_a_waiting_trial_could_use_stays(own: Own) -> None:
    for version in ("16", "18"):
        measured(installation=version)
    own.look()
    both = own.directories
    [kept] = [directory for directory in both if "/16" in directory]
    for directory in both:
        own.age(directory, 6)
    own.prune()
    assert own.directories == both
    waiting = start(**SHORT, installation="16")
    for directory in both:
        own.age(directory, 8)
    own.prune()
    assert own.directories == [kept]
    assert own.there == [f"{kept}/"]
    assert own.history == [(pruning.LIMITS, one) for one in both if one != kept]
    used = run_next()  # the one that it was kept for
    assert (used.error, used.notes["data"]["how"]) == (None, "reused")
    runs.cancel_run(start(**SHORT, installation="16").pk, "test")
    own.prune()
    assert own.directories == [kept]  # it was used a moment ago
    own.age(kept, 8)
    own.prune()
    assert (own.directories, own.there) == ([], [])
    assert models.Run.objects.get(pk=waiting.pk).state == RunState.FINISHED


def test_over_the_budget_the_oldest_goes_first_but_for_what_is_needed_or_foreign(own: Own, left: Left) -> None:
    older, newer = left("16", "18")
    own.age(older, 2)
    foreign = f"{own.address.data_dir}/clusters/mine-0123abcd"
    own.shell('mkdir -p "$1/data" && head -c 100000 /dev/urandom >"$1/data/1"', foreign)
    own.set(disk_budget_gb=0)
    run = start(**SHORT, installation="16")
    own.prune()
    assert dict(own.row.clusters.values_list("directory", "state")) == {
        foreign: ClusterState.FOREIGN,
        older: ClusterState.WHOLE,  # and needed
    }
    runs.cancel_run(run.pk, "test")
    own.prune()
    assert own.there == [f"{foreign}/"]
    assert own.history == [(pruning.LIMITS, newer), (pruning.LIMITS, older)]


def test_a_server_that_runs_keeps_its_cluster(own: Own, left: Left) -> None:
    [directory] = left("16")
    own.set(disk_budget_gb=0)
    pg_ctl = own.row.clusters.get().bin_dir + "/pg_ctl"
    sockets = own.shell("mktemp -d").strip()  # copies of a cluster have one port and one folder for sockets
    options = f"-c listen_addresses= -c unix_socket_directories={sockets}"
    own.shell('"$1" start -D "$2/data" -w -l "$2/log" -o "$3"', pg_ctl, directory, options)
    own.prune()
    assert own.row.clusters.get().running
    assert own.shell('"$1" status -D "$2/data"', pg_ctl, directory).startswith("pg_ctl: server is running")
    own.shell('"$1" stop -D "$2/data" -w && rmdir "$3"', pg_ctl, directory, sockets)


def test_nothing_is_removed_beside_a_trial_on_the_machine(own: Own, left: Left) -> None:
    [directory] = left("16")
    own.set(disk_budget_gb=0)
    start(**{**SHORT, "agents": {"primary": "live"}, "installation": "18"})  # the same machine by another name
    attempt_id = dispatch.next_attempt(timezone.now())
    assert attempt_id is not None
    with pytest.raises(StateError, match="busy with trial") as refused:
        tasks.remove_clusters(own.row.pk, [directory], "test")
    assert "Removing files there" in refused.value.why
    own.prune()
    assert own.directories == [directory]
    assert list(models.Lease.objects.values_list("attempt", flat=True)) == [attempt_id]
    dispatch.withdraw(attempt_id, timezone.now())
    own.prune()
    assert own.there == []


def test_a_trial_on_another_agent_of_the_machine_keeps_a_cluster_of_that_name(
    own: Own, left: Left, further: Callable[[str], Address]
) -> None:
    [directory] = left("16")
    further("twin")
    start(**{**SHORT, "agents": {"primary": "twin"}})
    own.set(disk_budget_gb=0)
    own.prune()
    assert own.directories == [directory]


def test_chosen_clusters_are_removed_at_once_and_those_that_are_needed_are_refused(own: Own, left: Left) -> None:
    needed, other = left("16", "18")
    run = start(**SHORT, installation="16")
    trial = run.trials.get()
    for chosen, why in (([other, needed], f"trial {trial.pk} of run {run.pk}"), ([other, "/x"], "no such cluster")):
        with pytest.raises(StateError) as refused:
            tasks.remove_clusters(own.row.pk, chosen, "ada")
        assert why in refused.value.why
    assert len(own.there) == 2
    done = tasks.remove_clusters(own.row.pk, [other], "ada")
    assert [row.directory for row in done.removed] == [other]
    assert (own.directories, own.there) == ([needed], [f"{needed}/"])
    assert own.history == [("ada", other)]


def test_a_cluster_that_a_run_needs_since_the_removals_began_stays(
    own: Own, left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = left("18", "16")
    own.age(first, 30)
    own.age(second, 20)
    remove = cluster_inventory.remove

    def start_one() -> None:
        start(**SHORT, installation="16")
        connection.close()

    async def start_meanwhile(remote: Remote, directory: str, parts: tuple[str, ...], limit_s: float) -> bool:
        await asyncio.to_thread(start_one)
        return await remove(remote, directory, parts, limit_s)

    monkeypatch.setattr(cluster_inventory, "remove", start_meanwhile)
    own.prune()
    assert own.there == [f"{second}/"]
    assert own.history == [(pruning.LIMITS, first)]


def test_nothing_is_removed_once_the_machine_was_lost(own: Own, left: Left) -> None:
    [directory] = left("16")
    own.age(directory, 30)
    with pruning.machine_lease(own.row.pk):
        done = pruning.prune(own.row.pk, lambda: True)
    assert ([row.directory for row in done.left], own.there) == ([directory], [f"{directory}/"])


def test_agents_of_one_address_are_one_machine_though_a_key_was_not_accepted_everywhere(
    own: Own, left: Left, further: Callable[[str], Address]
) -> None:
    [directory] = left("16")
    further("twin")
    start(**{**SHORT, "agents": {"primary": "twin"}})
    models.Agent.objects.filter(name="twin").update(host_key="ssh-ed25519 of before", host_key_fingerprint="before")
    own.set(disk_budget_gb=0)
    own.prune()
    assert own.directories == [directory]


def test_what_cannot_be_removed_is_stored_with_the_cause_and_tried_again_later(own: Own, left: Left) -> None:
    [directory] = left("16")
    own.age(directory, 8)
    own.shell('chmod u-w "$1/data/base"', directory)
    own.prune()
    row, now = own.row.clusters.get(), timezone.now()
    due = [own.row.pk in pruning.agents_due(now + timedelta(minutes=minutes)) for minutes in (0, 11)]
    own.shell('chmod u+w "$1/data/base"', directory)
    assert row.error is not None and "Permission denied" in row.error["why"]
    assert (row.state, own.history, due) == (ClusterState.REMOVING, [], [False, True])
    tasks.remove_clusters(own.row.pk, [directory], "ada")
    assert own.there == []


def test_a_removal_that_takes_too_long_is_begun_and_the_rest_goes_next_time(
    own: Own, left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    [directory] = left("16")
    size = own.row.clusters.get().size_bytes
    monkeypatch.setattr(pruning, "LIMIT_S", 0.9)  # whole seconds are given to the agent
    done = tasks.remove_clusters(own.row.pk, [directory], "ada")
    assert ([row.directory for row in done.begun], done.removed) == ([directory], [])
    assert own.row.clusters.get().state == ClusterState.REMOVING
    monkeypatch.undo()
    start(**SHORT, installation="16")  # would have used it, and makes it anew now
    own.prune()
    assert own.there == []
    assert own.history == [("ada", directory), (pruning.LIMITS, directory)]
    steps = (
        models.AuditEntry.objects.filter(verb=REMOVE).order_by("id").values_list("detail__step", "detail__size_bytes")
    )
    assert [step for step, _ in steps] == ["begun", "rest"]
    assert steps[0][1] == size


def test_an_agent_out_of_reach_says_why_its_clusters_are_not_known(own: Own, left: Left) -> None:
    [directory] = left("16")
    own.set(port=1)
    with pytest.raises(AgentError):
        tasks.remove_clusters(own.row.pk, [directory], "ada")
    own.row.refresh_from_db()
    assert own.row.clusters_error is not None
    assert own.directories == [directory]
    assert not models.Lease.objects.exists()


def test_a_contact_looks_at_the_clusters(own: Own, left: Left) -> None:
    [directory] = left("16")
    own.row.clusters.all().delete()
    own.set(host_key_fingerprint=asyncio.run(host_key_of(own.address)).fingerprint, clusters_error={"what": "before"})
    tasks.contact_now(own.row.pk)
    own.row.refresh_from_db()
    assert (own.row.clusters_at is None, own.row.clusters_error) == (False, None)
    cluster = own.row.clusters.get()
    assert (cluster.directory, cluster.size_bytes > 20_000_000) == (directory, True)
    assert cluster.bin_dir in own.row.installations.values_list("bin_dir", flat=True)


def test_between_two_trials_of_a_queue_and_by_beat_what_is_due_is_removed(
    own: Own, left: Left, worker: Callable[[], subprocess.Popen[bytes]]
) -> None:
    [old] = left("18")
    own.age(old, 8)
    own.set(clusters_at=timezone.now() - timedelta(minutes=2))
    worker()
    run = start(**SHORT, installation="16", replicates=2)
    tasks.dispatch.delay()
    wait_for(lambda: models.Run.objects.get(pk=run.pk).state == RunState.FINISHED)
    assert own.history == [(pruning.LIMITS, old)]
    wait_for(lambda: not own.row.clusters.filter(running=True).exists())  # looked at after the last trial too
    wait_for(lambda: not models.Lease.objects.exists())
    [young] = own.directories
    own.age(young, 8)
    models.Cluster.objects.filter(directory=young).update(used_at=timezone.now() - timedelta(days=8))
    tasks.prune_all()
    wait_for(lambda: own.directories == [])
    assert own.history[1:] == [(pruning.LIMITS, young)]
