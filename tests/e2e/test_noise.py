"""Noise in the browser: from a run to its A/A plan, and the agent's table."""

from __future__ import annotations

import pytest

from tests import factories
from tests.e2e.conftest import Watched


@pytest.mark.parametrize("watched", ["desktop", "phone"], indirect=True)
def test_the_agents_table_of_noise_fits_the_page(watched: Watched) -> None:
    run = factories.aa_run(0.02)
    page = watched.open("/agents/db1/")
    table = page.locator("#noise table").first
    assert "Transactions per second" in table.inner_text()
    assert page.locator(f"#noise a[href='/runs/{run.pk}/']").count() == 1
    assert watched.overflow_px() == 0


def test_from_a_run_to_its_aa_plan_that_says_what_its_blocks_will_show(watched: Watched) -> None:
    factories.member()
    run = factories.aa_run(0.02)
    usual = factories.finished_run(name="usual")
    watched.sign_in()
    page = watched.open(f"/runs/{usual.pk}/")
    page.click("text=Measure its noise (A/A)")
    page.wait_for_selector(f"text=In A/A run {run.pk} on these agents")
    assert page.input_value("[name=name]") == "A/A of usual"
    assert page.input_value("[name=replicates]") == "5"
    assert "40 trials" in page.inner_text("main")
