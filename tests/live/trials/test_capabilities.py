"""Whole trials of the capability checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from results import ingest, models, runs
from results.domain.states import AttemptState
from results.queries.agents.capabilities import answers_of, capability_matrix
from tests.live.trials.conftest import record_access_method, run_next, start, value
from tests.live.trials.killing import beside, on_agent
from tests.live.trials.test_left_behind import running
from workers import reingest
from workers.bundle import reader
from workers.bundle.manifest import Manifest
from workers.remote.address import Address
from workers.workloads.capabilities.finding import all_checks

Measure = Callable[..., models.Attempt]
FIRST_ANSWERS = Path("tests/data/capabilities/first-answers")
ABSENT = "The installation has no extension pgstattuple."


def answers(attempt: models.Attempt) -> dict[str, dict[str, Any]]:
    return {document.label: document.content for document in attempt.documents.all()}


@pytest.mark.parametrize("installation", ["16", "18"])
def test_heap_can_do_everything_that_can_be_tried(measure: Measure, installation: str) -> None:
    attempt = measure(workload="capabilities", installation=installation, parameters={"rows": 500}, collectors=[])
    assert attempt.error is None, attempt.error
    outcomes = answers(attempt)
    assert set(outcomes) == {check.name for check in all_checks()}
    others = {name: (one["outcome"], one["message"]) for name, one in outcomes.items() if one["outcome"] != "yes"}
    assert others in ({}, {"pgstattuple": ("unknown", ABSENT)})
    assert all(one["compared"] for name, one in outcomes.items() if name not in others)
    assert value(attempt, "capabilities.yes") == len(outcomes) - len(others)
    assert value(attempt, "capabilities.unknown") == len(others)
    assert value(attempt, "check.seconds", label="streaming") > 0


def test_another_access_method_is_on_trial_wherever_a_check_makes_a_table(
    measure: Measure, heap2: Callable[..., None]
) -> None:
    heap2("18")
    names = "index_unique, logical, partitioning, streaming, toast"
    attempt = measure(
        workload="capabilities",
        installation="18",
        access_method="heap2",
        parameters={"rows": 500, "checks": names},
        collectors=[],
    )
    assert attempt.error is None, attempt.error
    assert {name: one["outcome"] for name, one in answers(attempt).items()} == dict.fromkeys(names.split(", "), "yes")
    (build,) = capability_matrix({}).builds
    assert (build.access_method, build.counts["yes"]) == ("heap2", 5)
    [reread] = reingest.reread(None, replace=False)
    assert (reread.differences, reread.error) == ((), None)


def test_files_of_older_checks_are_stored_and_shown_as_they_said(measure: Measure, bundles: Path) -> None:
    attempt = measure(workload="capabilities", parameters={"rows": 500, "checks": "savepoints"}, collectors=[])
    assert attempt.error is None, attempt.error
    files = reader.open_files(bundles / attempt.bundle)
    older = {name: content for name, content in files.items() if not name.startswith("workload/")}
    for path in FIRST_ANSWERS.rglob("*.*"):
        older[f"workload/{path.relative_to(FIRST_ANSWERS)}"] = path.read_bytes()
    ingest.replace(reader.parse(Manifest.from_json(files["manifest.json"].decode()), older), attempt.pk)
    assert (value(attempt, "capabilities.no"), value(attempt, "capabilities.yes")) == (1, 3)
    (build,) = capability_matrix({}).builds
    assert {outcome: count for outcome, count in build.counts.items() if count} == {"yes": 3, "no": 1}
    reported = {answer.capability: (answer.outcome, answer.statement) for answer in answers_of(attempt.pk)}
    assert reported["pgstattuple"] == ("no", "")


def test_an_access_method_that_has_gone_since_the_plan_was_made_fails_the_trial_before_the_clock(
    agent: models.Agent, measure: Measure
) -> None:
    record_access_method("zheap")
    attempt = measure(workload="capabilities", access_method="zheap", collectors=[])
    assert attempt.error is not None
    assert "zheap" in str(attempt.error)
    assert attempt.measured_from is None
    assert not attempt.documents.exists()


_SCRATCH = 'ls -d "$1"/clusters/*+scratch+* 2>/dev/null || true'
_STARTED = """
until [ -s "$(ls -d "$1"/clusters/*+scratch+*/data/postmaster.pid 2>/dev/null | head -n 1)" ]; do sleep 0.05; done
"""


def test_a_cancelled_trial_leaves_none_of_the_servers_of_its_checks(address: Address, agent: models.Agent) -> None:
    run = start(workload="capabilities", installation="16", parameters={"rows": 500}, collectors=[])

    def cancel() -> None:
        on_agent(address, _STARTED, address.data_dir)
        runs.cancel_run(run.pk, "test")

    with beside(cancel):
        attempt = run_next()
    assert attempt.state == AttemptState.CANCELLED
    assert attempt.gaps == []
    assert running(address) == []
    assert on_agent(address, _SCRATCH, address.data_dir) == ""
