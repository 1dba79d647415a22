"""Which clusters of an agent stay and which are removed; what a trial's clusters are called."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from results.domain.kinds.host_factors import HostFactor, KnownHost
from results.domain.matrix import InstallationRef, TrialSpec
from results.domain.matrix.clusters import (
    Candidate,
    ClusterState,
    Fate,
    Limits,
    Use,
    digest,
    fates,
    folder_name,
    folder_names,
    is_folder_name,
    variant,
)
from workers.registry import kinds

NOW = datetime(2026, 2, 1, tzinfo=UTC)
GB = 1024**3
WEEK = Limits(7, None)
NEVER = Limits(None, None)
USE = (Use(3, 12),)


def cluster(name: str, days: float, size_gb: float = 1, **rest: Any) -> Candidate:
    """Last used so many days ago."""
    state = rest.pop("state", ClusterState.WHOLE)
    return Candidate(f"/d/clusters/{name}", state, int(size_gb * GB), NOW - timedelta(days=days), **rest)


def removed(clusters: list[Candidate], limits: Limits, now: datetime = NOW) -> list[str]:
    """Names of those that go now."""
    fated = zip(clusters, fates(clusters, limits, now), strict=True)
    return [one.directory.rpartition("/")[2] for one, fate in fated if fate.due_at is not None and fate.due_at <= now]


def the_fate(one: Candidate, limits: Limits = WEEK) -> Fate:
    [fate] = fates([one], limits, NOW)
    return fate


def test_one_goes_so_many_days_after_its_last_use() -> None:
    assert the_fate(cluster("a", days=3)) == Fate(False, NOW + timedelta(days=4), "7 days after its last use.")
    assert removed([cluster("a", days=6.99), cluster("b", days=7)], WEEK) == ["b"]


def test_without_limits_nothing_goes_by_itself() -> None:
    old = [cluster("a", days=999, size_gb=1e6), cluster("b", days=999, gone_since=NOW - timedelta(days=99))]
    assert removed(old, NEVER) == []
    assert all(not fate.kept for fate in fates(old, NEVER, NOW))  # by hand they may


@pytest.mark.parametrize(
    "keeping",
    [
        {"running": True},
        {"needed_by": USE},
        {"needed_by": USE, "gone_since": NOW - timedelta(days=99)},
        {"needed_by": USE, "state": ClusterState.UNFINISHED},
        {"state": ClusterState.FOREIGN},
        {"state": ClusterState.REMOVING, "running": True},
    ],
)
def test_what_runs_what_a_trial_could_use_and_what_is_not_teitens_stays(keeping: dict[str, Any]) -> None:
    one = cluster("a", days=999, size_gb=1e6, **keeping)
    for limits in (WEEK, NEVER, Limits(1, 1)):
        fate = the_fate(one, limits)
        assert (fate.kept, fate.due_at) == (True, None)


@pytest.mark.parametrize("limits", [WEEK, NEVER])
def test_a_removal_that_has_begun_is_gone_on_with_whoever_waits(limits: Limits) -> None:
    assert removed([cluster("a", days=0, state=ClusterState.REMOVING, needed_by=USE)], limits) == ["a"]


def test_over_the_budget_the_oldest_go_until_it_is_kept() -> None:
    clusters = [cluster("new", 1, 40), cluster("old", 5, 30), cluster("older", 6, 30)]
    assert removed(clusters, Limits(7, 100 * GB)) == []
    assert removed(clusters, Limits(7, 99 * GB)) == ["older"]
    assert removed(clusters, Limits(7, 69 * GB)) == ["old", "older"]
    assert removed(clusters, Limits(None, 0)) == ["new", "old", "older"]


def test_what_goes_for_its_age_is_not_in_the_budget() -> None:
    clusters = [cluster("expired", 8, 60), cluster("old", 5, 50), cluster("new", 1, 50)]
    assert removed(clusters, Limits(7, 100 * GB)) == ["expired"]
    assert "budget of 90 GB" in fates(clusters, Limits(7, 90 * GB), NOW)[1].why


def test_what_stays_counts_in_the_budget_and_what_is_not_teitens_does_not() -> None:
    needed = cluster("needed", 6, 80, needed_by=USE)
    clusters = [needed, cluster("old", 5, 15), cluster("new", 1, 15)]
    assert removed(clusters, Limits(7, 100 * GB)) == ["old"]
    assert removed(clusters, Limits(7, 50 * GB)) == ["old", "new"]  # which does not suffice
    foreign = cluster("foreign", 6, 80, state=ClusterState.FOREIGN)
    assert removed([foreign, *clusters[1:]], Limits(7, 30 * GB)) == []


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ({"state": ClusterState.UNFINISHED}, "Making it was broken off"),
        ({"state": ClusterState.REMAINS}, "Its cluster is gone"),
        ({"gone_since": NOW - timedelta(days=30)}, "Its installation is gone"),
    ],
)
def test_what_no_trial_can_use_as_it_lies_there_goes_after_a_day_and_first(rest: dict[str, Any], why: str) -> None:
    assert removed([cluster("a", 0.9, **rest), cluster("b", 1.1, **rest)], WEEK) == ["b"]
    assert the_fate(cluster("a", 0.5, **rest)).why == f"{why}: 1 day after its last use."
    assert removed([cluster("old", 5, 10), cluster("odd", 0.5, 10, **rest)], Limits(7, 10 * GB)) == ["odd"]


def test_an_installation_that_was_there_a_moment_ago_may_come_back() -> None:
    old = cluster("a", 5, gone_since=NOW - timedelta(hours=1))
    assert the_fate(old).due_at == NOW + timedelta(hours=23)


REF = InstallationRef("postgresql-16.9", "/opt/16/bin", "/opt/16/bin", "16.9", 160009)
SPEC = TrialSpec("pgbench", {}, "single", {}, REF, {"client": "load", "primary": "db1"}, {})
KNOWN = {"db1": KnownHost({"zfs": HostFactor("zfs", "s", "r", (), keeps_data_apart=True)}, {"ssd": "/ssd"})}


def names(spec: TrialSpec, agent: str = "db1", known: dict[str, KnownHost] | None = None) -> set[str]:
    return set(folder_names(spec, agent, kinds(), KNOWN if known is None else known))


def test_each_thing_that_tells_clusters_apart_gives_another_name() -> None:
    other = replace(REF, bin_dir="/opt/16b/bin")
    standby = {"client": "load", "primary": "db1", "standby1": "db1"}
    folder_sets = [
        names(SPEC),
        names(replace(SPEC, initdb=("--wal-segsize=64",))),
        names(replace(SPEC, installation=other)),
        names(replace(SPEC, host={"wal": "ssd"})),
        names(replace(SPEC, host={"tablespace": "ssd"})),
        names(replace(SPEC, host={"zfs": "8K"})),
        names(replace(SPEC, host={"zfs": "16K"})),
        names(replace(SPEC, topology="streaming", agents=standby)),
        names(replace(SPEC, topology="pgpool", topology_parameters={"mode": "native_replication"}, agents=standby)),
    ]
    assert [len(one) for one in folder_sets] == [1] * 7 + [2, 2]
    everything = [name for one in folder_sets for name in one]
    assert len(set(everything)) == len(everything)
    assert all(is_folder_name(name) for name in everything)


def test_settings_data_and_the_place_of_the_data_give_no_other_name() -> None:
    for changes in (
        {"settings": {"work_mem": "1GB"}},
        {"data": "template"},
        {"host": {"data": "ssd"}},
        {"cache": "cold"},
    ):
        assert names(replace(SPEC, **changes)) == names(SPEC)


def test_no_cluster_lies_on_the_clients_agent_nor_on_servers_outside() -> None:
    assert names(SPEC, "load") == set()
    assert names(replace(SPEC, topology="endpoints", outside=("primary",))) == set()


def test_a_factor_of_another_machine_does_not_count() -> None:
    on_the_client = HostFactor("zfs", "s", "r", (), roles=("client",), keeps_data_apart=True)
    known = {name: KnownHost({"zfs": on_the_client}) for name in ("load", "db1")}
    assert names(replace(SPEC, host={"zfs": "8K"}), known=known) == names(SPEC)


def test_a_trial_of_a_topology_that_is_gone_uses_nothing() -> None:
    assert names(replace(SPEC, topology="of old")) == set()


def test_texts_that_only_join_alike_have_different_hashes() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("a") == digest("a")


def test_names_are_as_they_ever_were() -> None:
    """Clusters that lie on agents keep theirs: another rule would leave them, and load all data again."""
    assert folder_name(REF, "", (), ()) == "postgresql-16.9-364d220f"
    apart = variant({"data": "/x", "wal": "/ssd", "tablespace": "/ts"}, ("zfs=8K",))
    name = folder_name(REF, "streaming-standby1", ("--wal-segsize=64",), apart)
    assert name == "postgresql-16.9-streaming-standby1-7618fd22"
