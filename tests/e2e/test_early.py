"""A page that is used before its scripts are there (static/js/early.js)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, Route, expect

from results import models
from tests import factories
from tests.e2e.conftest import Watched


@contextmanager
def before_htmx(page: Page, address: str) -> Iterator[None]:
    """A page as it is while htmx is still being loaded, until the block ends."""
    held: list[Route] = []
    page.route("**/htmx*.js", lambda route: held.append(route))
    with page.expect_request("**/htmx*.js"):
        page.goto(address, wait_until="commit")
    yield
    held[0].continue_()


def test_what_is_chosen_before_htmx_is_there_counts(watched: Watched, agent: models.Agent) -> None:
    factories.agent("db2", {"17.5": 170005})
    watched.sign_in()
    compared = watched.page.locator("#compared")
    with before_htmx(watched.page, f"{watched.base}/plans/ready/own-queries/"):
        watched.page.select_option("[id='agents.primary']", "db2")
        expect(compared).to_contain_text("postgresql-16.9")
    expect(compared).to_contain_text("postgresql-17.5")


def test_what_is_typed_before_htmx_is_there_counts(watched: Watched, agent: models.Agent) -> None:
    row = watched.page.locator(f"#runs a[href='/runs/{factories.finished_run().pk}/']").first
    with before_htmx(watched.page, f"{watched.base}/runs/"):
        watched.page.fill("[name=name]", "no such name")
        expect(row).to_be_visible()
    expect(row).to_have_count(0)
