"""From an undecided cell to more replicates, in the browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from results import models
from tests import factories
from tests.e2e.conftest import Watched


@pytest.fixture
def undecided(agent: models.Agent) -> models.Run:
    run = factories.run(replicates=3, seed=1)
    factories.finish_noisily(run, 0.06)
    return run


def test_from_an_undecided_cell_to_trials_that_wait(watched: Watched, undecided: models.Run) -> None:
    watched.sign_in()
    page = watched.open(f"/compare/?run={undecided.pk}")
    cell = page.locator("table.compare td.cell", has_text="undecided").first
    expect(cell).to_contain_text("cannot be told with a reasonable number of replicates")
    assert page.locator("table.compare button").count() == 0
    page.fill("#more-blocks", "237")
    page.click("text=Estimate the time")
    expect(page.locator("h1")).to_contain_text(f"Add replicates to run {undecided.pk}?")
    expect(page.locator("p.lead")).to_contain_text("948 trials, which take about")
    page.fill("#blocks", "2")
    page.click("text=Estimate again")
    expect(page.locator("p.lead")).to_contain_text("8 trials, which take about")
    assert undecided.trials.count() == 12
    page.click("text=Add 8 trials")
    page.wait_for_url(f"**/runs/{undecided.pk}/")
    expect(page.locator("main")).to_contain_text("12 of 20 trials")
    assert undecided.trials.filter(state="waiting").count() == 8


def test_a_stranger_reads_what_would_tell_and_is_offered_nothing(watched: Watched, undecided: models.Run) -> None:
    page = watched.open(f"/compare/?run={undecided.pk}")
    expect(page.locator("table.compare")).to_contain_text("cannot be told with a reasonable number of replicates")
    assert page.locator("#more-blocks").count() == 0
    page = watched.open(f"/runs/blocks/?run={undecided.pk}&blocks=2")
    page.wait_for_url("**/account/sign-in/**")


@pytest.mark.parametrize("watched", ["desktop", "phone"], indirect=True)
def test_the_table_and_the_question_fit_the_screen(watched: Watched, undecided: models.Run) -> None:
    watched.sign_in()
    for path in (f"/compare/?run={undecided.pk}", f"/runs/blocks/?run={undecided.pk}&blocks=1000"):
        watched.open(path)
        assert watched.overflow_px() == 0
