"""What two ran in, in a browser."""

from __future__ import annotations

import pytest

from results import models
from tests import environments, factories
from tests.e2e.conftest import Watched

KERNEL = {"release 6.1": "release 6.8", "vm.swappiness 60": "vm.swappiness 10"}
LOOKS = pytest.mark.parametrize("watched", ["desktop", "phone"], indirect=True)


@pytest.fixture
def run(agent: models.Agent) -> models.Run:
    """18 on another kernel than 16, and with more memory for sorts."""
    made = factories.finished_run(replicates=3)
    other = environments.layers(
        18, facts=KERNEL, rows={"work_mem": "65536"}, build={"configure": ["--prefix=/opt/18.4", "CFLAGS=-O3"]}
    )
    environments.run_in_versions(made, v18=other)
    return made


@LOOKS
def test_two_trials_are_chosen_searched_and_swapped(watched: Watched, run: models.Run) -> None:
    left, right = environments.of_each_version(run)
    page = watched.open(f"/trials/{left}/")
    page.click("text=Compare environment with")
    assert page.input_value("#left") == f"trial:{left}"
    page.fill("#right", f"trial:{right}")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=3 keys that matter differ")
    assert watched.overflow_px() == 0
    page.fill("#q", "swappiness")
    page.wait_for_function("document.querySelectorAll('table.diff tbody tr').length === 1")
    assert page.evaluate("document.activeElement.id") == "q"
    assert page.url.endswith(f"/diff/?left=trial:{left}&right=trial:{right}&q=swappiness")
    page.fill("#q", "")
    page.wait_for_function("document.querySelectorAll('table.diff tbody tr').length > 1")
    page.select_option("#show", "all")
    page.wait_for_function("document.querySelectorAll('table.diff tbody tr').length > 400")
    assert watched.overflow_px() == 0
    page.click("text=Swap sides")
    page.wait_for_selector(f"h1:has-text('Environments of trial {right} and trial {left}')")
    assert "show=all" in page.url


@LOOKS
def test_a_comparison_says_what_else_differs_and_leads_there(watched: Watched, run: models.Run) -> None:
    page = watched.open(f"/compare/?run={run.pk}")
    summary = page.locator("#environment > summary")
    assert "differs as intended installation postgresql-16.9 → postgresql-18.1" in summary.inner_text()
    assert "no verdict in 2 of 2 cells" in summary.inner_text()
    summary.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#environment[open] table")
    assert watched.overflow_px() == 0
    page.click("#environment >> text=All keys of one trial")
    page.wait_for_selector("h1:has-text('Environments of')")
