"""Whole trials of the capability checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from results import models
from results.queries.capabilities import capability_matrix
from tests.live.trials.conftest import record_access_method, value
from workers import reingest
from workers.workloads.capabilities.finding import all_checks

Measure = Callable[..., models.Attempt]
ABSENT = "The installation has no extension pgstattuple."


def answers(attempt: models.Attempt) -> dict[str, dict[str, Any]]:
    return {document.label: document.content for document in attempt.documents.all()}


@pytest.mark.parametrize("installation", ["16", "18"])
def test_heap_can_do_everything_that_can_be_tried(measure: Measure, installation: str) -> None:
    attempt = measure(workload="capabilities", installation=installation, parameters={"rows": 500}, collectors=[])
    assert attempt.error is None, attempt.error
    found = answers(attempt)
    assert set(found) == {check.name for check in all_checks()}
    others = {name: (one["outcome"], one["message"]) for name, one in found.items() if one["outcome"] != "yes"}
    assert others in ({}, {"pgstattuple": ("unknown", ABSENT)})
    assert all(one["compared"] for name, one in found.items() if name not in others)
    assert value(attempt, "capabilities.yes") == len(found) - len(others)
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


def test_a_check_that_there_is_not_fails_the_trial_before_the_clock(measure: Measure) -> None:
    attempt = measure(workload="capabilities", parameters={"checks": "toast, flying"}, collectors=[])
    assert attempt.error["what"] == "There is no check flying."
    assert attempt.measured_from is None
    assert "index_btree" in attempt.error["todo"]


def test_an_access_method_that_has_gone_since_the_plan_was_made_fails_the_trial_before_the_clock(
    agent: models.Agent, measure: Measure
) -> None:
    record_access_method("zheap")
    attempt = measure(workload="capabilities", access_method="zheap", collectors=[])
    assert attempt.error is not None
    assert "zheap" in str(attempt.error)
    assert attempt.measured_from is None
    assert not attempt.documents.exists()
