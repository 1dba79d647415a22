"""The picture of a trial's servers in a browser: every size of it, on every screen, for everybody."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from results import models
from tests import arrangements, factories
from tests.e2e.conftest import Watched

LONG = "postgresql-benchmark-host-with-long-name-07.rack-12.example.org"


def runs_of() -> dict[str, models.Run]:
    """By name of the picture."""
    return {
        "single": factories.finished_run(replicates=1, factors={"installation": ["16"]}),
        "streaming": arrangements.arranged_run(topology_parameters=arrangements.STANDBYS | {"load": "both"}),
        "reads": arrangements.arranged_run(
            topology_parameters={"standbys": 3, "load": "standbys"},
            parameters={"scale": 5, "clients": 4, "script": "select-only"},
            agents={"primary": "db1"},
            synchronous=False,
        ),
        "cascade": arrangements.arranged_run(
            "cascading",
            topology_parameters={"standbys": 8},
            agents={"client": "load1", "primary": "db1", "cascade": "db2", "standby": LONG},
        ),
    }


@pytest.mark.parametrize("watched", ["desktop", "dark", "phone"], indirect=True)
def test_every_arrangement_fits_and_is_accessible(
    watched: Watched, agent: models.Agent, request: pytest.FixtureRequest
) -> None:
    violations = []
    for name, run in runs_of().items():
        page = watched.open(f"/trials/{run.trials.get().pk}/")
        section = page.locator(".arrangement")
        section.wait_for()
        if folder := os.environ.get("TEITEN_PICTURES"):
            look = request.node.callspec.params["watched"]
            section.screenshot(path=Path(folder) / f"{name}-{look}.png")
        assert watched.overflow_px() == 0, name
        heights = page.evaluate(
            "[...document.querySelectorAll('.nodes > li')].map((li) => "
            "[li.querySelector('.wires').getBoundingClientRect().height, li.getBoundingClientRect().height])"
        )
        assert all(wires == row for wires, row in heights), f"{name}: the wires are not as high as their rows"
        for rule in Axe().run(page).response["violations"]:
            violations += [(name, rule["id"], node["html"][:120]) for node in rule["nodes"]]
    assert violations == []


@pytest.mark.parametrize("watched", ["desktop", "phone"], indirect=True)
def test_the_topologies_page_shows_lag_within_the_screen(
    watched: Watched, agent: models.Agent, request: pytest.FixtureRequest
) -> None:
    arrangements.arranged_run()
    page = watched.open("/topologies/")
    expect(page.locator("[data-figure]")).to_have_attribute("data-drawn", re.compile(r"\d+"))
    if folder := os.environ.get("TEITEN_PICTURES"):
        page.screenshot(path=Path(folder) / f"topologies-{request.node.callspec.params['watched']}.png")
    assert watched.overflow_px() == 0
    for words in ("lag in WAL", "catch-up", "250 ms"):
        expect(page.locator("#topologies")).to_contain_text(words)
    assert [rule["id"] for rule in Axe().run(page).response["violations"]] == []
