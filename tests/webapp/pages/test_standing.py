"""Views over everything are made of kept runs: what each shows of kept, exploratory and excluded ones, and filtered."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from django.test import Client
from rest_framework.test import APIClient

from results import models
from results.queries.comparison.freshness import freshness
from results.queries.presets.topologies import topologies
from results.queries.presets.versions import versions
from results.queries.shared.run_filter import RunFilter, kept_runs, run_filter_choices
from results.queries.trends.families import TrendSelection
from results.queries.trends.trends import followed, trend
from tests import factories
from tests.arrangements import arranged_run
from tests.newest_answers import newest_answers

pytestmark = pytest.mark.django_db
VIEWS = ["/versions/", "/access-methods/", "/topologies/", "/trends/?workload=pgbench"]


def stand(run: models.Run, standing: str, *tags: str) -> models.Run:
    models.Run.objects.filter(pk=run.pk).update(standing=standing, tags=list(tags))
    return run


@pytest.mark.parametrize("standing", ["exploratory", "excluded"])
def test_no_view_is_made_of_a_run_that_is_not_kept(standing: str) -> None:
    run = stand(factories.finished_run(), standing)
    arranged = stand(arranged_run(), standing)
    assert versions().rows == ()
    assert topologies().tables == ()
    assert trend(TrendSelection(workload="pgbench")).lines == ()
    assert kept_runs().ids == ()
    for each in (run, arranged):
        stand(each, "kept")
    assert versions().rows
    assert topologies().tables
    assert trend(TrendSelection(workload="pgbench")).lines
    assert kept_runs().ids == (arranged.pk, run.pk)


@pytest.mark.parametrize("page", VIEWS)
def test_a_view_says_that_exploratory_runs_are_left_out_and_where_to_keep_them(page: str, stranger: Client) -> None:
    stand(factories.finished_run(), "exploratory")
    text = stranger.get(page).content.decode()
    if "access" not in page:
        assert "1 exploratory run" in text
        assert "/runs/?standing=exploratory" in text


def test_versions_are_filtered_by_plan_agent_tag_and_date() -> None:
    first = stand(factories.finished_run(name="nightly"), "kept", "paper")
    second = stand(factories.finished_run(name="toys"), "kept")
    days = {first.pk: datetime(2026, 3, 1, 23, tzinfo=UTC), second.pk: datetime(2026, 3, 2, 0, tzinfo=UTC)}
    for pk, started_at in days.items():
        models.Run.objects.filter(pk=pk).update(started_at=started_at)
    only = {
        RunFilter(plans=("nightly",)): (first.pk,),
        RunFilter(tags=("paper", "talk")): (first.pk,),
        RunFilter(since=date(2026, 3, 2)): (second.pk,),
        RunFilter(until=date(2026, 3, 1)): (first.pk,),
        RunFilter(agents=("db1",)): (second.pk, first.pk),
        RunFilter(agents=("db2",)): (),
        RunFilter(plans=("toys",), tags=("paper",)): (),
    }
    assert {chosen: kept_runs(chosen).ids for chosen in only} == only
    shown = versions(chosen=RunFilter(plans=("nightly",)))
    assert {cell.selection.runs for row in shown.rows for cell in row.cells if cell} == {(first.pk,)}
    choices = run_filter_choices()
    assert (choices.plans, choices.agents, choices.tags) == (
        (("nightly", 1), ("toys", 1)),
        (("db1", 2),),
        (("paper", 1),),
    )


def test_the_address_of_a_view_holds_only_what_is_filtered_by(stranger: Client) -> None:
    stand(factories.finished_run(name="nightly"), "kept", "paper")
    answer = stranger.get("/versions/", {"plan": "", "tag": "paper", "since": "2020-01-31", "until": ""})
    assert answer["HX-Push-Url"] == "/versions/?tag=paper&since=2020-01-31"
    assert "/api/v1/versions/?tag=paper&amp;since=2020-01-31" in answer.content.decode()
    assert APIClient().get("/api/v1/versions/?tag=paper&since=2020-01-31").json()["kept"] == 1
    assert APIClient().get("/api/v1/versions/?tag=other").json()["kept"] == 0
    trends = stranger.get("/trends/?workload=pgbench&tag=other", headers={"HX-Request": "true"})
    assert trends["HX-Push-Url"] == "/trends/?workload=pgbench&tag=other"
    assert "No kept run has tag other." in " ".join(trends.content.decode().split())


def test_what_is_no_date_is_refused_with_the_name_of_its_parameter(stranger: Client) -> None:
    for page in ("/versions/?since=yesterday", "/topologies/?since=yesterday", "/api/v1/trends/?since=yesterday"):
        answer = APIClient().get(page)
        assert answer.status_code == 400
        assert "yesterday" in answer.content.decode()


def test_only_excluded_runs_lend_other_runs_nothing() -> None:
    stored = factories.stored_plan()
    earlier = [factories.run(stored=stored) for _ in range(2)]
    for run in earlier:
        for trial in run.trials.select_related("configuration"):
            factories.finish(trial)
        models.Run.objects.filter(pk=run.pk).update(state="finished", ended_at=datetime(2026, 1, 2, tzinfo=UTC))
    newest = factories.run(stored=stored)
    stand(earlier[0], "exploratory")
    known = freshness([newest.pk])
    assert known.others == known.earlier == (earlier[0].pk, earlier[1].pk)
    stand(earlier[0], "excluded")
    assert freshness([newest.pk]).others == freshness([newest.pk]).earlier == (earlier[1].pk,)
    assert freshness([newest.pk]).state != known.state


def test_a_check_of_an_excluded_run_answers_nothing() -> None:
    trial = factories.capability_run({"toast": "yes"})
    stand(trial.run, "exploratory")
    assert [row.outcome for row in newest_answers()] == ["yes"]
    stand(trial.run, "excluded")
    assert newest_answers() == []


def test_what_can_be_followed_counts_kept_and_exploratory_runs() -> None:
    stand(factories.finished_run(), "exploratory")
    stand(factories.finished_run(), "excluded")
    factories.finished_run()
    assert [(one.runs, one.exploratory) for one in followed()] == [(1, 1)]
