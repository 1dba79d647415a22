"""Every page of the menu in Japanese, on a desktop and on a phone: nothing is wider than the screen, and no English is
left but names."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from results import models
from tests import warehouses
from tests.e2e.conftest import Watched
from tests.e2e.english import english_texts
from tests.e2e.test_warehouses import WIDTHS, paths
from workers.registry import kinds

# Descriptions of plans are their authors'. Names of parameters, and some words of metrics and events, are English
# still, as the pages of a run, a trial and a comparison show; chapters that are translated name papers.
NOT_YET = re.compile(r"/(?:plans/add|manual|trials|access-methods)/.*|/plans/|/runs/\d+/|/compare/\?.*")
FORMS = ("/plans/import/", "/agents/add/", "/imports/new/", "/reports/new/", "/account/tokens/")


@pytest.fixture
def japanese(watched: Watched) -> Watched:
    """A visitor whose browser asks for Japanese."""
    watched.page.set_extra_http_headers({"Accept-Language": "ja"})
    return watched


def names() -> frozenset[str]:
    """Return what people have called things, and what programs and versions are called."""
    named = [model.objects.values_list("name", flat=True) for model in (models.Plan, models.Run, models.Installation)]
    levels = {str(level) for one in models.Configuration.objects.all() for level in one.levels.values()}
    specs = kinds()
    return frozenset(
        {"look", "member", "network"}.union(levels, *named, specs.workloads, specs.topologies, specs.collectors)
    )


@pytest.mark.parametrize("name", ["empty", "grown"])
def test_every_page_is_japanese_at_both_widths(name: str, japanese: Watched) -> None:
    warehouses.WAREHOUSES[name]()
    japanese.sign_in()
    english: dict[str, list[str]] = {}
    wide: list[tuple[str, str, int]] = []
    for path in [*paths(japanese.open("/")), *FORMS]:
        for look, size in WIDTHS.items():
            japanese.page.set_viewport_size(size)
            page = japanese.open(path)
            expect(page.locator("html")).to_have_attribute("lang", "ja")
            if japanese.overflow_px() > 0:
                wide.append((path, look, japanese.overflow_px()))
        if texts := english_texts(page, names()):
            english[path] = texts
    assert wide == []
    assert {path: texts for path, texts in english.items() if not NOT_YET.fullmatch(path)} == {}
