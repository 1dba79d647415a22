"""The page of capabilities in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from results import models
from tests import factories
from tests.e2e.conftest import Watched

SAID = "ERROR:  only heap AM is supported " + "no-space-" * 40


@pytest.mark.parametrize("watched", ["desktop", "phone"], indirect=True)
def test_an_answer_opens_to_what_was_said_and_a_filter_applies_at_once(watched: Watched, agent: models.Agent) -> None:
    factories.capability_run({"vacuum": "yes", "toast": "no"}, access_method="zheap", message=SAID)
    for installation in ("16", "18"):
        factories.capability_run({"vacuum": "yes", "toast": "yes"}, installation=installation)
    page = watched.open("/capabilities/")
    message = page.locator(".answer.no .said")
    expect(message).to_be_hidden()
    page.click(".answer.no summary")
    expect(message).to_contain_text("only heap AM is supported")
    assert watched.overflow_px() == 0

    page.locator("#matrix").evaluate("box => box.scrollLeft = 80")
    first = page.locator(".capabilities tbody tr:not(.group) th").first.bounding_box()
    box = page.locator("#matrix").bounding_box()
    assert first is not None and box is not None
    assert first["x"] == box["x"]

    page.click("text=only what is not “yes” everywhere")
    expect(page.locator("#matrix")).not_to_contain_text("VACUUM")
    expect(page.locator("#matrix")).to_contain_text("TOAST")
    assert page.url.endswith("/capabilities/?only=differing")
    page.click("label.chip:has-text('postgresql-18.1')")
    expect(page.locator("#capabilities")).to_contain_text("Every answer is yes.")
    assert page.url.endswith("/capabilities/?installation=postgresql-18.1&only=differing")
