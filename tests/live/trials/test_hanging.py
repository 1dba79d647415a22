"""A trial that hangs: it fails at its deadline, says what its sessions waited for, and costs the next one nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from results import models, runs
from results.domain.matrix import InstallationRef, find_installation
from results.domain.measurement.activity import ActivitySample
from results.domain.states import AttemptState
from tests.live.trials.conftest import run_next, start, wait_for
from tests.live.trials.killing import beside, on_agent, query_left
from tests.live.trials.test_left_behind import running
from workers.remote.address import Address

FREEZE = """
for file in "$1"/clusters/*/data/postmaster.pid; do
    [ -s "$file" ] && read -r postmaster <"$file" && [ "/proc/$postmaster/cwd" -ef "${file%/*}" ] || continue
    [ "$2" = postmaster ] && exec kill -s STOP "$postmaster"
    until sessions=$(pgrep -P "$postmaster" -f 'postgres: teiten '); do sleep 0.02; done
    exec kill -s STOP $sessions
done
exit 1
"""


def measured() -> bool:
    return models.Trial.objects.filter(phase="measure").exists()


def test_a_server_left_hanging_by_a_worker_that_died_is_stopped_before_it_is_used(
    agent: models.Agent, address: Address, installations: list[InstallationRef]
) -> None:
    """That worker could not: whoever comes next does, promptly, and says so."""
    for _ in range(2):
        start(duration_s=1, collectors=[])
    assert run_next().error is None
    installation = find_installation("16", installations)
    assert installation is not None
    query_left(address, installation, "", "postgres")
    on_agent(address, FREEZE, address.data_dir, "sessions")
    second = run_next()
    assert second.error is None, second.error
    [named] = [gap for gap in second.gaps if gap["source"] == "server"]
    assert named["reason"].startswith("1 session did not end within 10 s after pg_terminate_backend.")


@pytest.mark.parametrize(("frozen", "done"), [("sessions", "stopped at once"), ("postmaster", "killed")])
def test_a_cancelled_trial_stops_the_server_that_it_leaves_hanging(
    agent: models.Agent, address: Address, frozen: str, done: str
) -> None:
    run = start(duration_s=600, collectors=[])
    start(duration_s=1, collectors=[])

    def hang_and_cancel() -> None:
        wait_for(measured)
        on_agent(address, FREEZE, address.data_dir, frozen)
        runs.cancel_run(run.pk, "test")

    with beside(hang_and_cancel):
        first = run_next()
    assert first.state == AttemptState.CANCELLED
    [named] = [gap for gap in first.gaps if gap["source"] == "server"]
    assert named["node"] == "primary"
    assert f"was {done}." in named["reason"]
    assert running(address) == []  # though a trial waits for the agent
    second = run_next()
    assert second.error is None, second.error
    assert "server" not in {gap["source"] for gap in second.gaps}


def looked_at() -> bool:
    """Whether the running trial is known to make no progress."""
    look = models.Attempt.objects.values_list("notes__look", flat=True).first()
    return bool(look) and ActivitySample.from_json(look).still_since_s is not None


def test_a_query_that_never_ends_fails_the_trial_at_its_deadline_and_is_seen_to_wait(
    agent: models.Agent, settings: Any
) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    settings.TEITEN_OPEN_READING = True
    run = start(
        duration_s=2,
        patience=0.3,
        collectors=[],
        parameters={"script": "custom", "custom_script": "SELECT pg_sleep(600);"},
    )
    start(duration_s=1, collectors=[])
    shown: list[str] = []

    def read() -> None:
        wait_for(looked_at)
        trial = models.Trial.objects.get(run=run)
        shown.extend(Client().get(page).content.decode() for page in (f"/trials/{trial.pk}/", f"/runs/{run.pk}/", "/"))

    with beside(read):
        first = run_next()
    assert first.error is not None
    message = (first.error["kind"], first.error["what"], first.error["phase"])
    assert message == ("deadline", "The phase measure did not end by its deadline of 20.3 s.", "measure")
    assert "pgbench was still running at its deadline" in first.error["why"]
    assert re.search(
        r"No progress since .* primary: 1 session active, waiting for Timeout: PgSleep, since .*: SELECT "
        r"pg_sleep\(600\);",
        first.error["why"],
    )
    assert "patience" in first.error["todo"]
    [stall] = first.notes["stalls"]
    assert stall["phase"] == "measure"
    assert stall["since_s"] < stall["until_s"]
    assert all("No progress since" in page and "Timeout: PgSleep" in page for page in shown)
    second = run_next()
    assert second.error is None, second.error
    assert not {"look", "stalls"} & second.notes.keys()


def test_sessions_that_wait_for_a_lock_are_named_with_it(agent: models.Agent) -> None:
    text = "-- query: locked\nBEGIN; LOCK TABLE locked; SELECT pg_sleep(600); COMMIT;\n"
    setup = "CREATE TABLE locked ();"
    parameters = {"form": "queries", "setup": setup, "text": text, "clients": 3, "deadline_s": 12}
    start(workload="script", data="fresh", collectors=["pg_stat"], parameters=parameters)
    attempt = run_next()
    assert attempt.error is not None
    assert attempt.error["what"] == "The phase measure did not end by its deadline of 12 s."
    assert "primary: 2 sessions active, waiting for Lock: relation" in attempt.error["why"]
    assert "Query locked (client" in attempt.error["why"]
    assert attempt.gaps == []  # the size of the table could be asked for: nobody holds its lock any more


def test_a_server_whose_session_is_frozen_is_gone_after_the_deadline_and_the_next_trial_has_a_new_one(
    agent: models.Agent, address: Address
) -> None:
    start(duration_s=2, patience=0.2, collectors=[])
    start(duration_s=1, collectors=[])

    def hang() -> None:
        wait_for(measured)
        on_agent(address, FREEZE, address.data_dir, "sessions")

    with beside(hang):
        first = run_next()
    assert first.error is not None
    assert (first.error["kind"], first.error["phase"]) == ("deadline", "measure")
    assert "server" in {gap["source"] for gap in first.gaps}
    assert running(address) == []
    second = run_next()
    assert second.error is None, second.error
    assert "server" not in {gap["source"] for gap in second.gaps}
