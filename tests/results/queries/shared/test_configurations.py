"""What is kept of configurations between questions is never older than the warehouse."""

from __future__ import annotations

import pytest

from results import models
from results.queries.comparison.compare import compare
from results.queries.shared.configurations import configurations
from results.queries.shared.facets import passing
from results.queries.shared.selection import Selection
from tests import factories

pytestmark = pytest.mark.django_db


def levels(run: models.Run, name: str) -> list[str]:
    return [row.level(name) for row in configurations([run.pk])]


def test_a_configuration_that_is_written_anew_is_read_again() -> None:
    run = factories.finished_run()
    assert set(levels(run, "mark")) == {"default"}
    changed = run.configurations.first()
    for mark in ("one", "two", "one"):
        changed.dimensions["mark"] = mark
        changed.save()
        assert sorted(set(levels(run, "mark"))) == ["default", mark]


def test_configurations_that_come_or_go_are_noticed() -> None:
    run = factories.finished_run()
    before = len(configurations([run.pk]))
    last = run.configurations.last()
    models.Configuration.objects.create(
        run=run, index=last.index + 1, name="more", levels={}, spec=last.spec, dimensions={"mark": "more"}
    )
    assert levels(run, "mark") == ["default"] * before + ["more"]
    run.configurations.filter(name="more").delete()
    assert levels(run, "mark") == ["default"] * before


def test_states_of_trials_are_those_of_now() -> None:
    run = factories.finished_run()
    first = configurations([run.pk])[0]
    models.Trial.objects.filter(configuration_id=first.id).update(state="failed", attempt=None)
    again = configurations([run.pk])[0]
    assert (again.done, again.failed, again.trials) == (0, first.done, first.trials)


def test_several_runs_are_one_table() -> None:
    runs = [factories.finished_run(factors={"clients": of}, installation="16") for of in ([1, 2], [2, 8])]
    rows = configurations([run.pk for run in reversed(runs)])
    assert [row.level("clients") for row in rows] == ["1", "2", "2", "8"]
    some = passing(rows, {"clients": ("2",)})
    assert [(row.run_id, row.level("clients"), row.done) for row in some] == [(run.pk, "2", 2) for run in runs]


@pytest.mark.parametrize("runs", [(), (99999,)])
def test_of_no_configurations_nothing_passes_a_filter(runs: tuple[int, ...]) -> None:
    comparison = compare(Selection(runs, filters={"clients": ("1",)}))
    assert (list(comparison.points), comparison.facets, comparison.excluded["without"]) == ([], (), 0)
