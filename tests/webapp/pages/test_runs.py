"""The list of runs and the live page."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from results import bundle_files, models, runs
from results.queries.runs.runs import run_detail
from results.runs import close_finished
from tests import factories
from tests.page_text import page_text
from webapp.charts.run import run_panels
from webapp.pages.run_matrix import run_matrix, shown_part


def text_of(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return page_text(answer)


def test_the_list_shows_every_run_with_its_counts(
    done: models.Run, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(2):
        text = text_of(stranger, "/runs/")
    assert "16 against 18" in text
    assert '8 <span class="faint">of 8</span>' in text


def test_a_finished_run_shows_every_number_and_asks_no_more(
    done: models.Run, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(5):
        text = text_of(stranger, f"/runs/{done.pk}/")
    assert "8 of 8 trials done" in text
    assert text.count('class="t done"') == 8
    assert "4,502" in text  # median of 4,501 and 4,502 … : 18, 4 clients
    assert "every 2s" not in text


def test_a_going_run_asks_again_and_shows_states_in_words(going: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/runs/{going.pk}/")
    assert 'hx-trigger="every 2s"' in text
    assert "2 of 8 trials, 1 failed" in text
    assert "1 trial failed and is not in any median" in text
    assert "terminating connection" in text
    assert re.search(r"measure \d+ s", text) or "measure 1 min" in text


def test_the_fragment_holds_the_figures_and_ends_by_itself(going: models.Run, stranger: Client) -> None:
    fragment = text_of(stranger, f"/runs/{going.pk}/live/")
    assert "<html" not in fragment
    matches = re.findall(r'<script id="panel-1" type="application/json">(.*?)</script>', fragment)
    assert sum(len(trace.get("customdata", ())) for trace in json.loads(matches[0])["data"]) == 1
    models.Run.objects.filter(pk=going.pk).update(state="cancelled", ended_at=timezone.now())
    assert "every 2s" not in text_of(stranger, f"/runs/{going.pk}/live/")


def test_buttons_are_for_members(going: models.Run, stranger: Client, member: Client) -> None:
    address = f"/runs/{going.pk}/"
    assert "Retry 1 failed" not in text_of(stranger, address)
    text = text_of(member, address)
    assert "Retry 1 failed" in text
    assert "Cancel" in text


def test_state_and_numbers_stand_before_what_can_be_done_with_the_run(going: models.Run, member: Client) -> None:
    text = text_of(member, f"/runs/{going.pk}/").partition("<main")[2]
    words = (
        "2 of 8 trials",
        "1 trial failed",
        'id="matrix"',
        '"num">median',
        '"num">replicate 1',
        "Retry 1 failed",
        'id="medians-title"',
        'id="standing"',
        "The plan as",
    )
    places = [text.index(word) for word in words]
    assert places == sorted(places)


def figures_of(text: str) -> list[dict[str, Any]]:
    return [
        json.loads(one) for one in re.findall(r'<script id="panel-\d+" type="application/json">(.*?)</script>', text)
    ]


def test_a_figure_without_a_trial_says_so_instead_of_drawing_axes(db: None, stranger: Client) -> None:
    run = factories.run()
    (figure,) = figures_of(text_of(stranger, f"/runs/{run.pk}/"))
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["No trial is done yet."]
    assert not figure["data"] and figure["layout"]["xaxis"]["visible"] is False
    factories.finish(run.trials.select_related("configuration").order_by("position")[0])
    (figure,) = figures_of(text_of(stranger, f"/runs/{run.pk}/live/"))
    assert figure["data"] and "annotations" not in figure["layout"]


def test_a_large_run_takes_as_few_queries(db: None, stranger: Client, django_assert_max_num_queries: Any) -> None:
    run = factories.run(replicates=40, factors={"installation": ["16", "18"], "clients": [1, 2, 4, 8, 16, 32, 64]})
    with django_assert_max_num_queries(7):
        text = text_of(stranger, f"/runs/{run.pk}/")
    assert text.count('class="t waiting"') == 14 * 20


def test_headings_span_the_rows_that_share_a_level(done: models.Run) -> None:
    detail = run_detail(done.pk, timezone.now())
    matrix = run_matrix(detail, shown_part(detail))
    assert matrix.factors == ("installation", "clients")
    assert [[(head.text, head.span) for head in row.heads] for row in matrix.rows] == [
        [("16", 2), ("1", 1)],
        [("4", 1)],
        [("18", 2), ("1", 1)],
        [("4", 1)],
    ]


def test_one_configuration_has_a_row(db: None, stranger: Client) -> None:
    run = factories.run(factors={}, installation="16")
    assert "the only one" in text_of(stranger, f"/runs/{run.pk}/")


def test_the_link_to_the_comparison_does_not_mix_configurations(db: None, stranger: Client) -> None:
    run = factories.finished_run(
        factors={"installation": ["16", "18"], "clients": [1, 4], "protocol": ["simple", "prepared"]}
    )
    text = text_of(stranger, f"/runs/{run.pk}/")
    query = re.findall(r'href="/compare/\?([^"]+)"', text)[0]
    assert query == f"run={run.pk}&amp;filter.protocol=simple"
    assert "mix different" not in text_of(stranger, "/compare/?" + query.replace("&amp;", "&"))


@pytest.mark.parametrize("page", ["/", "/runs/{}/"])
def test_a_run_whose_trials_wait_for_room_for_their_raw_files_says_so(
    going: models.Run, stranger: Client, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    assert "bundle folder" not in text_of(stranger, page.format(going.pk))
    monkeypatch.setattr(bundle_files, "LEAST_FREE_BYTES", 10**18)
    text = " ".join(text_of(stranger, page.format(going.pk)).split())
    assert re.search(r"No trial starts</span> The bundle folder has [\d.,]+ .B free, less than the .+ kept for", text)


def test_cancel_stops_what_waits(going: models.Run, member: Client) -> None:
    answer = member.post(f"/runs/{going.pk}/cancel/", follow=True)
    assert "Cancelled." in page_text(answer)
    assert models.Run.objects.get(pk=going.pk).state == "cancelled"
    again = member.post(f"/runs/{going.pk}/cancel/")
    assert again.status_code == 409
    assert "nothing is left to cancel" in page_text(again)


def test_failed_trials_are_queued_again(going: models.Run, member: Client) -> None:
    member.post(f"/runs/{going.pk}/retry/")
    assert not going.trials.filter(state="failed").exists()
    assert models.AuditEntry.objects.filter(verb="retry failed trials", actor="member").exists()


def test_repeat_makes_another_run(done: models.Run, member: Client) -> None:
    answer = member.post(f"/runs/{done.pk}/repeat/")
    latest = models.Run.objects.latest("pk")
    assert answer["Location"] == f"/runs/{latest.pk}/"
    assert latest.pk != done.pk


def test_a_name_with_markup_stays_a_name(db: None, stranger: Client) -> None:
    run = factories.run()
    models.Run.objects.filter(pk=run.pk).update(name="<script>alert(1)</script>")
    for path in ("/", "/runs/", f"/runs/{run.pk}/", f"/compare/?run={run.pk}"):
        assert "<script>alert" not in text_of(stranger, path)


def test_the_plan_comes_as_a_file(done: models.Run, stranger: Client) -> None:
    answer = stranger.get(f"/runs/{done.pk}/plan.toml")
    assert 'name = "16 against 18"' in page_text(answer)
    assert "16-against-18.toml" in answer["Content-Disposition"]


def waits_of(run: models.Run, client: Client) -> list[str]:
    """What the page says of why the run does not go on, without markup."""
    matches = re.findall(r'<p class="note">(.*?)</p>', text_of(client, f"/runs/{run.pk}/live/"))
    texts = [re.sub(r"<[^>]+>", "", text) for text in matches]
    return [text for text in texts if text.startswith(("Waiting", "No trial runs"))]


def test_a_run_that_does_not_go_on_says_why(db: None, stranger: Client) -> None:
    run = factories.run()
    assert waits_of(run, stranger) == [
        "No trial runs at this moment: the next one is about to start, or no worker is there to take it."
    ]
    models.Agent.objects.update(state="changed-key")
    assert waits_of(run, stranger) == ["Waiting for agent db1: host key has changed"]
    assert 'href="/agents/db1/"' in text_of(stranger, f"/runs/{run.pk}/")
    assert "agent <a" in text_of(stranger, "/")
    models.Agent.objects.update(state="ready", enabled=False)
    assert waits_of(run, stranger) == ["Waiting for agent db1: disabled"]


def test_a_run_whose_agent_serves_another_names_that_run(db: None, stranger: Client) -> None:
    other, run = factories.run(), factories.run()
    trial = other.trials.first()
    assert trial is not None
    factories.begin(trial)
    assert waits_of(run, stranger) == [f"Waiting for agent db1, which is busy with run {other.pk}"]
    assert waits_of(other, stranger) == []


def test_combinations_left_out_are_not_counted(db: None, stranger: Client) -> None:
    run = factories.run(exclude=[{"installation": "16", "clients": "4"}])
    text = text_of(stranger, f"/runs/{run.pk}/")
    assert "installation (2) × clients (2) × 2 replicates · 3 configurations, because 1 combination is left out" in text
    assert "left out" not in text_of(stranger, f"/runs/{factories.run().pk}/")


def test_a_run_cancelled_before_it_started_took_no_time(db: None, member: Client) -> None:
    run = factories.run()
    models.Run.objects.filter(pk=run.pk).update(state="scheduled", started_at=None)
    member.post(f"/runs/{run.pk}/cancel/")
    text = text_of(member, f"/runs/{run.pk}/")
    assert "0 of 8 trials, cancelled before it started" in text
    assert "in –" not in text


def test_a_cancelled_run_says_after_a_retry_what_is_done_and_what_cancelled(db: None, member: Client) -> None:
    run = factories.run()
    trials = list(run.trials.select_related("configuration"))
    factories.finish(trials[0])
    member.post(f"/runs/{run.pk}/cancel/")
    assert "1 of 8 trials done, 7 cancelled" in text_of(member, f"/runs/{run.pk}/")
    member.post(f"/trials/{trials[1].pk}/retry/")
    assert "7 of 8 trials, 6 cancelled, none running, 1 waiting" in text_of(member, f"/runs/{run.pk}/live/")
    factories.finish(trials[1])
    close_finished(run.pk)
    text = text_of(member, f"/runs/{run.pk}/")
    assert "2 of 8 trials done, 6 cancelled" in text
    assert 'data-state="cancelled"' in text
    listed = text_of(member, "/runs/?state=cancelled")
    assert '2 <span class="faint">of 8</span> <span class="faint">· 6 cancelled</span>' in listed


def test_a_going_run_says_how_many_trials_run_and_how_many_wait(db: None, stranger: Client) -> None:
    run = factories.run()
    first, *_ = run.trials.select_related("configuration")
    assert "0 of 8 trials, none running, 8 waiting" in text_of(stranger, f"/runs/{run.pk}/")
    factories.begin(first, "measure")
    assert "0 of 8 trials, 1 running, 7 waiting" in text_of(stranger, f"/runs/{run.pk}/")


def test_all_cancelled_trials_are_queued_again(db: None, member: Client) -> None:
    run = factories.run()
    runs.cancel_run(run.pk, "tests")
    assert "Retry 8 cancelled" in text_of(member, f"/runs/{run.pk}/")
    answer = member.post(f"/runs/{run.pk}/retry-cancelled/", follow=True)
    assert "Queued again: 8 cancelled trials." in page_text(answer)
    run.refresh_from_db()
    assert (run.state, run.trials.filter(state="waiting").count()) == ("running", 8)
    entry = models.AuditEntry.objects.get(verb="retry cancelled trials")
    assert (entry.actor, entry.object, entry.detail) == ("member", f"run {run.pk}", {"trials": 8})


def test_a_stranger_retries_nothing(db: None, stranger: Client) -> None:
    run = factories.run()
    runs.cancel_run(run.pk, "tests")
    assert "Retry" not in text_of(stranger, f"/runs/{run.pk}/")
    stranger.post(f"/runs/{run.pk}/retry-cancelled/")
    assert run.trials.filter(state="cancelled").count() == 8


def test_failures_are_told_by_their_causes_the_commonest_first(db: None, stranger: Client) -> None:
    run = factories.run()
    first, *others = run.trials.select_related("configuration").order_by("position")
    factories.fail(first, "The workload failed while it was measured.", kind="trial", why="FATAL:  out of <memory>")
    for trial in others:
        segment = f'could not resize shared memory segment "/PostgreSQL.{trial.pk}": No space left on device'
        why = f"pgbench ended with exit status 2: pgbench: error: client 0 aborted: ERROR:  {segment}"
        factories.fail(trial, "The workload failed while it was measured.", kind="trial", why=why)
    text = text_of(stranger, f"/runs/{run.pk}/")
    assert "8 trials failed and are not in any median" in text
    listed = text.partition("not in any median")[2]
    assert "7 trials: could not resize shared memory segment" in listed
    assert "and 2 more" in listed
    assert listed.index("could not resize") < listed.index("out of &lt;memory&gt;")
    assert f"/trials/{first.pk}/" in listed


def test_a_run_without_any_trial_done_is_shown_as_failed(db: None, stranger: Client) -> None:
    run = factories.run()
    for trial in run.trials.select_related("configuration"):
        factories.fail(trial)
    close_finished(run.pk)
    text = text_of(stranger, f"/runs/{run.pk}/")
    assert "Failed: 0 of 8 trials done, 8 failed" in text
    assert "every 2s" not in text
    listed = text_of(stranger, "/runs/?state=failed")
    assert '<span class="badge failed">failed</span>' in listed


def test_past_the_palette_colours_begin_anew(db: None, stranger: Client) -> None:
    factors = {"installation": ["16", "18"], "setting.work_mem": [f"{2**power}MB" for power in range(10)]}
    run = factories.finished_run(factors=factors)
    for path in (f"/runs/{run.pk}/", f"/compare/?run={run.pk}&series=setting.work_mem&x=installation"):
        classes = re.findall(r'<li class="s(\d+)"><(?:span|button)', text_of(stranger, path))
        assert classes
        assert max(map(int, classes)) < 8


@pytest.mark.parametrize("query", ["before=²", "before=" + "9" * 20, "before=٣", "before=-1", "before=x"])
def test_what_is_no_number_is_left_alone(query: str, done: models.Run, stranger: Client) -> None:
    assert "16 against 18" in text_of(stranger, f"/runs/?{query}")


def test_the_figure_has_a_gap_where_no_trial_of_a_configuration_is_done(member: Client) -> None:
    run = factories.run(installation="16", factors={"clients": [1, 2, 4]}, replicates=1)
    for trial in run.trials.select_related("configuration"):
        clients = trial.configuration.dimensions["clients"]
        factories.fail(trial) if clients == 2 else factories.finish(trial)
    detail = run_detail(run.pk, timezone.now())
    (panel,) = run_panels(detail, str).panels
    line = next(trace for trace in panel.figure["data"] if "lines" in trace["mode"])
    assert line["x"] == [1.0, None, 4.0]
