"""Series and histograms lie in partitions of a thousand runs each, which are there before anything is stored."""

from __future__ import annotations

import psycopg
import pytest
from django.db import connection

from results import models, ranges
from results.queries.runs.trials import histograms_of, series_of
from tests import factories
from tests.conftest import RUNS_OF_TESTS, surrounding
from workers import tasks
from workers.app import app

FAR = RUNS_OF_TESTS * 2  # a run that no partition is there for
TABLES = ("results_packedhistogram", "results_seriesgroup")


def partitions(first_run: int) -> list[str]:
    """Which tables have a partition for a range of runs."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid = ANY("
            " SELECT to_regclass(parent || '_from_' || %s) FROM unnest(%s::text[]) AS parent) ORDER BY 1",
            [first_run, list(TABLES)],
        )
        return [name for (name,) in cursor.fetchall()]


def stored_in(run: models.Run) -> set[str]:
    """The partitions that have rows of a run."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tableoid::regclass::text FROM results_seriesgroup WHERE run_id = %(run)s"
            " UNION SELECT tableoid::regclass::text FROM results_packedhistogram WHERE run_id = %(run)s",
            {"run": run.pk},
        )
        return {name for (name,) in cursor.fetchall()}


def next_run_is(number: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('results_run', 'id'), %s, false)", [number])


@pytest.fixture
def _numbers_go_on(db: None) -> object:
    """A sequence is not rolled back: later tests have the numbers that they would have had."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM results_run_id_seq")
        [last] = cursor.fetchone()
        yield
        cursor.execute("SELECT setval('results_run_id_seq', %s)", [last])


@pytest.mark.usefixtures("_numbers_go_on")
def test_a_run_whose_range_has_no_partition_gets_one_with_it() -> None:
    assert partitions(FAR) == []
    next_run_is(FAR + 999)
    first, second = factories.run(), factories.run()
    assert (first.pk, second.pk) == (FAR + 999, FAR + 1000)
    for run, number in ((first, FAR), (second, FAR + 1000)):
        trial = run.trials.select_related("configuration").first()
        attempt = factories.finish(trial)
        assert stored_in(run) == {f"{table}_from_{number}" for table in TABLES}
        assert series_of(run.pk, attempt.pk)
        assert histograms_of(run.pk, attempt.pk)
    first.delete()
    assert stored_in(first) == set()
    assert len(stored_in(second)) == 2


@pytest.mark.usefixtures("_numbers_go_on")
def test_the_range_of_the_newest_run_and_the_next_one_are_made_ahead() -> None:
    next_run_is(FAR + 10)
    factories.run()
    assert partitions(FAR + 1000) == []
    tasks.make_ranges()
    assert partitions(FAR + 1000) == list(TABLES)
    assert partitions(FAR + 2000) == []
    assert not ranges.make_ahead()
    assert "workers.tasks.make_ranges" in {entry["task"] for entry in app.conf.beat_schedule.values()}


@pytest.mark.usefixtures("_numbers_go_on")
def test_what_is_asked_of_one_run_is_read_from_one_partition() -> None:
    next_run_is(FAR)
    run = factories.run()
    with connection.cursor() as cursor:
        for table in (*TABLES, "results_series", "results_histogram"):
            cursor.execute(f"EXPLAIN SELECT * FROM {table} WHERE run_id = %s AND attempt_id = 1", [run.pk])
            plan = "\n".join(line for (line,) in cursor.fetchall())
            assert f"_from_{FAR}" in plan
            assert plan.count("_from_") == plan.count(f"_from_{FAR}")


@pytest.mark.django_db(transaction=True)
def test_making_ahead_gives_up_where_something_is_being_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "RUNS", FAR)  # the next range is one that is not there
    with psycopg.connect(own_database()) as other:
        other.execute("LOCK TABLE results_attempt IN ROW EXCLUSIVE MODE")
        assert not ranges.make_ahead()
        assert partitions(FAR) == []
    try:
        assert ranges.make_ahead()
        assert partitions(FAR) == list(TABLES)
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {', '.join(f'{table}_from_{FAR}' for table in TABLES)}")


def own_database() -> str:
    """The address of the tests' own database."""
    return f"{surrounding('TEITEN_DATABASE_URL').rpartition('/')[0]}/{connection.settings_dict['NAME']}"
