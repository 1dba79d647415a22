"""An operator defines a host factor in the browser; the pages hold at every width and against axe-core's rules."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from results import models
from tests import factories
from tests.e2e.conftest import Watched


@pytest.fixture
def operator(watched: Watched, agent: models.Agent) -> Watched:
    models.Member.objects.update(role="administrator")
    watched.sign_in()
    return watched


@pytest.mark.parametrize("watched", ["desktop", "dark", "phone"], indirect=True)
def test_pages_of_host_factors_are_accessible_and_fit(operator: Watched) -> None:
    factories.define_host_factor()
    models.Agent.objects.update(places={"ssd": "/mnt/ssd/teiten"})
    factories.not_back("db1", error="It is 'performance' and was 'powersave'.")
    violations = []
    for path in ("/agents/db1/", "/agents/", "/agents/db1/host/cpu_governor/edit/", "/agents/db1/host/add/"):
        page = operator.open(path)
        assert operator.overflow_px() == 0, path
        for rule in Axe().run(page).response["violations"]:
            violations += [(path, rule["id"], node["html"][:120]) for node in rule["nodes"]]
    assert violations == []


def test_a_factor_with_three_levels_is_defined(operator: Watched) -> None:
    page = operator.open("/agents/db1/host/add/")
    page.fill("#name", "smt")
    page.fill("#show", "cat /sys/smt")
    page.fill("#revert", 'echo "$1" >/sys/smt')
    page.click("text=Add a level")
    for index, label in enumerate(("on", "off", "forceoff")):
        level = page.locator(".levels .level").nth(index)
        level.locator("[name=level-label]").fill(label)
        level.locator("[name=level-apply]").fill(f"echo {label} >/sys/smt")
        level.locator("[name=level-check]").fill("cat /sys/smt")
        level.locator("[name=level-expected]").fill(label)
    page.click("text=Save")
    page.wait_for_selector("text=Plans may name host.smt now.")
    assert page.locator(".choices").inner_text().endswith("on, off, forceoff")
