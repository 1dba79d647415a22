"""Servers behind pgpool-II: arranged, verified, measured, watched, taken down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from results import models
from results.domain.errors import CommandError
from results.domain.kinds.programs import Program
from results.domain.matrix import InstallationRef, TrialSpec
from tests.live.trials.conftest import value
from tests.live.trials.killing import AT_WORK, beside, killed_at, on_agent
from tests.live.trials.losing import events, keys_of
from workers.bundle import reader
from workers.interfaces import Stage
from workers.pgpool import process
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import connected

Measure = Callable[..., models.Attempt]
COUNTED = 0.02  # pgpool-II counts without locks
STREAMING, NATIVE = "streaming_replication", "native_replication"
_LEFT = r"""
find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$1*/jobs/*" 2>/dev/null
ps -u "$(id -u)" -o stat=,args= | grep -v "^Z" | grep "$1.*[p]gpool"
find "$1" -type s -path '*pgpool/*'
awk -v own="$(id -u)" 'NR > 1 && $8 == own && $4 > 100000000 && $7 == 0 { print "shared memory", $2 }' /proc/sysvipc/shm
ls "$1/jobs"
"""
# of every program of a job, once pgbench's clients are at work, the processors that the kernel gives it
_PROCESSORS = r"""
tries=0
until grep -qs progress "$1"/jobs/*/measure*/stderr; do
    tries=$((tries + 1))
    [ "$tries" -lt 20000 ] || exit 1
    sleep 0.01
done
for process in $(grep -lsz "^TEITEN_JOB=$1/jobs/" /proc/[0-9]*/environ); do
    process=${process%/environ}
    read -r name <"$process/comm" || continue
    case $name in
        pgbench | pgpool) echo "$name $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$process/status")" ;;
    esac
done
"""


@pytest.fixture(autouse=True)
def agent_stays_clean(agent: models.Agent, address: Address) -> Iterator[None]:
    """No process, socket, shared memory or job of pgpool-II is left, whatever happened."""

    async def left() -> set[str]:
        async with connected(address) as remote:
            return set((await remote.script(_LEFT, address.work_dir, check=False)).stdout.splitlines())

    before = asyncio.run(left())  # of an earlier test, it may still go
    yield
    assert asyncio.run(left()) <= before


def plan(mode: str = STREAMING, *, script: str = "select-only", **parameters: Any) -> dict[str, Any]:
    return {
        "topology": "pgpool",
        "topology_parameters": {"mode": mode} | parameters,
        "parameters": {"script": script, "clients": 4},
    }


def checks(attempt: models.Attempt, node: str) -> dict[str, str]:
    return {check["name"]: check["actual"] for check in attempt.checks if check["node"] == node}


def on_each(attempt: models.Attempt, metric: str) -> list[float]:
    """A metric's values of the servers, the primary's first."""
    servers = TrialSpec.from_json(attempt.trial.configuration.spec).servers
    return [value(attempt, metric, node=node) for node in servers]


def test_reads_are_balanced_over_a_primary_and_its_standby(measure: Measure) -> None:
    attempt = measure(**plan(load_balance="statement"))
    assert attempt.error is None, attempt.error["why"]
    assert checks(attempt, "pooler")["backend_clustering_mode"] == STREAMING
    assert checks(attempt, "primary")["queries from pooler"] == "up, primary"
    assert checks(attempt, "standby1")["queries from pooler"] == "up, standby"
    assert checks(attempt, "standby1")["data as on the primary"] == "4 tables, 100011 rows"
    selects, transactions = on_each(attempt, "pgpool.selects"), value(attempt, "transactions")
    assert min(selects) > transactions / 4
    assert sum(selects) == pytest.approx(transactions, rel=COUNTED)
    assert value(attempt, "pgpool.selects") == sum(selects)
    assert on_each(attempt, "pgpool.writes") == [0, 0]
    for metric in ("replication.lag_bytes", "replication.catch_up"):
        assert value(attempt, metric, node="standby1") >= 0
    assert attempt.gaps == []


def test_pgpool_and_pgbench_run_on_their_own_processors(measure: Measure, address: Address) -> None:
    seen: list[str] = []
    with beside(lambda: seen.extend(on_agent(address, _PROCESSORS, address.work_dir).splitlines())):
        attempt = measure(**plan(), duration_s=5, host={"cpus": "client=0 pooler=1"})
    assert attempt.error is None, attempt.error
    assert set(seen) == {"pgbench 0", "pgpool 1"}
    assert [checks(attempt, node)["host.cpus"] for node in ("client", "pooler")] == ["0", "1"]


def test_writes_reach_every_primary_and_data_that_differ_are_copied(
    measure: Measure, address: Address, postgres_16: InstallationRef
) -> None:
    pooled = plan(NATIVE, script="tpcb-like")
    first = measure(**pooled)
    assert first.error is None, first.error
    assert checks(first, "node2")["queries from pooler"] == "up, replica"
    transactions = value(first, "transactions")
    assert on_each(first, "pgpool.writes") == pytest.approx([4 * transactions] * 2, rel=COUNTED)
    before = [rows_of(address, postgres_16, first, node) for node in ("primary", "node2")]

    again = measure(**pooled)
    assert again.error is None, again.error
    assert again.notes["copies"] == {"node2": "kept"}
    after = [rows_of(address, postgres_16, again, node) for node in ("primary", "node2")]
    assert (before[0], after[0]) == (before[1], after[1])
    assert after[0]["transactions"] - before[0]["transactions"] == value(again, "transactions")

    direct = measure(**plan(NATIVE, script="tpcb-like", through="direct"))
    assert direct.error is None, direct.error
    assert "pooler" not in direct.trial.configuration.spec["agents"]
    last = measure(**pooled)
    assert last.error is None, last.error
    assert last.notes["copies"] == {"node2": "copied"}


def rows_of(address: Address, installation: InstallationRef, attempt: models.Attempt, node: str) -> dict[str, Any]:
    """What the server of a node holds of the history, asked directly."""
    sql = "SELECT count(*) AS transactions, sum(hashtextextended(h::text, 0)) AS digest FROM pgbench_history AS h"

    async def ask() -> dict[str, Any]:
        async with connected(address) as remote:
            server = await cluster.ensure(remote, installation, name=f"pgpool-native-{node}")
            return (await server.query(sql, database=attempt.notes["data"]["database"]))[0]

    return asyncio.run(ask())


def test_the_query_cache_answers_what_was_asked_before(measure: Measure) -> None:
    same = {"script": "custom", "custom_script": "SELECT abalance FROM pgbench_accounts WHERE aid = 1;\n", "clients": 2}
    attempt = measure(**plan(query_cache=True) | {"parameters": same})
    assert attempt.error is None, attempt.error["why"]
    assert checks(attempt, "pooler")["memory_cache_enabled"] == "on"
    hits, transactions = value(attempt, "pgpool.cache.hits"), value(attempt, "transactions")
    assert hits > transactions / 2
    assert hits + value(attempt, "pgpool.selects") == pytest.approx(transactions, rel=COUNTED)


def test_a_set_of_clients_for_each_server_by_tcp_and_no_password_in_the_bundle(
    measure: Measure, bundles: Path, address: Address, postgres_16: InstallationRef
) -> None:
    attempt = measure(**plan(NATIVE, client_sets="per-server", connection="tcp", connection_cache=False))
    assert attempt.error is None, attempt.error["why"]
    assert checks(attempt, "pooler")["connection_cache"] == "off"
    sets = [value(attempt, "tps", node=name) for name in ("set1", "set2")]
    assert value(attempt, "tps") == pytest.approx(sum(sets))
    files = reader.open_files(bundles / attempt.bundle)
    assert b"PGHOST=127.0.0.1" in files["manifest.json"]
    password = asyncio.run(_password(address, postgres_16, "pgpool-native-node2"))
    assert password == asyncio.run(_password(address, postgres_16, "pgpool-native-primary"))
    assert [name for name, content in files.items() if password in content] == []


async def _password(address: Address, installation: InstallationRef, name: str) -> bytes:
    async with connected(address) as remote:
        directory = cluster.directory_of(remote, installation, (), name)
        text = (await remote.get(f"{directory}/password")).strip()
    assert len(text) == 48
    return text


def test_a_pgpool_that_dies_while_it_is_measured_fails_the_trial(measure: Measure, address: Address) -> None:
    with killed_at(address, *AT_WORK, f"{address.work_dir}/jobs/*/pgpool/data/pid"):
        attempt = measure(duration_s=12, **plan())
    assert attempt.error is not None
    assert attempt.error["what"] == "pgpool-II ended on live."
    assert attempt.error["why"].startswith("Its exit status was 137.")
    assert measure(duration_s=1, **plan()).error is None


def test_a_pgpool_that_does_not_end_is_killed_and_the_trial_says_so(
    measure: Measure, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PATIENCE_S", 1.0)
    with killed_at(address, *AT_WORK, f"{address.work_dir}/jobs/*/pgpool/data/pid", signal="STOP"):
        attempt = measure(duration_s=4, **plan())
    assert attempt.error is None, attempt.error
    assert [gap["reason"] for gap in attempt.gaps] == ["it had not ended after 1 s and was killed"]


def test_a_server_that_pgpool_gives_up_fails_the_trial_though_it_turns_clients_away_at_first(
    measure: Measure, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, refusals = process.show, iter(["the first time", "the second"])

    async def busy(stage: Stage, what: str, node: str = "pooler") -> str:
        if stage.poolers[node].remote.phase == "collect" and (when := next(refusals, "")):
            raise CommandError(f"pgpool-II turned psql away {when}", command="psql", exit_status=2, host="live")
        return await answer(stage, what, node)

    monkeypatch.setattr(process, "show", busy)
    with killed_at(address, *AT_WORK, f"{address.data_dir}/clusters/*pgpool-standby1*/data/postmaster.pid"):
        attempt = measure(duration_s=12, **plan())
    assert attempt.error is not None
    assert attempt.error["what"] == "pgpool-II gave up standby1 while it was measured."


def losing(failover: str, seconds: float = 9, **parameters: Any) -> dict[str, Any]:
    checks = {"health_check_period": 1, "health_check_timeout": 1} | parameters
    return {
        "workload": "ledger",
        "duration_s": seconds,
        "topology": "pgpool",
        "topology_parameters": {"failover": failover, "failover_at_s": 2, **checks},
        "parameters": {"clients": 3},
        "collectors": ["latency_log"],
    }


@pytest.mark.parametrize("way", ["kill", "hang"])
def test_pgpool_promotes_the_standby_of_a_primary_that_is_lost(
    measure: Measure, address: Address, postgres_16: InstallationRef, way: str
) -> None:
    attempt = measure(**losing(way))
    assert attempt.error is None, attempt.error
    assert value(attempt, "failover.failed") == 3
    assert value(attempt, "failover.tps", label="after") > 0
    [promoted] = events(attempt, "promoted")
    last, again = events(attempt, "service")
    assert promoted["node"] == "standby1"
    assert last["at_s"] <= promoted["at_s"] < again["at_s"]
    assert (value(attempt, "failover.promotion") > 1) or way == "kill"  # only health checks tell of one that hangs
    assert sum(attempt.histograms.get().counts) == value(attempt, "transactions")
    gaps = {(gap["source"], gap["node"]) for gap in attempt.gaps if gap["source"] != "failover"}  # steady again or not
    assert gaps == {("replication", "primary")}, "which can say no more of its standby"
    old, new = (keys_of(address, postgres_16, attempt, node) for node in ("primary", "standby1"))
    assert 0 <= len(old - new) - value(attempt, "ledger.lost") <= value(attempt, "failover.failed")


def test_after_a_switchover_by_pgpool_the_next_trial_copies_the_promoted_server_anew(
    measure: Measure, bundles: Path, address: Address, postgres_16: InstallationRef
) -> None:
    first = measure(**losing("stop", connection="tcp"))
    assert first.error is None, first.error
    assert value(first, "ledger.lost") == 0
    password = asyncio.run(_password(address, postgres_16, "pgpool-primary"))
    files = reader.open_files(bundles / first.bundle)
    assert [name for name, content in files.items() if password in content] == []
    second = measure(**losing("none", seconds=2))
    assert second.error is None, second.error
    assert second.notes["standbys"] == {"standby1": "cloned"}
    assert value(second, "ledger.lost") == 0


def test_without_pgpool_nothing_is_built(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.topologies.pgpool.pooler.PROGRAM", Program("pgpool-that-is-not-installed"))
    attempt = measure(**plan())
    assert attempt.error is not None
    what = "Agent live has no program pgpool-that-is-not-installed, which the topology pgpool needs."
    assert (attempt.error["phase"], attempt.error["what"]) == ("prepare", what)
    assert [phase["name"] for phase in attempt.phases] == ["prepare", "clean"]


def test_servers_that_take_too_few_connections_are_refused_before_the_clock(measure: Measure) -> None:
    attempt = measure(settings={"max_connections": "20"}, **plan(num_init_children=50))
    assert attempt.error is not None
    assert attempt.error["phase"] == "arrange"
    assert attempt.error["todo"] == "Set max_connections to 60 or more."


@pytest.mark.parametrize("mode", [STREAMING, NATIVE])
def test_pooler_servers_and_clients_on_agents_of_their_own(
    measure: Measure,
    bundles: Path,
    address: Address,
    further: Callable[[str], Address],
    postgres_16: InstallationRef,
    mode: str,
) -> None:
    for name in ("pool", "other"):
        further(name)
    roles = {"primary": "live", "pooler": "pool", "client": "pool", "standby": "other", "node": "other"}
    attempt = measure(agents=roles, **plan(mode, load_balance="statement"))
    assert attempt.error is None, attempt.error["why"]
    assert min(on_each(attempt, "pgpool.selects")) > 0
    files = reader.open_files(bundles / attempt.bundle)
    assert b"scram-sha-256" in files["manifest.json"]
    name = "pgpool-primary" if mode == STREAMING else "pgpool-native-primary"
    password = asyncio.run(_password(address, postgres_16, name))
    assert [name for name, content in files.items() if password in content] == []
