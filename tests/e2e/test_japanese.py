"""Every page of the menu in Japanese, on a desktop and on a phone: nothing is wider than the screen, and no English is
left but names."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from results import models
from results.domain.kinds.conditions import CONDITIONS, TEXTS
from tests import warehouses
from tests.e2e.conftest import Watched
from tests.e2e.english import english_texts
from tests.e2e.test_warehouses import WIDTHS, paths
from workers.registry import kinds

CHAPTERS = re.compile(r"/manual/.*")  # those that are translated name papers
MADE_UP = (  # by the tests: the words of a metric, and of what went wrong
    "From the exact histogram.",
    "could not extend file: No space left on device",
    "pgbench ended with status 1.",
    "sar is not installed",
)
FORMS = ("/plans/import/", "/agents/add/", "/imports/new/", "/reports/new/", "/account/tokens/")


@pytest.fixture
def language() -> str:
    return "ja"


def names() -> frozenset[str]:
    """Return what people and the tests have called things, and what programs and versions are called."""
    named = [model.objects.values_list("name", flat=True) for model in (models.Plan, models.Run, models.Installation)]
    workers = models.Attempt.objects.values_list("worker", flat=True)
    levels = {str(level) for one in models.Configuration.objects.all() for level in one.levels.values()}
    specs = kinds()
    return frozenset(
        {"look", "member", "network"}.union(
            MADE_UP, levels, workers, *named, specs.workloads, specs.topologies, specs.collectors
        )
    )


def values() -> frozenset[str]:
    """Return what stands in plans as it is: what can be chosen of a parameter, and the roles of agents."""
    specs = kinds()
    declared = [TEXTS, CONDITIONS]
    declared += [spec.parameters for spec in specs.workloads.values()]
    declared += [spec.parameters for spec in specs.topologies.values()]
    choices = {choice for parameters in declared for parameter in parameters for choice in parameter.choices}
    return frozenset(choices.union({"client"}, *(spec.role_names for spec in specs.topologies.values())))


@pytest.mark.parametrize("name", ["empty", "grown"])
def test_every_page_is_japanese_at_both_widths(name: str, watched: Watched) -> None:
    warehouses.WAREHOUSES[name]()
    watched.sign_in()
    english: dict[str, list[str]] = {}
    wide: list[tuple[str, str, int]] = []
    for path in [*paths(watched.open("/")), *FORMS]:
        for look, size in WIDTHS.items():
            watched.page.set_viewport_size(size)
            page = watched.open(path)
            expect(page.locator("html")).to_have_attribute("lang", "ja")
            if watched.overflow_px() > 0:
                wide.append((path, look, watched.overflow_px()))
        if not CHAPTERS.fullmatch(path) and (texts := english_texts(page, names(), values())):
            english[path] = texts
    assert wide == []
    assert english == {}
