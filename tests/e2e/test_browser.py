"""Teiten as people use it: in a browser, with its scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from results import models
from tests import factories
from tests.e2e.conftest import PASSWORD, Watched

DRAWN = "[data-figure][data-drawn]"


@pytest.mark.smoke
def test_a_plan_is_made_with_a_live_preview_exported_and_imported(watched: Watched, agent: models.Agent) -> None:
    watched.sign_in()
    page = watched.open("/plans/add/")
    expect(page.locator("#preview")).to_contain_text("1 problem to fix")
    expect(page.locator('[data-problem-for="name"]')).to_contain_text("The plan has no name")
    page.fill("#name", "Made in a browser")
    page.fill("[id='parameters.scale']", "many")
    page.keyboard.press("Tab")
    expect(page.locator('[data-problem-for="parameters.scale"]')).to_contain_text("'many' is not a whole number")
    page.fill("[id='parameters.scale']", "10")
    page.keyboard.press("Tab")
    expect(page.locator("#preview")).to_contain_text("12 trials")
    page.click("text=Add a factor")
    added = page.locator('[data-rows="factors"] li').last
    added.locator("input").fill("setting.work_mem")
    added.locator("textarea").fill("4MB, 64MB")
    page.keyboard.press("Tab")
    expect(page.locator("#preview")).to_contain_text("24 trials")
    page.click("aside >> text=Save >> nth=0")
    expect(page.locator("h1")).to_contain_text("Made in a browser")
    made = models.Plan.objects.get()
    with page.expect_download() as download:
        page.click("text=Export TOML")
    text = download.value.path().read_text(encoding="utf-8")
    models.Plan.objects.all().delete()
    watched.open("/plans/import/").fill("#toml", text)
    page.click("main button.primary")
    expect(page.locator("h1")).to_contain_text("Made in a browser")
    assert models.Plan.objects.get().hash == made.hash


def test_a_setting_that_is_misspelt_is_named_beside_it_and_mended(watched: Watched, agent: models.Agent) -> None:
    factories.settings_known()
    watched.sign_in()
    page = watched.open("/plans/add/")
    page.fill("#name", "With a setting")
    row = page.locator('[data-rows="settings"] li').first
    row.locator("input").first.fill("shared_bufers")
    row.locator("input").last.fill("lots")
    page.keyboard.press("Tab")
    expect(row.locator(".field-problem")).to_contain_text("Did you mean shared_buffers?")
    row.locator("input").first.fill("shared_buffers")
    page.keyboard.press("Tab")
    expect(row.locator(".field-problem")).to_contain_text("is a number with or without a unit")
    row.locator("input").last.fill("256MB")
    page.keyboard.press("Tab")
    expect(page.locator("#preview")).to_contain_text("12 trials")
    expect(row.locator(".field-problem")).to_have_text("")


def test_a_plan_that_is_sent_back_begins_at_its_first_problem_and_says_each_once(
    watched: Watched, agent: models.Agent
) -> None:
    watched.sign_in()
    page = watched.open("/plans/add/")
    page.fill("#name", "Wrong in two places")
    page.fill('[id="duration_s"]', "5min")
    page.fill('[id="parameters.script"]', "select_only")
    page.click("text=Save and run")
    expect(page.locator("#duration_s")).to_be_focused()
    expect(page.locator("#duration_s")).to_have_attribute("aria-invalid", "true")
    for sentence in ("It is in seconds: write 300.", "Did you mean select-only?"):
        assert page.locator("body").inner_text().count(sentence) == 1
    page.locator("#preview").get_by_role("link", name="script").click()
    expect(page.locator('[id="parameters.script"]')).to_be_focused()
    watched.troubles = [trouble for trouble in watched.troubles if "422" not in trouble]


@pytest.mark.smoke
def test_the_run_page_fills_in_by_itself(watched: Watched, agent: models.Agent) -> None:
    run = factories.run()
    trials = list(run.trials.order_by("position").select_related("configuration"))
    page = watched.open(f"/runs/{run.pk}/")
    cell = page.locator(f'[data-trial="{trials[0].pk}"]')
    expect(cell).to_have_attribute("data-state", "waiting")
    factories.begin(trials[0], "measure", expected_s=60)
    expect(cell).to_have_attribute("data-state", "running")
    expect(cell).to_contain_text("measure")
    factories.finish(trials[0], 4321.0)
    expect(cell).to_contain_text("4,321")
    factories.fail(trials[1])
    expect(page.locator(f'[data-trial="{trials[1].pk}"]')).to_contain_text("failed")
    expect(page.locator("h1")).to_contain_text("2 of 8 trials, 1 failed")
    drawn = "[...document.querySelectorAll('.chart')].flatMap(c => c.data).flatMap(t => t.customdata || []).length"
    page.wait_for_function(f"{drawn} === 1")
    for trial in trials[2:]:
        factories.finish(trial)
    models.Run.objects.filter(pk=run.pk).update(state="finished")
    page.wait_for_selector('#live[data-state="finished"]')
    assert page.locator("#live").get_attribute("hx-trigger") is None
    page.wait_for_function(f"{drawn} === 7")


def test_a_live_page_keeps_where_one_has_scrolled(watched: Watched, agent: models.Agent) -> None:
    run = factories.run(replicates=30)
    page = watched.open(f"/runs/{run.pk}/")
    page.evaluate("document.getElementById('matrix').scrollLeft = 300")
    with page.expect_response("**/live/"):
        pass
    trial = run.trials.select_related("configuration").get(position=0)
    factories.finish(trial)
    expect(page.locator(f'[data-trial="{trial.pk}"]')).to_have_attribute("data-state", "done")
    assert page.evaluate("document.getElementById('matrix').scrollLeft") == 300


def test_a_changed_cell_comes_alone_and_keeps_the_focus(watched: Watched, agent: models.Agent) -> None:
    factories.finished_run()  # metrics
    run = factories.run(factors={"installation": ["16", "18"], "clients": list(range(1, 26))}, replicates=10)
    trial = run.trials.select_related("configuration").get(position=0)
    page = watched.open(f"/runs/{run.pk}/")
    page.evaluate("document.querySelector('.matrix').dataset.kept = 'yes'")
    page.focus(f"#t{trial.pk}")
    factories.begin(trial, "measure", expected_s=600)
    with page.expect_response("**/live/") as answer:
        expect(page.locator(f"#c{trial.pk}")).to_have_attribute("data-state", "running")
    assert len(answer.value.body()) < 10_000
    factories.finish(trial, 4321.0)
    expect(page.locator(f"#c{trial.pk}.new")).to_contain_text("4,321")
    assert page.locator(".new").count() == 1
    expect(page.locator(f"#median-{trial.configuration.index}")).to_contain_text("4,321")
    expect(page.locator(f"#t{trial.pk}")).to_be_focused()
    assert page.locator(".matrix").get_attribute("data-kept") == "yes"


def test_a_live_trial_keeps_open_what_was_opened(watched: Watched, agent: models.Agent) -> None:
    run = factories.run()
    trial = run.trials.select_related("configuration").get(position=0)
    factories.finish(trial)
    models.Trial.objects.filter(pk=trial.pk).update(state="waiting", attempt=None)
    page = watched.open(f"/trials/{trial.pk}/")
    page.click("#commands summary")
    expect(page.locator("#commands pre")).to_be_visible()
    expect(page.locator("h1")).to_contain_text("waiting")
    models.Trial.objects.filter(pk=trial.pk).update(state="running")
    expect(page.locator("h1")).to_contain_text("running")
    expect(page.locator("#commands pre")).to_be_visible()


@pytest.mark.smoke
def test_a_page_left_open_past_signing_out_goes_to_sign_in_and_back(
    watched: Watched, agent: models.Agent, settings: Any
) -> None:
    settings.TEITEN_OPEN_READING = False
    run = factories.run()
    watched.sign_in()
    page = watched.open(f"/runs/{run.pk}/")
    page.context.clear_cookies()
    page.wait_for_url(f"**/account/sign-in/?next=/runs/{run.pk}/")
    expect(page.locator("h1")).to_have_text("Sign in")
    page.fill("#id_username", "member")
    page.fill("#id_password", PASSWORD)
    page.click("main button.primary")
    expect(page.locator("#live")).to_have_attribute("data-state", "running")


@pytest.mark.smoke
def test_the_comparison_follows_its_controls_and_its_address_reproduces_it(
    watched: Watched, agent: models.Agent
) -> None:
    run = factories.finished_run()
    page = watched.open(f"/compare/?run={run.pk}")
    page.wait_for_selector(DRAWN)
    page.select_option("#metric", "latency.p99")
    expect(page.locator("#figure-title")).to_contain_text("p99 latency")
    page.select_option("#baseline", "postgresql-18.1")
    expect(page.locator("table.compare thead th").last).to_contain_text("baseline")
    page.locator("label.chip", has=page.locator('[name="filter.clients"][value="4"]')).click()
    address = f"/compare/?run={run.pk}&metric=latency.p99&baseline=postgresql-18.1&filter.clients=4"
    page.wait_for_url("**" + address)
    page.wait_for_function("document.querySelectorAll('table.compare tr[data-x]').length === 1")
    table = page.locator("table.compare").inner_text()
    assert watched.open(address).locator("table.compare").inner_text() == table
    expect(page.locator("#baseline")).to_have_value("postgresql-18.1")


def test_going_back_restores_the_choice_before(watched: Watched, agent: models.Agent) -> None:
    run = factories.finished_run()
    page = watched.open(f"/compare/?run={run.pk}")
    page.select_option("#metric", "latency.p99")
    page.wait_for_url("**metric=latency.p99")
    page.go_back()
    expect(page.locator("#figure-title")).to_contain_text("Transactions per second")
    page.wait_for_selector(DRAWN)


@pytest.mark.smoke
def test_a_trial_draws_its_window_and_a_click_on_a_mark_leads_there(watched: Watched, agent: models.Agent) -> None:
    run = factories.finished_run()
    page = watched.open(f"/runs/{run.pk}/")
    page.wait_for_selector(DRAWN)
    page.locator(".chart .points path").last.click(force=True)
    page.wait_for_url("**/trials/*/")
    expect(page.locator(".chart .heatmaplayer image")).to_have_count(1)


def test_the_theme_is_chosen_kept_and_taken_over_by_figures(watched: Watched, agent: models.Agent) -> None:
    run = factories.finished_run()
    page = watched.open(f"/compare/?run={run.pk}")
    page.wait_for_selector(DRAWN)
    text = "getComputedStyle(document.querySelector('.chart .xtick text')).fill"
    light = page.evaluate(text)
    page.click("[data-theme-toggle]")
    page.wait_for_function(f"{text} !== {light!r}")
    watched.open("/")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)"


def test_everything_can_be_reached_by_the_keyboard(watched: Watched, agent: models.Agent) -> None:
    page = watched.open(f"/runs/{factories.finished_run().pk}/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def pages_of(run: models.Run) -> list[str]:
    trial = run.trials.first()
    assert trial is not None
    plan = factories.stored_plan(name="A plan with a name that goes on and on " + "x" * 70)
    return [
        "/",
        "/runs/",
        f"/runs/{run.pk}/",
        f"/trials/{trial.pk}/",
        f"/compare/?run={run.pk}",
        "/compare/",
        "/plans/",
        f"/plans/{plan.pk}/",
        "/plans/add/",
        "/plans/import/",
        "/plans/ready/",
        "/capabilities/",
        "/plans/ready/own-queries/",
        "/agents/",
        "/agents/db1/",
        "/account/tokens/",
    ]


def settled(page: Page) -> None:
    page.wait_for_function("[...document.querySelectorAll('[data-figure]')].every(box => box.dataset.drawn)")


@pytest.mark.parametrize("watched", ["desktop", "phone"], indirect=True)
def test_no_page_scrolls_sideways_or_complains(watched: Watched, agent: models.Agent) -> None:
    run = factories.finished_run(name="定点観測 " + "very-long-name-without-a-space-" * 3)
    watched.sign_in()
    wide: dict[str, Any] = {}
    for path in pages_of(run):
        settled(watched.open(path))
        if watched.overflow_px() > 0:
            wide[path] = watched.overflow_px()
    assert wide == {}
