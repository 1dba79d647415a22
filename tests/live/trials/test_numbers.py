"""What a trial leaves in the warehouse, and that it can be followed and recomputed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results import command_texts, ingest, models
from results.domain.errors import IngestError
from results.domain.matrix import InstallationRef
from results.domain.measurement.parsed_trial import ParsedTrial
from results.domain.states import RunState, TrialState
from tests.live.trials.conftest import run_next, start, value
from tests.series_rows import change_series, stored_series
from workers import reingest
from workers.bundle import reader

Measure = Callable[..., models.Attempt]


def stored(attempt: models.Attempt) -> dict[str, list[Any]]:
    tables = (models.Measurement, models.Series, models.Histogram, models.LayerUse)
    return {table.__name__: list(table.objects.filter(attempt=attempt).values().order_by("pk")) for table in tables}


def test_a_trial_ends_with_its_numbers_and_its_run_is_finished(measure: Measure) -> None:
    attempt = measure()
    assert (attempt.error, attempt.trial.state) == (None, TrialState.DONE)
    assert attempt.trial.attempt_id == attempt.pk
    assert models.Run.objects.get().state == RunState.FINISHED
    assert models.Lease.objects.count() == 0
    seconds = (attempt.measured_to - attempt.measured_from).total_seconds()
    at_work_s = value(attempt, "transactions") / value(attempt, "tps")
    assert at_work_s < seconds
    assert at_work_s + value(attempt, "connection.time") / 1e6 > 1.99
    assert value(attempt, "latency.p50") <= value(attempt, "latency.p99") <= value(attempt, "latency.max")
    assert value(attempt, "cpu.per_transaction", node="primary") > 0
    assert value(attempt, "overhead.seconds") > 0


def test_the_histogram_holds_every_transaction(measure: Measure) -> None:
    attempt = measure(parameters={"clients": 3})
    histogram = attempt.histograms.get(label="")
    assert sum(histogram.counts) == sum(histogram.heat_counts) == value(attempt, "transactions")
    counts = zip(histogram.latencies_us, histogram.counts, strict=True)
    assert value(attempt, "latency.mean") == sum(latency * count for latency, count in counts) / sum(histogram.counts)


def test_the_environment_is_stored_as_layers_once(measure: Measure) -> None:
    first, second = measure(), measure()
    kinds = set(first.layer_uses.values_list("layer__kind", flat=True))
    assert kinds >= {
        "hardware",
        "kernel",
        "storage",
        "build",
        "settings",
        "defaults",
        "access_method",
        "topology",
        "client",
        "data",
    }
    contents = {use.layer.kind: use.layer.content for use in first.layer_uses.select_related("layer")}
    assert contents["defaults"]["shared_buffers"] == "128MB"
    assert contents["client"]["version"].split(".")[0] in ("16", "18")
    assert set(first.layer_uses.values_list("layer", flat=True)) == set(
        second.layer_uses.values_list("layer", flat=True)
    )


def test_a_trial_may_be_driven_by_the_newest_client(measure: Measure, installations: list[InstallationRef]) -> None:
    newest = max(installations, key=lambda one: one.version_num)
    attempt = measure(installation="16", client_programs="newest")
    client = attempt.layer_uses.get(layer__kind="client").layer.content
    build = attempt.layer_uses.get(layer__kind="build").layer.content
    assert (client["version"], client["bin"]) == (newest.version, newest.client_bin)
    assert build["version"].startswith("16")
    run = [
        one["command"]
        for one in command_texts.whole(attempt.pk)
        if one["phase"] == "measure" and "/pgbench " in one["command"]
    ]
    assert run and all(f"{newest.client_bin}/pgbench " in command for command in run)


def test_of_its_agents_programs_a_trial_keeps_those_that_it_used(measure: Measure) -> None:
    attempt = measure(collectors=["sar"])
    uses = attempt.layer_uses.filter(layer__kind="tool").select_related("layer")
    names = {name for use in uses for name in use.layer.content}
    assert "pgpool" in models.Agent.objects.get(name="live").tools
    assert {"sar", "tar", "teiten"} <= names and names.isdisjoint({"pgpool", "perf"})


def test_the_same_bundle_twice_changes_nothing(measure: Measure, bundles: Path) -> None:
    attempt = measure()
    before = stored(attempt)
    archive = ingest.Archive(attempt.bundle, attempt.bundle_sha256, attempt.bundle_bytes or 0)
    assert ingest.store(reader.read(bundles / attempt.bundle), attempt.pk, archive) is False
    assert stored(attempt) == before


def test_a_bundle_of_another_trial_is_refused(measure: Measure, bundles: Path) -> None:
    first, second = measure(), measure()
    with pytest.raises(IngestError, match="The bundle is of trial"):
        ingest.store(reader.read(bundles / first.bundle), second.pk, ingest.Archive("x", "x", 1))


@pytest.mark.smoke
def test_every_number_can_be_rebuilt_from_the_bundle_and_a_changed_one_is_found(measure: Measure) -> None:
    attempt = measure()
    [same] = reingest.reread(None, replace=False)
    assert (same.differences, same.error) == ((), None)
    assert same.measurements == attempt.measurements.count() > 40

    models.Measurement.objects.filter(attempt=attempt, metric_id="tps", label="").update(value=1)
    # Each value is changed: two seconds have one line of progress or two.
    doubled = {one.name: tuple(value * 2 for value in one.values) for one in stored_series(attempt)}
    assert all(doubled["tps"])
    change_series(lambda one: [replace(one, values=doubled["tps"]) if one.name == "tps" else one], pk=attempt.pk)
    models.Histogram.objects.filter(attempt=attempt).update(counts=[1], latencies_us=[1])
    models.Attempt.objects.filter(pk=attempt.pk).update(events=[{"at_s": 0}])
    [reread_bundle] = reingest.reread(None, replace=True)
    assert {(d.table, d.key[0]) for d in reread_bundle.differences} == {
        ("measurement", "tps"),
        ("series", "tps"),
        ("histogram", "client"),
        ("attempt", "events"),
    }
    [mended] = reingest.reread(None, replace=False)
    assert mended.differences == ()


def test_a_damaged_archive_is_reported(measure: Measure, bundles: Path) -> None:
    attempt = measure()
    path = bundles / attempt.bundle
    path.write_bytes(path.read_bytes()[:-10])
    [reread_bundle] = reingest.reread(None, replace=False)
    assert reread_bundle.error is not None
    assert reread_bundle.error.what == "The archive is not the one that was ingested."


def test_ingest_costs_the_same_statements_whatever_was_measured(measure: Measure, bundles: Path) -> None:
    counts = []
    for clients in (1, 4):
        attempt = measure(parameters={"clients": clients})
        models.Attempt.objects.filter(pk=attempt.pk).update(ingested_at=None)
        for table in (models.AttemptValues, models.SeriesGroup, models.Histogram):
            table.objects.filter(attempt=attempt).delete()
        parsed = reader.read(bundles / attempt.bundle)
        with CaptureQueriesContext(connection) as queries:
            ingest.store(parsed, attempt.pk, ingest.Archive(attempt.bundle, attempt.bundle_sha256, 1))
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 12


@pytest.mark.parametrize("data", ["fresh", "template", "reuse"])
@pytest.mark.parametrize("installation", ["16", "18"])
def test_every_data_policy_on_every_version(measure: Measure, data: str, installation: str) -> None:
    attempt = measure(data=data, installation=installation, duration_s=1, parameters={"script": "tpcb-like"})
    assert attempt.error is None
    assert attempt.notes["data"]["policy"] == data
    branches = [check for check in attempt.checks if check["name"] == "pgbench.branches"]
    assert [(check["expected"], check["passed"]) for check in branches] == [("1", True)]


def test_two_runs_share_an_agent_one_trial_at_a_time(agent: models.Agent) -> None:
    start(), start()
    first = run_next()
    assert first.trial.run_id < run_next().trial.run_id


def test_a_bundle_that_now_reads_as_a_failure_no_longer_counts(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = measure(duration_s=1)
    real = reader.read
    error = {"what": "a better parser saw that it failed"}
    monkeypatch.setattr(reader, "read", lambda path: replace(real(path), succeeded=False, error=error))
    [reread_bundle] = reingest.reread(None, replace=False)
    assert [(d.key, d.stored, d.bundle) for d in reread_bundle.differences] == [(("counts",), True, False)]
    list(reingest.reread(None, replace=True))
    trial = models.Trial.objects.get()
    assert (trial.state, trial.attempt_id, trial.error) == (TrialState.FAILED, None, error)
    monkeypatch.undo()
    list(reingest.reread(None, replace=True))
    trial.refresh_from_db()
    assert (trial.state, trial.attempt_id, trial.error) == (TrialState.DONE, attempt.pk, None)


def test_a_bundle_that_cannot_be_read_yet_is_filed_and_read_later(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: Path) -> ParsedTrial:
        raise KeyError("a parser's mistake")

    monkeypatch.setattr(reader, "read", broken)
    attempt = measure(duration_s=1)
    assert (attempt.trial.state, attempt.measurements.count()) == (TrialState.FAILED, 0)
    assert attempt.bundle
    monkeypatch.undo()
    list(reingest.reread(None, replace=True))
    assert models.Trial.objects.get().attempt_id == attempt.pk
    assert attempt.measurements.count() > 40
