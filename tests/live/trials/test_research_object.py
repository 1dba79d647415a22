"""A run that was really measured leaves the warehouse and enters it again with the same numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from results import models
from results.queries.comparison.compare import compare
from results.queries.shared.selection import Selection
from tests.live.trials.conftest import run_next, start
from tests.measured_runs import forget, numbers, record
from workers import reingest


def medians(run: models.Run) -> list[object]:
    comparison = compare(Selection((run.pk,), x="clients", series="installation", metric="tps"))
    assert comparison.points
    return [(p.x, p.series, p.verdict, [r.value for r in p.values]) for p in comparison.points]


@pytest.mark.smoke
def test_every_number_of_a_measured_run_is_the_same_where_it_is_imported(
    agent: models.Agent, bundles: Path, tmp_path: Path
) -> None:
    run = start(replicates=2, factors={"clients": [1, 2]}, duration_s=1)
    for _ in range(4):
        assert run_next().error is None
    run.refresh_from_db()
    before = (numbers(run), record(run), medians(run))
    assert len(before[0]["Measurement"]) > 160 and len(before[0]["Series"]) > 40 and len(before[0]["Histogram"]) == 4
    archive = tmp_path / "run.zip"
    call_command("export_run", run.pk, to=archive)
    forget(run)

    call_command("import_run", archive)
    imported = models.Run.objects.get()
    assert imported.pk != run.pk
    assert (numbers(imported), record(imported), medians(imported)) == before
    assert [attempt.differences for attempt in reingest.reread(imported.pk, replace=False)] == [()] * 4
    assert models.Lease.objects.count() == 0
