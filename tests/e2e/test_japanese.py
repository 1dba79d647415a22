"""Every page of the menu in Japanese, on a desktop and on a phone: nothing is wider than the screen, and no English is
left but names."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from results import models
from tests import factories, warehouses
from tests.e2e.conftest import Watched
from tests.e2e.english import english_texts
from tests.e2e.test_warehouses import WIDTHS, paths

# What these pages show of ready plans, and the names of parameters in the form, are English still (docs/words.ja.md).
NOT_YET = ("/plans/ready/", "/plans/add/", "/plans/")
FORMS = ("/plans/import/", "/agents/add/", "/imports/new/", "/reports/new/", "/account/tokens/")


@pytest.fixture
def japanese(watched: Watched) -> Watched:
    """A visitor whose browser asks for Japanese."""
    watched.page.set_extra_http_headers({"Accept-Language": "ja"})
    return watched


def names() -> frozenset[str]:
    """Return what people have called things, and what programs and versions are called."""
    named = [model.objects.values_list("name", flat=True) for model in (models.Plan, models.Agent, models.Installation)]
    return frozenset({"look", "member"}.union(*named))


@pytest.mark.parametrize("name", ["empty", "grown"])
def test_every_page_is_japanese_at_both_widths(name: str, japanese: Watched) -> None:
    warehouses.WAREHOUSES[name]()
    factories.member()
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
    assert {path: texts for path, texts in english.items() if path not in NOT_YET} == {}
