"""Families are what the rule makes of each configuration, and trends stay bounded however much there is."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results import models
from results.queries.trends import trends
from results.queries.trends.families import MOST_CONFIGURATIONS, TrendSelection, families, followed_runs
from results.queries.trends.trends import trend
from tests import factories, histories

pytestmark = pytest.mark.django_db

# The rule as it was when it was applied to all configurations of all runs for each trend.
RULE = """
SELECT configuration.id, (
    SELECT jsonb_object_agg(key, coalesce(nullif(
        CASE jsonb_typeof(value)
            WHEN 'number' THEN trim_scale((value #>> '{}')::numeric)::text
            ELSE value #>> '{}'
        END, ''), 'default'))
    FROM jsonb_each(
        (configuration.levels || configuration.dimensions || jsonb_build_object(
            'installation',
            coalesce(configuration.levels ->> 'installation', configuration.dimensions ->> 'major'),
            'teiten', CASE
                WHEN source.run_id IS NULL THEN 'this'
                ELSE coalesce(nullif(source.address, ''), 'of run ' || configuration.run_id)
            END
        )) - ARRAY['run', 'version', 'major']
    )
)::text
FROM results_configuration AS configuration
LEFT JOIN results_runimport AS source ON source.run_id = configuration.run_id
ORDER BY configuration.id
"""
# A warehouse of 300 runs of one plan and 300 of others, by copies of one run.
GROWTH = """
INSERT INTO results_run (plan_id, name, workload, headline, toml, factors, plan_hash, seed, blocks, state, created_at,
    started_at, standing)
SELECT CASE WHEN n % 2 = 0 THEN plan_id END, name, workload, headline, '', factors, '', 1, 2, state, created_at,
    started_at + n * interval '1 hour', 'kept'
FROM results_run, generate_series(1, 600) AS n;

INSERT INTO results_configuration (run_id, index, name, levels, spec, dimensions)
SELECT run.id, n, n::text, jsonb_build_object('clients', n::text), '{}',
    dimensions || jsonb_build_object('clients', n, 'version', '18.' || run.id % 7)
FROM results_run AS run, results_configuration AS first, generate_series(0, 9) AS n
WHERE run.toml = '';

INSERT INTO results_trial (run_id, configuration_id, block, position, agents, state, state_at, attempts_made, phase)
SELECT run_id, id, block, 10 * block + index, '{1}', 'done', now(), 1, ''
FROM results_configuration, generate_series(1, 2) AS block WHERE spec = '{}';

INSERT INTO results_attempt (run_id, trial_id, number, state, worker, started_at, bundle, bundle_sha256, environment,
    phases, commands, checks, files, events, gaps, notes)
SELECT run_id, id, 1, 'done', '', now() + run_id * interval '1 hour', '', '', '',
    '[]', '[]', '[]', '[]', '[]', '[]', '{}'
FROM results_trial WHERE phase = '' AND attempt_id IS NULL;

UPDATE results_trial SET attempt_id = attempt.id FROM results_attempt AS attempt
WHERE attempt.trial_id = results_trial.id AND results_trial.attempt_id IS NULL;

INSERT INTO results_attemptvalues (run_id, attempt_id, measures, values)
SELECT run_id, attempt_id, ARRAY[(SELECT id FROM results_measure WHERE (metric_id, node, label) = ('tps', '', ''))],
    ARRAY[1000 + id % 17]
FROM results_trial WHERE run_id IN (SELECT id FROM results_run WHERE toml = '');

ANALYZE
"""
LARGE = ("configuration", "trial", "attempt", "attemptvalues")


@pytest.fixture
def grown() -> list[int]:
    """Kept runs of the plan nightly, the newest first, among as many others: 10 configurations of 2 replicates each."""
    histories.months(histories.nightly(), [8000.0])
    with connection.cursor() as cursor:
        for statement in GROWTH.split(";\n"):
            cursor.execute(statement)
    return list(models.Run.objects.filter(plan__name="nightly").order_by("-pk").values_list("pk", flat=True))


def by_the_rule() -> dict[int, dict[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(RULE)
        return {number: json.loads(texts) for number, texts in cursor.fetchall()}


def imported(run: models.Run, address: str) -> None:
    models.RunImport.objects.create(
        run=run, archive_sha256=f"{run.pk:064}", archive_bytes=1, teiten="1", address=address, source_run=1, actor="ada"
    )


def test_families_are_those_that_the_rule_makes_of_every_configuration() -> None:
    histories.over_versions()
    histories.months(histories.nightly(), [8000.0, 8100.0], version="18.1")
    newest = histories.months(histories.nightly(name="longer", duration_s=60), [8100.0] * 3, version="18.2")
    imported(newest[0], "https://teiten.example")
    imported(newest[1], "")
    odd = models.Configuration.objects.filter(run=newest[2]).get()
    odd.dimensions |= {"clients": 8.0, "note": "", "jit": None, "ratio": 1e-7, "flag": True}
    odd.save(update_fields=["dimensions"])
    groups: dict[str, set[int]] = {}
    for number, texts in by_the_rule().items():
        groups.setdefault(json.dumps(texts, sort_keys=True), set()).add(number)
    known = families([run.pk for run in models.Run.objects.order_by("-pk")])
    assert {json.dumps(dict(one.texts), sort_keys=True): set(one.configurations) for one in known} == groups
    assert len({one.key for one in known}) == len(known) == len(groups) >= 6
    odd_family = next(one for one in known if odd.pk in one.configurations)
    shown = {name: odd_family.level(name) for name in ("clients", "note", "jit", "ratio", "flag", "teiten")}
    assert shown == {
        "clients": "8",
        "note": "default",
        "jit": "default",
        "ratio": "0.0000001",
        "flag": "true",
        "teiten": "this",
    }


def test_a_familys_counts_are_of_trials_that_are_done() -> None:
    first, second = histories.months(histories.nightly(), [8000.0, 8100.0])
    factories.fail(second.trials.first())
    [family] = families([second.pk, first.pk])
    assert (family.done, family.newest_run, family.factors) == (5, second.pk, ())


def test_neither_private_nor_archived_runs_are_followed() -> None:
    first, second, third = histories.months(histories.nightly(), [8000.0, 8100.0, 8200.0])
    models.Run.objects.filter(pk=second.pk).update(archived=True)
    models.Run.objects.filter(pk=third.pk).update(standing="exploratory", private=True)
    followed = followed_runs(TrendSelection(plan="nightly"))
    assert (followed.ids, followed.kept, followed.exploratory) == ((first.pk,), 1, 0)


def test_the_newest_runs_are_shown_and_earlier_ones_page_by_page(monkeypatch: Any) -> None:
    made = [run.pk for run in histories.months(histories.nightly(), [8000.0] * 5)]
    monkeypatch.setattr(trends, "MOST_VALUES", 7)
    pages: list[list[int]] = []
    before: int | None = None
    while not pages or before:
        shown = trend(TrendSelection(plan="nightly", before=before))
        pages.append([int(level) for level in shown.levels])
        assert (shown.kept, shown.runs) == (5, len(pages[-1]))
        before = shown.earlier
    assert pages == [made[3:], made[1:3], made[:1]]


def test_a_run_is_shown_whole_though_it_has_more_values_than_a_trend_shows(monkeypatch: Any) -> None:
    first, second = histories.months(histories.nightly(), [8000.0] * 2)
    monkeypatch.setattr(trends, "MOST_VALUES", 2)
    shown = trend(TrendSelection(plan="nightly"))
    assert ([point.n for line in shown.lines for point in line.points], shown.earlier) == ([3], second.pk)
    earlier = trend(TrendSelection(plan="nightly", before=second.pk))
    assert (earlier.levels, earlier.earlier) == ((str(first.pk),), None)


def test_a_line_goes_back_further_than_the_runs_whose_families_are_known(grown: list[int]) -> None:
    """100 runs of 10 configurations are as many as are looked at for what there is to choose from."""
    shown = trend(TrendSelection(plan="nightly", filters={"clients": ("3",)}))
    facet = next(facet for facet in shown.facets if facet.name == "clients")
    assert dict(facet.values)["3"] == 2 * MOST_CONFIGURATIONS // 10
    [line] = shown.lines
    assert [point.runs[0] for point in line.points][::-1] == grown[:-1]  # the first measured 8 clients
    assert (shown.kept, shown.runs, shown.earlier) == (301, 301, None)


def test_no_query_of_a_trend_scans_a_large_table_or_sorts_on_disk(grown: list[int], monkeypatch: Any) -> None:
    """With limits that are to these 6,000 configurations what the real ones are to a large warehouse."""
    monkeypatch.setattr("results.queries.trends.families.MOST_CONFIGURATIONS", 50)
    monkeypatch.setattr("results.queries.trends.families.MOST_RUNS", 20)
    monkeypatch.setattr("results.queries.trends.trends.MOST_RUNS", 20)
    for selection in (
        TrendSelection(plan="nightly"),
        TrendSelection(workload="pgbench", x="version", series="clients"),
    ):
        with CaptureQueriesContext(connection) as queries:
            trend(selection)
        texts = [query["sql"] for query in queries]
        assert len(texts) <= 5
        with connection.cursor() as cursor:
            for text in texts:
                cursor.execute(f"EXPLAIN (ANALYZE, FORMAT TEXT) {text}")
                plan = "\n".join(line for (line,) in cursor.fetchall())
                assert not re.search(rf"Seq Scan on results_(?:{'|'.join(LARGE)})\b", plan), plan
                assert "external" not in plan, plan
                assert all(int(rows) <= 1_000 for rows in re.findall(r"actual time=\S+ rows=(\d+)", plan)), plan


def test_a_configuration_that_is_made_knows_its_family() -> None:
    histories.months(histories.nightly(), [8000.0] * 2)
    [first, second] = models.Configuration.objects.order_by("pk")
    assert first.family == second.family
    first.levels |= {"clients": "9"}
    first.save(update_fields=["levels"])
    first.refresh_from_db()
    assert first.family == second.family  # a dimension overrides its level's label
    first.dimensions |= {"clients": 9}
    first.save(update_fields=["dimensions"])
    first.refresh_from_db()
    assert first.family != second.family
