"""Archiving and deleting runs: what the page says is lost, what is lost, and what keeps a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from results import models, removal, runs, snapshots
from results.domain.errors import StateError
from results.models.audit import Role
from results.published.catalogue import TABLES
from results.published.load import load
from results.queries.comparison.citations import cited as stored
from results.queries.presets.versions import versions
from results.queries.runs.loss import run_losses
from results.queries.runs.plans import list_plans
from results.queries.shared.ids import NotFound
from results.queries.shared.run_filter import kept_runs
from results.queries.trends.trends import followed
from tests import factories
from tests.newest_answers import newest_answers
from tests.page_text import page_text
from webapp import citations
from workers.registry import known_metrics

pytestmark = pytest.mark.django_db
OF_A_RUN = (
    models.Configuration,
    models.Trial,
    models.Attempt,
    models.Measurement,
    models.Series,
    models.Histogram,
    models.Document,
)


@pytest.fixture
def bundles(tmp_path: Path, settings: Any) -> Path:
    settings.TEITEN_BUNDLE_DIR = tmp_path
    return tmp_path


def with_bundles(folder: Path, **changes: Any) -> models.Run:
    """A finished run whose trials have archives."""
    made = factories.run(**changes)
    for trial in made.trials.select_related("configuration").order_by("position"):
        factories.finish(trial, bundles=folder)
    runs.close_finished(made.pk)
    made.refresh_from_db()
    return made


def api(scope: str, user: Any = None) -> APIClient:
    client = APIClient()
    owner = user or factories.member("grace", staff=True)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {factories.tokens(owner)[scope]}")
    return client


def test_an_archived_run_is_on_no_list_and_in_no_view_but_keeps_its_pages(member: Client) -> None:
    run, other = factories.finished_run(), factories.finished_run(name="other")
    compared = page_text(member.get(f"/compare/?run={run.pk}"))
    answer = member.post("/runs/remove/", {"run": run.pk, "do": "archive", "query": "state=finished"}, follow=True)
    assert answer.redirect_chain == [("/runs/?state=finished", 302)]
    assert "Archived 1 run. Nothing is lost, and can be put back." in page_text(answer)
    assert kept_runs().ids == (other.pk,)
    assert [(one.plan, one.runs) for one in followed()] == [("", 1)]
    link = f'href="/runs/{run.pk}/"'
    for page in ("/runs/", "/", "/runs/?state=finished"):
        assert link not in page_text(member.get(page))
    for page in ("/runs/?archived=yes", "/runs/?archived=any&state=finished"):
        assert link in page_text(member.get(page))
    assert f'href="/runs/{other.pk}/"' not in page_text(member.get("/runs/?archived=yes"))
    text = page_text(member.get(f"/runs/{run.pk}/"))
    assert "Archived:</b> in no list and no view." in text and "Put it back" in text
    assert figures(page_text(member.get(f"/compare/?run={run.pk}"))) == figures(compared)
    member.post("/runs/remove/", {"run": run.pk, "do": "restore"})
    assert kept_runs().ids == (other.pk, run.pk)
    verbs = models.AuditEntry.objects.filter(object=f"run {run.pk}").values_list("verb", flat=True)
    assert list(verbs[:2]) == ["restore run", "archive run"]


def test_who_may_not_put_an_archived_run_back_is_not_offered_to(client: Client, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    nobodys = factories.finished_run()
    former = factories.member("former", Role.OPERATOR)
    own = factories.finished_run(former)
    removal.archive_runs([nobodys.pk, own.pk], "tests")
    assert "Put it back" not in page_text(client.get(f"/runs/{nobodys.pk}/"))
    client.force_login(former)
    assert "Put it back" in page_text(client.get(f"/runs/{own.pk}/"))
    models.Member.objects.filter(user=former).update(role=Role.READER)
    assert "Put it back" not in page_text(client.get(f"/runs/{own.pk}/"))


def figures(text: str) -> str:
    """The table of a comparison's page, without the tokens of its forms."""
    return re.sub(r'value="[A-Za-z0-9]{64}"', "", text[text.index("<table") : text.rindex("</table>")])


def test_views_leave_archived_runs_out() -> None:
    run = factories.finished_run()
    trial = factories.capability_run({"toast": "yes"})
    assert versions().rows
    assert newest_answers()
    removal.archive_runs([run.pk], "ada")
    models.Run.objects.filter(pk=trial.run_id).update(state="finished")
    removal.archive_runs([trial.run_id], "ada")
    assert versions().rows == ()
    assert newest_answers() == []


def test_an_archived_run_that_goes_on_is_on_the_lists_again() -> None:
    run = factories.finished_run()
    removal.archive_runs([run.pk], "ada")
    runs.add_blocks(run.pk, 1, "ada")
    run.refresh_from_db()
    assert (run.state, run.archived) == ("running", False)
    assert models.AuditEntry.objects.filter(verb="restore run", object=f"run {run.pk}").exists()


def test_deleting_says_before_what_goes_and_takes_exactly_that(admin: Client, bundles: Path) -> None:
    run, other = with_bundles(bundles), with_bundles(bundles)
    (loss,) = run_losses([run.pk])
    files = list((bundles / str(run.pk)).iterdir())
    assert loss.bundle_bytes == sum(file.stat().st_size for file in files)
    assert (loss.trials, len(loss.bundles)) == (run.trials.count(), len(files))
    assert loss.measurements == models.Measurement.objects.filter(run=run).count() > 0
    page = page_text(admin.get(f"/runs/remove/?run={run.pk}"))
    assert f'<td class="num">{loss.measurements}</td>' in page
    assert f"{len(files)} archives of raw files" in page
    others = {kind: kind.objects.filter(run=other).count() for kind in OF_A_RUN}
    answer = admin.post("/runs/remove/", {"run": run.pk, "do": "delete"}, follow=True)
    assert f"Deleted 1 run: {loss.trials} trials, {len(files)} archives of raw files" in page_text(answer)
    assert not models.Run.objects.filter(pk=run.pk).exists()
    assert not any(kind.objects.filter(run=run.pk).exists() for kind in OF_A_RUN)
    assert not (bundles / str(run.pk)).exists()
    assert {kind: kind.objects.filter(run=other).count() for kind in OF_A_RUN} == others
    assert len(list((bundles / str(other.pk)).iterdir())) == len(files)
    gone = page_text(admin.get(f"/runs/{run.pk}/"))
    assert f"There is no run {run.pk}. It was deleted on " in gone
    assert models.AuditEntry.objects.get(verb="delete run").detail["measurements"] == loss.measurements


def test_every_table_with_a_run_is_empty_of_a_deleted_one(bundles: Path) -> None:
    run = with_bundles(bundles)
    removal.delete_runs([run.pk], "ada")
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.columns WHERE column_name = 'run_id'")
        tables = [name for (name,) in cursor.fetchall()]
        assert "results_measurement" in tables
        for table in tables:
            cursor.execute(f"SELECT count(*) FROM {table} WHERE run_id = %s", [run.pk])
            assert cursor.fetchone() == (0,), table


def measured_often(stored: models.Plan) -> models.Run:
    """A finished run of a plan whose values say how much they vary."""
    made = factories.run(stored=stored, factors={"installation": ["16", "18"], "clients": [1, 4]}, replicates=8)
    factories.finish_noisily(made, 0.02)
    runs.close_finished(made.pk)
    return made


def test_a_run_is_kept_while_cited_verdicts_borrow_its_spread() -> None:
    factories.agent()
    stored = factories.stored_plan()
    lender, cited = (measured_often(stored) for _ in range(2))
    question = f"run={cited.pk}&x=clients&series=installation"
    snapshot = factories.citation(cited, question)
    assert snapshot.content["earlier_runs"] == [lender.pk]
    with pytest.raises(StateError, match=f"Run {lender.pk} cannot be deleted."):
        removal.delete_runs([lender.pk], "ada")
    query, comparison = citations.compare_query(question)
    models.Snapshot.objects.all().delete()
    removal.delete_runs([lender.pk], "ada")
    with pytest.raises(StateError, match="deleted meanwhile"):
        snapshots.cite(query, comparison, user=None, actor="ada")


def test_a_cited_run_is_not_deleted_but_archived(admin: Client, bundles: Path) -> None:
    run, free = with_bundles(bundles), with_bundles(bundles)
    cited = factories.citation(run)
    series = cited.content["points"][0]["series"]
    snapshots.save_reference("paper-16", cited, series, user=None, actor="ada")
    page = page_text(admin.get(f"/runs/remove/?run={run.pk}&run={free.pk}"))
    assert f"Cited in {cited.pk} and compared with as @paper-16" in page
    assert "disabled" in page.partition('value="delete"')[2].partition(">")[0]
    answer = admin.post("/runs/remove/", {"run": [run.pk, free.pk], "do": "delete"})
    assert answer.status_code == 409
    assert f"Run {run.pk} cannot be deleted, so none was." in page_text(answer)
    assert models.Run.objects.filter(pk__in=[run.pk, free.pk]).count() == 2
    assert len(list((bundles / str(free.pk)).iterdir())) == free.trials.count()
    assert admin.post("/runs/remove/", {"run": run.pk, "do": "archive"}).status_code == 302
    assert citations.compare_with_today(stored(cited.pk)).unchanged


def test_a_comparison_whose_run_was_deleted_meanwhile_is_not_cited(bundles: Path) -> None:
    run = with_bundles(bundles)
    query, comparison = citations.compare_query(f"run={run.pk}")
    removal.delete_runs([run.pk], "ada")
    with pytest.raises(StateError, match="deleted meanwhile"):
        snapshots.cite(query, comparison, user=None, actor="ada")
    assert not models.Snapshot.objects.exists()


def test_a_run_goes_only_when_nothing_of_it_runs() -> None:
    run = factories.run()
    trial = run.trials.select_related("configuration").first()
    assert trial is not None
    factories.begin(trial)
    for act in (removal.delete_runs, removal.archive_runs):
        with pytest.raises(StateError, match="It is running: cancel it first"):
            act([run.pk], "ada")
    runs.cancel_run(run.pk, "ada")
    with pytest.raises(StateError, match="a trial of it is being stopped"):
        removal.delete_runs([run.pk], "ada")
    models.Attempt.objects.filter(run=run).update(state="cancelled")
    models.Lease.objects.filter(attempt__run=run).delete()
    removal.delete_runs([run.pk], "ada")
    assert not models.Run.objects.exists()


def test_files_that_cannot_be_removed_are_named(admin: Client, bundles: Path) -> None:
    run = with_bundles(bundles)
    stuck = sorted((bundles / str(run.pk)).iterdir())[0]
    stuck.unlink()
    stuck.mkdir()
    answer = admin.post("/runs/remove/", {"run": run.pk, "do": "delete"}, follow=True)
    assert f"could not be removed, and are named in the audit log: {stuck}: " in page_text(answer)
    entry = models.AuditEntry.objects.get(verb="could not remove raw files")
    assert (entry.object, len(entry.detail["files"])) == (f"run {run.pk}", 1)
    assert [file.name for file in stuck.parent.iterdir()] == [stuck.name]


def test_what_else_lies_in_the_folder_of_a_deleted_run_is_named(bundles: Path) -> None:
    run = with_bundles(bundles)
    stray = bundles / str(run.pk) / "late-2.tar.gz"
    stray.write_bytes(b"")
    assert removal.delete_runs([run.pk], "ada").left == (f"{stray}: of no attempt that the warehouse knows",)
    assert list(stray.parent.iterdir()) == [stray]


def test_pages_say_where_archived_runs_are_when_there_are_no_others(member: Client) -> None:
    plan = factories.stored_plan()
    run = factories.run(stored=plan, name="nightly")
    runs.cancel_run(run.pk, "ada")
    removal.archive_runs([run.pk], "ada")
    everything = page_text(member.get("/runs/"))
    assert "All runs are archived." in everything and 'href="/runs/?archived=any"' in everything
    assert 'href="/runs/?archived=any&amp;name=night"' in page_text(member.get("/runs/?name=night"))
    home = page_text(member.get("/"))
    assert "Every run that was measured here is excluded or archived." in home
    assert "Nothing is measured yet" not in home
    assert f"run {run.pk}," not in page_text(member.get("/diff/"))
    (row,) = list_plans()
    assert (row.runs, row.last_run_id) == (0, None)


def test_a_comparison_offers_no_archived_run_even_to_who_has_the_page_already(member: Client) -> None:
    run, other = factories.finished_run(), factories.finished_run(name="put away soon")
    before = member.get(f"/compare/?run={run.pk}")
    removal.archive_runs([other.pk], "ada")
    after = member.get(f"/compare/?run={run.pk}", headers={"If-None-Match": before["ETag"]})
    assert after.status_code == 200
    assert "put away soon" in page_text(before) and "put away soon" not in page_text(after)


def test_a_member_deletes_own_runs_and_archives_any(member: Client) -> None:
    mine = factories.finished_run(user=User.objects.get())
    others = factories.finished_run(name="of another")
    page = page_text(member.get(f"/runs/remove/?run={others.pk}"))
    assert "A run is deleted by its author, or by an administrator." in page
    assert member.post("/runs/remove/", {"run": [mine.pk, others.pk], "do": "delete"}).status_code == 403
    assert member.post("/runs/remove/", {"run": mine.pk, "do": "delete"}).status_code == 302
    assert member.post("/runs/remove/", {"run": others.pk, "do": "archive"}).status_code == 302
    assert list(models.Run.objects.values_list("pk", "archived")) == [(others.pk, True)]


def test_a_stranger_archives_and_deletes_nothing(stranger: Client) -> None:
    run = factories.finished_run()
    assert "/account/sign-in/" in stranger.get(f"/runs/remove/?run={run.pk}")["Location"]
    for do in ("archive", "delete"):
        assert "/account/sign-in/" in stranger.post("/runs/remove/", {"run": run.pk, "do": do})["Location"]
    assert APIClient().delete(f"/api/v1/runs/{run.pk}/").status_code == 401
    assert APIClient().patch(f"/api/v1/runs/{run.pk}/", {"archived": True}, format="json").status_code == 401
    assert list(models.Run.objects.values_list("archived")) == [(False,)]
    assert "Archive or delete" not in page_text(stranger.get("/runs/"))
    assert "Archive or delete" not in page_text(stranger.get(f"/runs/{run.pk}/"))


def test_the_page_takes_as_many_queries_for_one_run_as_for_many(
    admin: Client, django_assert_max_num_queries: Any
) -> None:
    several = [factories.finished_run().pk for _ in range(4)]
    query = "&".join(f"run={pk}" for pk in several)
    with django_assert_max_num_queries(4):
        assert admin.get(f"/runs/remove/?{query}").status_code == 200


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({}, 400, "No run is ticked"),
        ({"run": str(factories.NO_ID)}, 404, f"There is no run {factories.NO_ID}."),
        ({"run": "all"}, 404, "There is no run all."),
    ],
)
def test_what_cannot_be_removed_is_refused_in_words(
    fields: dict[str, str], status: int, words: str, admin: Client
) -> None:
    for answer in (admin.get("/runs/remove/", fields), admin.post("/runs/remove/", fields | {"do": "delete"})):
        assert answer.status_code == status
        assert words in page_text(answer)


def test_another_word_than_the_buttons_have_does_nothing(admin: Client) -> None:
    run = factories.finished_run()
    answer = admin.post("/runs/remove/", {"run": run.pk, "do": "burn"})
    assert answer.status_code == 400
    assert "There are archive, restore and delete." in page_text(answer)


def test_the_list_leads_to_the_page(member: Client) -> None:
    ids = [factories.finished_run().pk for _ in range(2)]
    answer = member.post("/runs/change/", {"run": ids, "do": "remove", "query": "state=finished"})
    assert answer["Location"] == f"/runs/remove/?run={ids[0]}&run={ids[1]}&query=state%3Dfinished"


def test_the_api_shows_the_loss_archives_and_deletes(bundles: Path) -> None:
    run, client = with_bundles(bundles), api("admin")
    loss = client.get(f"/api/v1/runs/{run.pk}/loss/").json()
    assert (loss["id"], loss["keeps_it"], loss["citations"]) == (run.pk, "", [])
    assert client.patch(f"/api/v1/runs/{run.pk}/", {"archived": True}, format="json").json()["archived"] is True
    assert client.get("/api/v1/runs/").json()["results"] == []
    assert [one["id"] for one in client.get("/api/v1/runs/?archived=yes").json()["results"]] == [run.pk]
    assert client.get("/api/v1/runs/?archived=no").status_code == 400
    assert client.patch(f"/api/v1/runs/{run.pk}/", {"archived": False}, format="json").json()["archived"] is False
    answer = client.delete(f"/api/v1/runs/{run.pk}/")
    assert answer.status_code == 200
    assert answer.json() == {"runs": [loss], "left": []}
    assert client.delete(f"/api/v1/runs/{run.pk}/").status_code == 404


def test_the_api_deletes_only_own_runs_by_the_scope_run() -> None:
    owner = factories.member("ada")
    mine, others = factories.finished_run(user=owner), factories.finished_run(name="of another")
    client = api("run", owner)
    assert client.delete(f"/api/v1/runs/{others.pk}/").status_code == 403
    assert client.delete(f"/api/v1/runs/{mine.pk}/").status_code == 200
    assert list(models.Run.objects.values_list("pk", flat=True)) == [others.pk]


def test_published_figures_stay(admin: Client) -> None:
    load(TABLES[:1], known_metrics(), "tests")
    run = models.Run.objects.get()
    for act in (removal.delete_runs, removal.archive_runs):
        with pytest.raises(StateError, match="published figures"):
            act([run.pk], "ada")
    with pytest.raises(NotFound):
        removal.restore_runs([factories.NO_ID], "ada")
