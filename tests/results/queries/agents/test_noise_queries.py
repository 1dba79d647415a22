"""What A/A runs say of noise, kept and read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from results import models, noise, runs
from results.domain.statistics.power import detectable
from results.preview import preview
from results.queries.agents.noise import agent_noise, expected_noise, list_noise
from tests import factories
from tests.factories import aa_run
from workers.registry import kinds

pytestmark = pytest.mark.django_db
HERE = {"client": "db1", "primary": "db1"}


def spread_of(run: models.Run, clients: int) -> float:
    """By hand: of the pairs' differences of logarithms, over √2."""
    rows = models.Measurement.objects.filter(run=run, metric="tps").select_related("attempt__trial__configuration")
    logs: dict[str, dict[int, float]] = {"A": {}, "A again": {}}
    for trial, value in ((row.attempt.trial, row.value) for row in rows):
        levels = trial.configuration.levels
        if levels["clients"] == str(clients):
            logs[levels["twin"]][trial.block] = math.log(value)
    differences = [logs["A"][block] - logs["A again"][block] for block in logs["A"]]
    return float(np.std(differences, ddof=1)) / math.sqrt(2)


def test_a_finished_aa_run_keeps_the_spread_of_every_metric_of_each_configuration() -> None:
    run = aa_run(0.02)
    kept = models.Noise.objects.filter(run=run)
    assert {(n.metric_id, n.node) for n in kept} == {
        ("tps", ""),
        ("latency.p99", "client"),
        ("cpu.user", "primary"),
        ("cpu.user", "client"),
    }
    tps = kept.filter(metric="tps").order_by("configuration__index")
    assert [n.spread for n in tps] == pytest.approx([spread_of(run, 1), spread_of(run, 4)])
    assert {n.replicates for n in kept} == {5}


def test_a_usual_run_keeps_nothing() -> None:
    factories.finished_run()
    assert not models.Noise.objects.exists()


def test_a_run_with_too_few_blocks_keeps_nothing_until_blocks_are_added() -> None:
    run = aa_run(0.02, blocks=2)
    assert not models.Noise.objects.exists()
    runs.add_blocks(run.pk, 2, "tests")
    factories.finish_noisily(run, 0.02)
    assert {n.replicates for n in models.Noise.objects.all()} == {4}


def test_keeping_again_stores_the_same() -> None:
    run = aa_run(0.02)
    before = list(models.Noise.objects.values_list("metric", "node", "configuration", "spread"))
    assert noise.store_noise(run.pk) == len(before)
    assert list(models.Noise.objects.values_list("metric", "node", "configuration", "spread")) == before


def test_a_row_names_the_trials_it_was_computed_from(django_assert_num_queries: Any) -> None:
    run = aa_run(0.02)
    ids = list(models.Noise.objects.values_list("pk", flat=True))
    with django_assert_num_queries(1):
        rows = list_noise(ids)
    row = next(row for row in rows if row.metric == "tps" and "clients=4" in row.configuration)
    assert set(row.trial_ids) == set(run.trials.filter(configuration__levels__clients="4").values_list("pk", flat=True))
    assert (row.workload, dict(row.agents)) == ("pgbench", HERE)
    assert row.detectable == pytest.approx(detectable(row.spread, 5))


def test_an_agent_shows_its_latest_aa_run_with_the_first_metric_first(django_assert_num_queries: Any) -> None:
    aa_run(0.05)
    run = aa_run(0.01)
    with django_assert_num_queries(1):
        rows = agent_noise("db1")
    assert {row.run_id for row in rows} == {run.pk}
    assert (rows[0].metric, rows[0].configurations, rows[0].directed) == ("tps", 2, True)
    spreads = [spread_of(run, 1), spread_of(run, 4)]
    assert (rows[0].spread, rows[0].largest) == (pytest.approx(np.median(spreads)), pytest.approx(max(spreads)))
    assert agent_noise("nobody") == []


def test_a_plan_on_the_same_agents_learns_what_its_blocks_show(django_assert_num_queries: Any) -> None:
    run = aa_run(0.02)
    with django_assert_num_queries(1):
        noise = expected_noise("pgbench", "tps", HERE)
    assert noise is not None and noise.run_id == run.pk
    reported = preview(factories.a_plan(replicates=8), kinds())
    assert reported.noise == noise
    assert reported.shown == pytest.approx(detectable(noise.spread, 8))


def test_of_a_metric_without_a_total_the_noisiest_label_counts_and_is_named() -> None:
    run = aa_run(0.02)
    rows = list(models.Noise.objects.filter(run=run, metric="tps"))
    for row in rows:
        for label, factor in (("analyze", 1), ("insert", 3)):
            row.pk, row.node, row.label, row.spread = None, "primary", label, 0.01 * factor
            row.save(force_insert=True)
    models.Noise.objects.filter(run=run, metric="tps", label="").delete()
    noise = expected_noise("pgbench", "tps", HERE)
    assert noise is not None
    assert (noise.node, noise.label, noise.kinds, noise.spread) == ("primary", "insert", 2, pytest.approx(0.03))


def test_other_agents_and_workloads_learn_nothing() -> None:
    aa_run(0.02)
    assert expected_noise("ssb", "tps", HERE) is None
    assert expected_noise("pgbench", "tps", {"client": "db2", "primary": "db1"}) is None
