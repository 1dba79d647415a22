"""How PostgreSQL answers what must not take longer as the warehouse grows: the plans, whatever they take in time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from bench.growth import fill
from results import models, sql
from results.checked_builds import store_checked_builds
from results.queries.agents.agents import agent_detail
from results.queries.comparison.freshness import freshness
from results.queries.operation import operation
from tests import factories
from workers.lease import expired

TRIALS = 6000


@pytest.fixture
def grown(db: None) -> None:
    fill(TRIALS)
    sql.execute("ANALYZE")


def joined_without_an_index(ask: Callable[[], object]) -> list[str]:
    """The statements that are planned to compare each row of one table with each of another."""
    found = []

    def explain(execute: Callable[..., Any], query: str, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
        if query.lstrip().startswith(("INSERT", "UPDATE")):
            cursor = context["cursor"].connection.cursor()
            cursor.execute(f"EXPLAIN (FORMAT JSON) {query}", params)
            if any("Join Filter" in node for node in nodes(cursor.fetchone()[0][0]["Plan"])):
                found.append(query)
        return execute(query, params, many, context)

    with connection.execute_wrapper(explain):
        ask()
    return found


@pytest.mark.django_db(transaction=True)
def test_a_warehouse_is_filled_in_linear_time_where_its_tables_were_analyzed_without_rows() -> None:
    with transaction.atomic():
        fill(4000)
        transaction.set_rollback(True)
    sql.execute("VACUUM (TRUNCATE off, ANALYZE)")
    with transaction.atomic():
        assert joined_without_an_index(lambda: fill(4000)) == []
        transaction.set_rollback(True)


def plan_of(ask: Callable[[], object], words: str) -> Mapping[str, Any]:
    """Of the first query that has these words."""
    with CaptureQueriesContext(connection) as captured:
        ask()
    query = next(one["sql"] for one in captured.captured_queries if words in one["sql"])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query.replace('%', '%%')}")
        plan_text = cursor.fetchone()[0]
    return (json.loads(plan_text) if isinstance(plan_text, str) else plan_text)[0]["Plan"]


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def rows_read(plan: Mapping[str, Any], table: str) -> int:
    """Of a table, those that a filter then threw away included."""
    read = [node for node in nodes(plan) if node.get("Relation Name") == table]
    assert read
    return sum(node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) for node in read)


def test_the_reaper_reads_running_attempts_only(grown: None) -> None:
    running = list(models.Attempt.objects.filter(state="running").values_list("pk", flat=True))
    assert sorted(expired(timezone.now())) == sorted(running)
    plan = plan_of(lambda: expired(timezone.now()), '"results_attempt"."state" = ')
    assert "attempt_running" in [node.get("Index Name") for node in nodes(plan)]
    assert rows_read(plan, "results_attempt") == len(running) == 10


def test_an_agents_latest_trials_come_in_order_from_an_index(grown: None) -> None:
    plan = plan_of(lambda: agent_detail("db1"), '."agents" @> ')
    (index,) = [node for node in nodes(plan) if node.get("Index Name") == "trial_by_time"]
    assert index["Node Type"] == "Index Only Scan"  # of an agent that has long been idle it reads all of it
    assert index["Actual Rows"] == 20 and index["Rows Removed by Filter"] < TRIALS / 2
    assert not [node for node in nodes(plan) if node["Node Type"] == "Seq Scan" and node["Actual Rows"] > TRIALS / 10]


def test_what_a_comparison_depends_on_is_found_without_all_runs_of_its_plan(db: None) -> None:
    run, other = factories.finished_run(stored=factories.stored_plan()), factories.finished_run()
    columns = ", ".join(f'"{field.column}"' for field in models.Run._meta.concrete_fields if field.column != "id")
    sql.execute(
        f"INSERT INTO results_run ({columns}) SELECT {columns} FROM results_run CROSS JOIN generate_series(1, 400)"
    )
    before = timezone.now() - timedelta(days=1)
    models.Run.objects.filter(pk__gt=other.pk).update(started_at=before, ended_at=before)
    sql.execute("ANALYZE results_run")
    plan = plan_of(lambda: freshness([run.pk, other.pk]), "What comparisons depend on")
    read = sum(rows_read(part, "results_run") for part in nodes(plan) if part.get("Subplan Name") == "CTE beside")
    assert 0 < read < 40


def test_a_page_of_measurements_reads_no_more_than_a_page(grown: None, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    assert len(Client().get("/api/v1/measurements/").json()["results"]) == 200
    plan = plan_of(lambda: Client().get("/api/v1/measurements/"), "results_measurement")
    sorts = [node for node in nodes(plan) if "Sort" in node["Node Type"]]  # of the values of each attempt
    assert [(node["Node Type"], node["Presorted Key"]) for node in sorts] == [
        ("Incremental Sort", ["stored.attempt_id"])
    ]
    assert rows_read(plan, "results_attemptvalues") <= 100  # attempts of four values


def test_a_page_of_a_runs_measurements_reads_no_more_than_the_run(grown: None, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    path = f"/api/v1/measurements/?run={TRIALS // 200}"
    assert len(Client().get(path).json()["results"]) == 200
    plan = plan_of(lambda: Client().get(path), "results_measurement")
    assert rows_read(plan, "results_attemptvalues") <= 100


def test_a_scrape_reads_what_ended_in_the_last_hour_and_what_runs(db: None) -> None:
    fill(5 * TRIALS)  # where all attempts lie on a hundred pages, PostgreSQL rightly reads them all
    now = timezone.now()
    ended = plan_of(lambda: operation.ended_attempts(now), "percentile_cont")
    assert 0 < rows_read(ended, "results_trial") <= 60
    assert 0 < rows_read(ended, "results_attempt") <= 70
    phases = plan_of(lambda: operation.phase_durations(now), "jsonb_to_recordset")
    assert 0 < rows_read(phases, "results_trial") <= 60
    running = plan_of(operation.running_attempts, "left_at IS NOT NULL")
    assert "attempt_running" in [node.get("Index Name") for node in nodes(running)]
    queued = plan_of(operation.queued_trials, "'scheduled'")
    assert not [node for node in nodes(queued) if node.get("Relation Name") == "results_trial" and node["Actual Rows"]]


def test_what_attempts_checked_is_stored_without_reading_others(db: None) -> None:
    fill(5 * TRIALS)
    sql.execute("UPDATE results_attempt SET measured_from = started_at")
    sql.execute(
        "INSERT INTO results_document (run_id, attempt_id, kind, node, label, content)"
        " SELECT run_id, id, 'capability', 'primary', label::text, jsonb_build_object('access_method', 'heap')"
        " FROM (SELECT * FROM results_attempt ORDER BY id DESC LIMIT 500) AS newest"
        " CROSS JOIN generate_series(1, 40) AS label"
    )
    sql.execute("ANALYZE")
    attempts = list(models.Document.objects.values_list("attempt", flat=True).distinct())

    def stored_and_removed() -> None:
        store_checked_builds(attempts)
        assert models.CheckedBuild.objects.count() == 500
        models.CheckedBuild.objects.all().delete()

    plan = plan_of(stored_and_removed, "INSERT INTO results_checkedbuild")
    assert rows_read(plan, "results_attempt") == 500
    assert rows_read(plan, "results_trial") == 500
