"""A primary lost in mid-run: what was acknowledged is counted in the data, and the next trial finds right servers."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Callable
from typing import Any

import pytest

from results import models
from results.domain.matrix import InstallationRef
from tests.live.trials.conftest import value
from tests.live.trials.losing import events, keys_of, plan
from workers.pgbench import surviving
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import Remote
from workers.remote.job import Job
from workers.replication import failover

Measure = Callable[..., models.Attempt]
FROZEN_POSTMASTER = (
    'until grep -q "^State:.*stopped" "/proc/$(head -n 1 "$1/postmaster.pid")/status"; do sleep 0.02; done'
)
LEFT = """find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$1" 2>/dev/null || true"""


@pytest.fixture
def slow_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients begin late, as on a busy machine: the window's seconds count from then."""
    begin = surviving.start

    async def slowly(*words: Any, **named: Any) -> None:
        await asyncio.sleep(1.5)
        await begin(*words, **named)

    monkeypatch.setattr(surviving, "start", slowly)


@pytest.mark.usefixtures("slow_start")
@pytest.mark.parametrize(("version", "standbys"), [("16", {}), ("18", {"standbys": 2, "quorum": 1})])
def test_nothing_acknowledged_is_lost_where_commits_wait_for_a_standby(
    measure: Measure, version: str, standbys: dict[str, int]
) -> None:
    attempt = measure(installation=version, **plan(synchronous="remote_apply", failover="kill", **standbys))
    assert attempt.error is None, attempt.error
    assert value(attempt, "ledger.lost") == 0
    assert value(attempt, "failover.failed") == 3
    assert value(attempt, "failover.tps", label="before") > 0
    assert value(attempt, "failover.tps", label="after") > 0
    assert 0 < value(attempt, "failover.promotion") < value(attempt, "failover.outage")
    [struck] = events(attempt, "failover")
    [promoted] = events(attempt, "promoted")
    last, again = events(attempt, "service")
    assert struck["at_s"] >= 2
    assert last["at_s"] <= promoted["at_s"] < again["at_s"]
    assert again["at_s"] - last["at_s"] == pytest.approx(value(attempt, "failover.outage"), abs=0.002)
    assert sum(attempt.histograms.get().counts) == value(attempt, "transactions")


@pytest.mark.usefixtures("walsender_frozen")
def test_what_the_standby_never_got_is_counted_as_lost(
    measure: Measure, address: Address, postgres_16: InstallationRef
) -> None:
    attempt = measure(**plan(failover="kill", failover_at_s=6))
    assert attempt.error is None, attempt.error
    lost = value(attempt, "ledger.lost")
    assert lost > 100
    old, new = (keys_of(address, postgres_16, attempt, node) for node in ("primary", "standby1"))
    assert {start for start, _, _ in old} == {1}
    gone = old - new
    # what was in flight is in the old primary's data as well, at most one transaction of each client
    assert 0 <= len(gone) - lost <= value(attempt, "failover.failed")
    assert len(new) == value(attempt, "transactions") - lost + value(attempt, "ledger.unacknowledged")
    # the promoted server, by now with a life of its own, is a copy of the primary again
    following = measure(**plan(seconds=2, failover="none"))
    assert following.error is None, following.error
    assert following.notes["standbys"] == {"standby1": "cloned"}
    assert value(following, "ledger.lost") == 0


def test_a_switchover_loses_nothing_and_the_next_trial_copies_the_promoted_server_anew(measure: Measure) -> None:
    requested = plan(standbys=2, failover="stop", promote_after_s=1)
    first = measure(**requested)
    assert first.error is None, first.error
    assert value(first, "ledger.lost") == 0
    assert value(first, "failover.outage") > 1
    [promoted] = events(first, "promoted")
    second = measure(**requested)
    assert second.error is None, second.error
    other = "standby2" if promoted["node"] == "standby1" else "standby1"
    assert second.notes["standbys"] == {promoted["node"]: "cloned", other: "kept"}
    assert value(second, "ledger.lost") == 0


def test_a_primary_that_hangs_is_killed_before_another_takes_its_place_also_by_tcp(measure: Measure) -> None:
    attempt = measure(**plan(failover="hang", promote_after_s=1, synchronous="on", connection="tcp"))
    assert attempt.error is None, attempt.error
    assert value(attempt, "failover.outage") > 1
    assert value(attempt, "ledger.lost") == 0
    assert value(attempt, "failover.failed") == 3


def test_servers_are_found_of_which_some_are_reached_by_socket_and_others_by_tcp(
    measure: Measure, far: Address
) -> None:
    places = {"primary": "live", "client": "live", "standby2": "far"}
    attempt = measure(agents=places, **plan(failover="kill", standbys=2, synchronous="remote_apply"))
    assert attempt.error is None, attempt.error
    assert value(attempt, "ledger.lost") == 0
    assert value(attempt, "failover.tps", label="after") > 0


async def test_a_frozen_server_is_left_to_nobody_when_its_trial_is_ended(
    remote: Remote, postgres_16: InstallationRef
) -> None:
    server = await cluster.ensure(remote, postgres_16, name="frozen")
    words = ("0", "hang", "600", postgres_16.bin_dir, server.data_dir)
    directory = f"{remote.address.work_dir}/jobs/frozen/failover"
    job = await Job.start(remote, directory, ["sh", "-c", failover.STRIKE, "strike", *words], deadline_s=600)
    await remote.script(FROZEN_POSTMASTER, server.data_dir)
    await job.kill()
    left = await remote.script(LEFT, server.data_dir)
    assert left.stdout == ""
    await remote.remove(posixpath.dirname(server.data_dir))
    await remote.remove(posixpath.dirname(directory))


def test_a_ledger_on_a_single_server_has_every_row(measure: Measure) -> None:
    attempt = measure(workload="ledger", warmup_s=1, duration_s=2, parameters={"clients": 2})
    assert attempt.error is None, attempt.error
    assert value(attempt, "ledger.lost") == value(attempt, "ledger.unacknowledged") == 0
    window_s = (attempt.measured_to - attempt.measured_from).total_seconds()
    assert value(attempt, "ledger.tps") == pytest.approx(value(attempt, "transactions") / window_s, rel=1e-4)
    assert not attempt.measurements.filter(metric__name__startswith="failover.").exists()
