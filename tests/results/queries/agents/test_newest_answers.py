"""Which answers to the checks of capabilities are the newest that count, whatever happens to their runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from results import ingest, models
from results.domain.measurement.parsed_trial import Document
from results.domain.states import Standing, TrialState
from results.queries.shared.run_filter import RunFilter
from tests import factories
from tests.newest_answers import newest_answers

pytestmark = pytest.mark.django_db


def answers(runs: RunFilter | None = None) -> dict[str, tuple[int, str]]:
    """Capability → (trial, outcome)."""
    return {row.capability: (row.trial_id, row.outcome) for row in newest_answers(runs=runs or RunFilter())}


def test_a_newer_trial_with_fewer_checks_leaves_the_other_answers() -> None:
    older = factories.capability_run({"toast": "no", "vacuum": "no"})
    newer = factories.capability_run({"toast": "yes"})
    assert answers() == {"toast": (newer.pk, "yes"), "vacuum": (older.pk, "no")}


@pytest.mark.parametrize(
    "change",
    [{"standing": Standing.EXCLUDED}, {"private": True}, {"archived": True}],
    ids=lambda change: next(iter(change)),
)
def test_the_answer_before_is_the_newest_again(change: dict[str, object]) -> None:
    older, newer = (factories.capability_run({"toast": outcome}) for outcome in ("no", "yes"))
    run = models.Run.objects.filter(pk=newer.run_id)
    assert answers() == {"toast": (newer.pk, "yes")}
    before = run.values("standing", "private", "archived").get()
    run.update(**{"standing": Standing.EXPLORATORY} | change)
    assert answers() == {"toast": (older.pk, "no")}
    run.update(**before)
    assert answers() == {"toast": (newer.pk, "yes")}


def test_a_run_that_is_removed_or_a_trial_that_no_longer_counts_answers_nothing() -> None:
    older, failed, removed = (factories.capability_run({"toast": outcome}) for outcome in ("no", "partly", "yes"))
    models.Run.objects.filter(pk=removed.run_id).delete()
    assert answers() == {"toast": (failed.pk, "partly")}
    models.Trial.objects.filter(pk=failed.pk).update(state=TrialState.FAILED, attempt=None)
    assert answers() == {"toast": (older.pk, "no")}
    assert models.CheckedBuild.objects.count() == 2


def test_a_filter_finds_older_answers() -> None:
    older, newer = (factories.capability_run({"toast": outcome}) for outcome in ("no", "yes"))
    models.Run.objects.filter(pk=older.run_id).update(tags=["paper"])
    assert answers() == {"toast": (newer.pk, "yes")}
    assert answers(RunFilter(tags=("paper",))) == {"toast": (older.pk, "no")}
    assert answers(RunFilter(tags=("none",))) == {}


def test_answers_are_those_that_ingest_stored_last() -> None:
    trial = factories.run(
        workload="capabilities", parameters={}, factors={}, replicates=1, installation="16"
    ).trials.get()
    attempt = factories.finish(trial, 1.0, documents=(answer("toast", "no"), answer("vacuum", "yes")))
    assert answers() == {"toast": (trial.pk, "no"), "vacuum": (trial.pk, "yes")}
    ingest.replace(replace(factories.parsed(trial, 1, 1.0), documents=(answer("toast", "partly"),)), attempt.pk)
    assert answers() == {"toast": (trial.pk, "partly")}
    ingest.replace(factories.parsed(trial, 1, 1.0), attempt.pk)
    assert not models.CheckedBuild.objects.exists()


def answer(capability: str, outcome: str) -> Document:
    texts = {"title": capability, "group": "Storage", "message": "", "compared": ""}
    content = {**texts, "access_method": "heap", "order": 0, "outcome": outcome, "seconds": 0.5}
    return Document("capability", capability, content, "primary")
