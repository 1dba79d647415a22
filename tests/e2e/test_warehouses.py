"""Every page of the menu in warehouses as they become: empty, one run, forty runs with toys among them, 500 rows, long
names. None fails, none is wider than the screen, and none is a wall."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from results import models
from tests import warehouses
from tests.e2e.conftest import LOOKS, Watched

LONGEST_PX = 6000  # of a page at desktop width; a table of 500 rows and a chapter of text may be longer
WIDTHS = {look: LOOKS[look]["viewport"] for look in ("desktop", "phone")}


def paths(page: Page) -> Iterator[str]:
    """What the menu leads to, and the pages of the newest finished run."""
    links = [link.get_attribute("href") or "" for link in page.locator("header nav a").all()]
    yield from dict.fromkeys(address for address in links if address != reverse("api:docs"))
    run = models.Run.objects.filter(state="finished").order_by("-id").first()
    if run is not None:
        yield f"/runs/{run.pk}/"
        yield f"/compare/?run={run.pk}"
        yield f"/trials/{models.Trial.objects.filter(run=run, state='done').first().pk}/"


@pytest.mark.parametrize("name", sorted(warehouses.WAREHOUSES))
def test_every_page_stands_at_both_widths(name: str, watched: Watched) -> None:
    warehouses.WAREHOUSES[name]()
    walls, wide = [], []
    for path in list(paths(watched.open("/"))):
        for look, size in WIDTHS.items():
            watched.page.set_viewport_size(size)
            page = watched.open(path)
            assert page.locator("h1").count() == 1, path
            if watched.overflow_px() > 0:
                wide.append((path, look, watched.overflow_px()))
            height = int(page.evaluate("document.documentElement.scrollHeight"))
            may_be_long = name == "many-rows" or path.startswith("/manual/")
            if look == "desktop" and not may_be_long and height > LONGEST_PX:
                walls.append((path, height))
    assert wide == []
    assert walls == []
