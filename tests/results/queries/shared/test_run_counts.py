"""The counts of runs, which triggers keep: right after whatever happens to runs, and nobody waits for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from results import models, run_counts, sql
from results.domain.states import Standing
from results.queries.runs.plans import list_plans, plan_detail
from results.queries.shared.run_filter import Archived, RunFilter, count_runs, kept_runs, run_filter_choices
from results.queries.trends.families import MOST_RUNS, TrendSelection, followed_runs
from results.queries.trends.trends import followed
from results.viewer import Viewer, read_as
from tests import factories
from tests.query_plans import plan_of
from tests.results.test_ranges import own_database
from tests.run_counts import kept_counts, right_counts


def publish(run: models.Run, program: str = "") -> None:
    """Make a run one of published figures, or one that was imported from another program's results."""
    publication = models.Publication.objects.create(
        slug=f"figures-{run.pk}", title="Figures", publisher="a magazine", year=2020, program=program
    )
    models.Run.objects.filter(pk=run.pk).update(publication=publication, plan=None)


@pytest.fixture
def runs() -> list[models.Run]:
    """Two of one plan, one of another, and two without any."""
    nightly = factories.stored_plan(name="nightly")
    other = factories.stored_plan(name="weekly")
    of_plans = [
        factories.run(stored=nightly),
        factories.run(stored=nightly),
        factories.run(stored=other, name="own name"),
    ]
    return [*of_plans, factories.run(name="by hand"), factories.run(name="by hand")]


_CHANGES: dict[str, Callable[[list[models.Run]], object]] = {
    "nothing": lambda runs: None,
    "a state": lambda runs: models.Run.objects.update(state="running"),
    "a standing": lambda runs: models.Run.objects.filter(pk__lte=runs[1].pk).update(standing=Standing.EXPLORATORY),
    "standings of some, then of all": lambda runs: [
        models.Run.objects.filter(pk=runs[0].pk).update(standing=Standing.EXCLUDED),
        models.Run.objects.update(standing=Standing.EXPLORATORY),
    ],
    "tags": lambda runs: models.Run.objects.filter(pk=runs[3].pk).update(tags=["paper", "talk"]),
    "agents": lambda runs: models.Run.objects.filter(pk=runs[3].pk).update(agents=[7, 8]),
    "archived": lambda runs: models.Run.objects.filter(pk=runs[2].pk).update(archived=True),
    "private": lambda runs: models.Run.objects.update(standing=Standing.EXPLORATORY, private=True),
    "published": lambda runs: publish(runs[3]),
    "imported": lambda runs: publish(runs[3], "sysbench"),
    "a plan deleted": lambda runs: models.Plan.objects.get(name="nightly").delete(),
    "a run deleted": lambda runs: models.Run.objects.get(pk=runs[0].pk).delete(),
    "all deleted": lambda runs: models.Run.objects.all().delete(),
}


@pytest.mark.django_db
@pytest.mark.parametrize("change", _CHANGES)
def test_counts_are_right_after_whatever_happens_to_runs(change: str, runs: list[models.Run]) -> None:
    assert len(kept_counts()) == 3
    _CHANGES[change](runs)
    assert kept_counts() == right_counts()
    assert all(runs_of_kind > 0 for runs_of_kind in models.RunCount.objects.values_list("runs", flat=True))


@pytest.mark.django_db
def test_what_is_taken_back_changes_no_count(runs: list[models.Run]) -> None:
    before = kept_counts()
    with transaction.atomic():
        models.Run.objects.update(standing=Standing.EXCLUDED)
        assert kept_counts() != before
        transaction.set_rollback(True)
    assert kept_counts() == before == right_counts()


def without_triggers(change: Callable[[], object]) -> None:
    sql.execute("SET session_replication_role = replica")
    change()
    sql.execute("SET session_replication_role = origin")


@pytest.mark.django_db
@pytest.mark.parametrize("change", [name for name in _CHANGES if name not in ("nothing", "a state")])
def test_counts_that_triggers_did_not_keep_are_found_and_mended(change: str, runs: list[models.Run]) -> None:
    assert (run_counts.miscounted(), run_counts.mend()) == (0, 0)
    without_triggers(lambda: _CHANGES[change](runs))
    wrong = run_counts.miscounted()
    assert wrong > 0
    assert kept_counts() != right_counts()
    assert run_counts.mend() == wrong
    assert run_counts.miscounted() == 0
    assert all(runs_of_kind > 0 for runs_of_kind in models.RunCount.objects.values_list("runs", flat=True))
    assert kept_counts() == right_counts()


@pytest.mark.django_db
def test_doctor_says_that_counts_are_wrong_and_the_command_mends_them(runs: list[models.Run]) -> None:
    assert "ok    warehouse: the counts of runs are right\n" in doctor_of_warehouse()
    assert printed("count_runs") == "All counts are right.\n"
    without_triggers(lambda: models.Run.objects.filter(pk=runs[2].pk).update(archived=True))
    wrong = "counts of runs are wrong (2), and so is what lists say: manage.py count_runs"
    assert f"mend  warehouse: {wrong}\n" in doctor_of_warehouse()
    assert printed("count_runs") == "2 counts of runs were wrong, and are right now.\n"
    assert "ok    warehouse: the counts of runs are right\n" in doctor_of_warehouse()


def doctor_of_warehouse() -> str:
    output = StringIO()
    with suppress(CommandError):  # of what else is to be mended in the tests' warehouse
        call_command("doctor", "--part", "warehouse", stdout=output)
    return output.getvalue()


def printed(command: str) -> str:
    output = StringIO()
    call_command(command, stdout=output)
    return output.getvalue()


@pytest.mark.django_db(transaction=True)
def test_counts_are_mended_after_whoever_is_changing_a_run_has_done(runs: list[models.Run]) -> None:
    """Else what is not committed yet would be counted twice: as a difference, and by its trigger."""
    with psycopg.connect(own_database()) as other:
        other.execute("UPDATE results_run SET archived = true WHERE id = %s", [runs[2].pk])
        with transaction.atomic():
            sql.execute("SET LOCAL lock_timeout = '100ms'")
            with pytest.raises(OperationalError, match="lock timeout"):
                run_counts.mend()
    assert run_counts.mend() == 0
    assert kept_counts() == right_counts()


@pytest.mark.django_db
def test_as_many_runs_are_followed_as_are_named(runs: list[models.Run]) -> None:
    """By counts that are kept, and one by one between days."""
    models.Run.objects.filter(pk=runs[0].pk).update(tags=["paper"], started_at="2026-03-01T12:00:00Z")
    models.Run.objects.filter(pk=runs[1].pk).update(standing=Standing.EXPLORATORY, started_at="2026-03-02T12:00:00Z")
    models.Run.objects.filter(pk=runs[2].pk).update(archived=True)
    publish(runs[3])
    secret = factories.run(factories.member("ada"), runs[0].plan, private=True)
    models.Run.objects.filter(pk=secret.pk).update(started_at="2026-03-01T12:00:00Z")
    filters = (
        RunFilter(),
        RunFilter(agents=("db1",)),
        RunFilter(agents=("db2",)),
        RunFilter(tags=("paper", "talk")),
        RunFilter(since=date(2026, 3, 1), until=date(2026, 3, 2)),
        RunFilter(tags=("paper",), since=date(2026, 3, 2)),
    )
    for chosen in filters:
        of_plan = followed_runs(TrendSelection(plan="nightly", runs=chosen))
        named = kept_runs(replace(chosen, plans=("nightly",)), published=False)
        assert (of_plan.ids, of_plan.kept, of_plan.exploratory) == (named.ids, len(named.ids), named.exploratory)
        of_workload = followed_runs(TrendSelection(workload="pgbench", runs=chosen))
        named = kept_runs(chosen, ("pgbench",), published=False)
        assert (of_workload.ids, of_workload.kept, of_workload.exploratory) == (
            named.ids,
            len(named.ids),
            named.exploratory,
        )
    assert followed_runs(TrendSelection(workload="pgbench")).kept == 2
    assert followed_runs(TrendSelection(plan="weekly")).kept == 0


@pytest.mark.django_db
def test_plans_are_listed_with_the_number_of_their_runs_that_the_viewer_may_see(runs: list[models.Run]) -> None:
    ada, grace = factories.member("ada"), factories.member("grace")
    factories.run(ada, runs[0].plan, private=True)
    archived = factories.run(ada, runs[0].plan, private=True)
    models.Run.objects.filter(pk__in=[runs[2].pk, archived.pk]).update(archived=True)
    for viewer, nightly in ((Viewer(ada.pk), 3), (Viewer(grace.pk), 2), (Viewer(), 2), (Viewer(sees_all=True), 3)):
        read_as(lambda viewer=viewer: viewer)
        assert [(row.name, row.runs) for row in list_plans()] == [("nightly", nightly), ("weekly", 0)]


@pytest.mark.django_db
def test_as_many_runs_are_counted_as_are_named(runs: list[models.Run]) -> None:
    models.Run.objects.filter(pk=runs[0].pk).update(tags=["paper"], started_at="2026-03-01T12:00:00Z")
    models.Run.objects.filter(pk=runs[1].pk).update(standing=Standing.EXPLORATORY)
    models.Run.objects.filter(pk=runs[2].pk).update(archived=True)
    publish(runs[3])
    publish(runs[4], "sysbench")
    filters = (
        RunFilter(),
        RunFilter(plans=("nightly",)),
        RunFilter(plans=("by hand", "weekly")),
        RunFilter(agents=("db1",)),
        RunFilter(agents=("db2",)),
        RunFilter(tags=("paper", "talk")),
        RunFilter(since=date(2026, 3, 1), until=date(2026, 3, 1)),
        RunFilter(since=date(2026, 3, 2)),
    )
    for published in (True, False):
        for workloads in ((), ("pgbench",), ("ssb",)):
            for chosen in filters:
                named = kept_runs(chosen, workloads, published=published)
                counts = count_runs(chosen, workloads, published=published)
                assert (counts.kept, counts.exploratory) == (len(named.ids), named.exploratory)
    assert (count_runs().kept, count_runs(published=False).kept) == (2, 1)


@pytest.mark.django_db
def test_choices_are_those_of_runs_that_are_there_for_the_viewer() -> None:
    ada, grace = factories.member("ada"), factories.member("grace")
    stored = factories.stored_plan(name="nightly")
    factories.run(ada, stored)
    factories.run(ada, stored, private=True)
    factories.run(ada, private=True, name="secret")
    everybodys, adas = (("nightly", 1),), (("nightly", 2), ("secret", 1))
    for viewer, plans in ((Viewer(ada.pk), adas), (Viewer(grace.pk), everybodys), (Viewer(), everybodys)):
        read_as(lambda viewer=viewer: viewer)
        assert run_filter_choices(standings=()).plans == plans
    assert run_filter_choices(standings=(), archived=Archived.ONLY).plans == ()


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_a_count_that_another_transaction_changes(runs: list[models.Run]) -> None:
    first, second = runs[0].pk, runs[1].pk
    with psycopg.connect(own_database()) as other:
        other.execute("SET lock_timeout = '5s'")
        with transaction.atomic():
            models.Run.objects.filter(pk=first).update(standing=Standing.EXPLORATORY)
            other.execute("UPDATE results_run SET standing = 'exploratory' WHERE id = %s", [second])
            other.commit()
    assert kept_counts() == right_counts()
    of_nightly = models.RunCount.objects.filter(plan_id=runs[0].plan_id)
    assert sorted(of_nightly.values_list("standing", "runs")) == [
        ("exploratory", 1),
        ("exploratory", 1),
        ("kept", -1),
        ("kept", 1),
    ]
    assert run_filter_choices().plans == (("by hand", 2), ("weekly", 1))
    assert run_filter_choices(standings=()).plans == (("by hand", 2), ("nightly", 2), ("weekly", 1))


@pytest.mark.django_db
def test_choices_and_counts_do_not_read_all_runs(runs: list[models.Run]) -> None:
    plan_id = runs[0].plan_id
    assert plan_id is not None
    ada = factories.member("ada")
    factories.stored_plan(name="never run")
    rare = factories.run(ada)
    models.Run.objects.filter(pk=rare.pk).update(workload="rare")
    factories.run(ada, runs[0].plan, private=True)
    read_as(Viewer)
    sql.execute(
        "INSERT INTO results_run SELECT (jsonb_populate_record(run, jsonb_build_object('id', 10000 + number))).*"
        " FROM results_run AS run CROSS JOIN generate_series(1, 2000) AS number WHERE run.id = %(run)s",
        {"run": runs[0].pk},
    )
    sql.execute("ANALYZE results_run, results_runcount")
    with CaptureQueriesContext(connection) as asked:
        assert ("nightly", 2002) in run_filter_choices().plans
        assert count_runs(RunFilter(plans=("nightly",), agents=("db1",))).kept == 2002
        assert [one.runs for one in followed() if one.plan == "nightly"] == [2002]
        assert [row.runs for row in list_plans() if row.name == "nightly"] == [2002]
        assert plan_detail(plan_id, runs=3).row.runs == 2002
    for query in asked.captured_queries:
        assert runs_read(plan_of(query["sql"])) < 4 * 4, query["sql"]  # of each of three plans, and of private runs
    with CaptureQueriesContext(connection) as asked:
        assert followed_runs(TrendSelection(plan="nightly")).kept == 2002
        assert followed_runs(TrendSelection(workload="pgbench")).kept == 2005
        assert followed_runs(TrendSelection(workload="rare")).ids == (rare.pk,)
    for query in asked.captured_queries:
        assert runs_read(plan_of(query["sql"])) < MOST_RUNS + 10, query["sql"]


def runs_read(node: Mapping[str, Any]) -> float:
    """Return how many rows of runs a node of a plan reads, and those below it."""
    own = (
        node["Actual Rows"] + node.get("Rows Removed by Filter", 0) if node.get("Relation Name") == "results_run" else 0
    )
    return own * node["Actual Loops"] + sum(map(runs_read, node.get("Plans", ())))


@pytest.mark.django_db
def test_the_last_run_of_what_can_be_followed_is_the_one_that_began_last(runs: list[models.Run]) -> None:
    began = ["2026-11-21", "2026-11-20", None, "2026-11-20", "2025-03-01"]  # as of an archive that was imported later
    for run, day in zip(runs, began, strict=True):
        models.Run.objects.filter(pk=run.pk).update(started_at=day and f"{day}T00:00:00Z")
    last = {one.plan: one.newest_at and one.newest_at.date() for one in followed()}
    assert last == {"nightly": date(2026, 11, 21), "weekly": None, "": date(2026, 11, 20)}
