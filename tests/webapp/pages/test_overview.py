"""The first page."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.test import Client
from django.utils import timezone

from results import alerts, models
from results.published.catalogue import TABLES
from results.published.load import load
from results.queries.presets.versions import versions
from results.queries.trends.progress import progress
from tests import factories, histories
from tests.page_text import page_text
from webapp.templatetags.teiten import ratio
from workers.registry import known_metrics

REFRESH = {"HX-Request": "true", "HX-Target": "overview"}


def test_an_empty_warehouse_says_what_to_do(db: None, stranger: Client) -> None:
    text = page_text(stranger.get("/"))
    assert "Nothing is measured yet" in text and "Nothing is running" in text
    assert "No runs" in text
    assert "No agents." in text


def test_it_shows_what_runs_now_with_phase_and_agents(
    going: models.Run, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(9):
        text = page_text(stranger.get("/", headers=REFRESH))
    assert "1 run in progress" in text
    assert "measure" in text
    assert "db1" in text
    assert "16 against 18" in text


def test_many_runs_take_as_few_queries(going: models.Run, stranger: Client, django_assert_max_num_queries: Any) -> None:
    for _ in range(6):
        factories.run()
    with django_assert_max_num_queries(19):
        text = page_text(stranger.get("/", headers=REFRESH))
    assert "1 run in progress, 6 waiting" in text
    assert text.index("Run ") == text.index(f"Run {going.pk}, ")  # those that only wait come last
    assert text.count("<progress") == 3
    assert "and 4 more" in text


def test_the_head_counts_the_running(going: models.Run, stranger: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(1):
        assert "1 running" in page_text(stranger.get("/now/"))


def test_a_run_whose_trials_all_wait_is_not_counted_as_running(db: None, stranger: Client) -> None:
    run, _ = factories.run(), factories.run()
    assert "2 waiting" in page_text(stranger.get("/now/"))
    assert "Nothing is running, 2 runs waiting" in page_text(stranger.get("/", headers=REFRESH))
    assert page_text(stranger.get("/runs/")).count("· all wait") == 2
    trial = run.trials.select_related("configuration")[0]
    factories.begin(trial, "measure")
    assert "1 running, 1 waiting" in page_text(stranger.get("/now/"))
    factories.finish(trial)
    assert "1 running, 1 waiting" in page_text(stranger.get("/now/"))
    assert "1 run in progress, 1 waiting" in page_text(stranger.get("/", headers=REFRESH))


def test_the_head_counts_more_than_a_page_of_runs(
    db: None, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    models.Run.objects.bulk_create(
        models.Run(name=f"run {i}", workload="pgbench", toml="", plan_hash="", seed=1, blocks=1, state="running")
        for i in range(60)
    )
    assert "60 running" in page_text(stranger.get("/now/"))
    with django_assert_max_num_queries(19):
        text = page_text(stranger.get("/", headers=REFRESH))
    assert "60 runs in progress" in text
    assert "and 57 more" in text


def test_cancelled_trials_have_ended_too(going: models.Run, stranger: Client) -> None:
    last = going.trials.order_by("-position").values("pk")[:1]
    models.Trial.objects.filter(pk__in=last).update(state="cancelled")
    assert '<progress max="8" value="3"' in page_text(stranger.get("/"))


def test_a_newcomer_is_led_to_the_first_run(db: None, stranger: Client, member: Client) -> None:
    text = page_text(stranger.get("/"))
    steps = text[text.index('<ol class="steps">') : text.index("</ol>")]
    assert steps.index("/account/sign-in/?next=/") < steps.index("/agents/add/") < steps.index("/plans/ready/")
    assert "done" not in steps
    factories.agent()
    text = page_text(member.get("/"))
    steps = text[text.index('<ol class="steps">') : text.index("</ol>")]
    assert steps.count(">done<") == 2
    form = unescape(re.search(r'href="(/plans/ready/[^"]+/form/[^"]+)"', steps)[1])
    assert "Read scale-up for db1" in steps
    assert "Save and run" in page_text(member.get(form))


def test_where_no_ready_plan_fits_the_newcomer_chooses_one(db: None, member: Client) -> None:
    agent = factories.agent()
    models.Agent.objects.filter(pk=agent.pk).update(disk={"free_bytes": 1000})
    text = page_text(member.get("/"))
    assert "Choose a ready plan that fits it" in text


def test_a_first_run_that_is_exploratory_is_kept_by_one_button(
    done: models.Run, member: Client, stranger: Client
) -> None:
    models.Run.objects.update(standing="exploratory")
    button = f"Keep run {done.pk}</button>"
    assert button not in page_text(stranger.get("/"))
    text = page_text(member.get("/"))
    assert "Nothing is kept yet" in text and button in text
    answer = member.post("/runs/change/", {"run": done.pk, "to": "overview", "do": "kept"}, follow=True)
    assert answer.redirect_chain == [("/", 302)]
    text = page_text(answer)
    assert "What is known" in text and button not in text


def test_a_run_that_has_not_ended_is_not_offered_to_be_kept(going: models.Run, member: Client) -> None:
    models.Run.objects.update(standing="exploratory")
    assert "Keep run" not in page_text(member.get("/"))


def test_it_says_what_is_known_of_the_versions(done: models.Run, stranger: Client) -> None:
    text = page_text(stranger.get("/"))
    [row] = versions(published=False).rows
    _, cell = row.cells
    assert cell and ratio(cell.ratio) in text
    bars = text[text.index('<table class="bars">') : text.index('<table class="heat">')]
    assert ratio(cell.ratio) in bars and '<ol class="steps">' not in text


def test_published_figures_are_not_counted_among_its_runs(done: models.Run, stranger: Client) -> None:
    load(TABLES[:1], known_metrics(), "tests")
    assert re.search(r"<summary>\s*2 kept runs\s*</summary>", page_text(stranger.get("/versions/")))
    assert re.search(r"<summary>\s*1 kept run\s*</summary>", page_text(stranger.get("/")))


def test_a_kept_run_of_which_no_versions_are_compared_is_kept_all_the_same(db: None, stranger: Client) -> None:
    factories.capability_run({"toast": "yes"})
    text = page_text(stranger.get("/"))
    assert "What is known" in text and "No two versions are measured alike yet." in text
    assert "Nothing is kept yet" not in text and "excluded or archived" not in text


def test_a_filter_that_leaves_nothing_says_so(done: models.Run, stranger: Client) -> None:
    text = page_text(stranger.get("/?since=2100-01-01"))
    assert "What is known" in text and "No kept run has since 2100-01-01." in text
    assert "Nothing is kept yet" not in text and "measured alike" not in text


def test_what_is_chosen_stands_in_the_address(done: models.Run, stranger: Client) -> None:
    headers = {**REFRESH, "HX-Target": "known"}
    answer = stranger.get("/?workload=&metric=latency.p99&agent=db1&since=", headers=headers)
    assert answer["HX-Push-Url"] == "/?metric=latency.p99&agent=db1"
    assert stranger.get("/", headers=headers)["HX-Push-Url"] == "/"
    assert "HX-Push-Url" not in stranger.get("/", headers=REFRESH)


def test_the_known_part_is_asked_for_alone_and_not_again_by_the_part_that_refreshes(
    done: models.Run, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(13):
        known = page_text(stranger.get("/?metric=latency.p99", headers={**REFRESH, "HX-Target": "known"}))
    assert "p99 latency" in known and "Latest runs" not in known
    now = page_text(stranger.get("/", headers=REFRESH))
    assert "Latest runs" in now and 'class="heat"' not in now


def test_the_whole_page_takes_as_many_queries_whatever_the_number_of_runs(
    done: models.Run, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    for _ in range(2):
        with django_assert_max_num_queries(17):
            stranger.get("/")
        factories.finished_run()


def test_what_became_worse_lately_leads_to_its_plan_and_run(db: None, stranger: Client) -> None:
    plan = histories.nightly(parameters={"scale": 5}, factors={"clients": [1, 8]}, replicates=5)
    alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")
    newest = histories.months(plan, [8000, 7200])[-1]
    alerts.judge_runs(timezone.now())
    text = page_text(stranger.get("/"))
    lately = text[text.index("Worse lately") :]
    cell = progress(newest.pk).worse[0]
    assert f"/plans/{plan.pk}/" in lately and f"/runs/{newest.pk}/" in lately
    assert f"{cell.name}: {cell.words} {ratio(cell.ratio)}" in lately
    with alerts.next_due(timezone.now()) as due:
        assert due and due.run_id == newest.pk
    models.Run.objects.filter(pk=newest.pk).update(standing="excluded")
    assert "Worse lately" not in page_text(stranger.get("/"))
    with alerts.next_due(timezone.now()) as due:
        assert due is None


def unwatched(levels: list[float], replicates: int = 5) -> models.Run:
    plan = histories.nightly(parameters={"scale": 5}, factors={"clients": [1, 8]}, replicates=replicates)
    return histories.months(plan, levels)[-1]


def test_what_changed_lately_is_said_of_plans_that_nobody_watches(
    db: None, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    newest = unwatched([8000, 7200])
    assert 'hx-get="/lately/"' in page_text(stranger.get("/"))
    with django_assert_max_num_queries(1 + 8):
        text = page_text(stranger.get("/lately/"))
    cells = progress(newest.pk).cells
    assert [cell.kind for cell in cells] == ["worse", "worse"]
    assert f"/plans/{newest.plan_id}/" in text and f"/runs/{newest.pk}/" in text
    for cell in cells:
        assert f"{cell.name}: {cell.words} {ratio(cell.ratio)}" in text
    alerts.watch(newest.plan, "email", "ada@example.org", user=None, actor="tests")
    assert "Changed lately" not in page_text(stranger.get("/lately/"))


def test_what_became_better_changed_too_and_what_is_undecided_did_not(db: None, stranger: Client) -> None:
    newest = unwatched([8000, 8800])
    text = page_text(stranger.get("/lately/"))
    assert all(f"{cell.name}: {cell.words} {ratio(cell.ratio)}" in text for cell in progress(newest.pk).cells)
    for left_out in ({"standing": "exploratory"}, {"standing": "kept", "archived": True}):
        models.Run.objects.filter(pk=newest.pk).update(**left_out)
        assert "Changed lately" not in page_text(stranger.get("/lately/"))


def test_too_few_replicates_decide_no_change(db: None, stranger: Client) -> None:
    unwatched([8000, 7200], replicates=1)
    assert "Changed lately" not in page_text(stranger.get("/lately/"))


def test_of_many_plans_a_few_are_judged(db: None, stranger: Client, django_assert_max_num_queries: Any) -> None:
    for number in range(4):
        histories.months(histories.nightly(name=f"nightly {number}", replicates=5), [8000, 7200])
    with django_assert_max_num_queries(1 + 3 * 8):
        text = page_text(stranger.get("/lately/"))
    assert text.count("<li>") == 3 and "nightly 0" not in text
