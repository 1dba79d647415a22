"""Seconds until the comparison's page of 500 cells × 2 versions × 6 replicates has drawn its figures in Chromium, asked
of gunicorn by one visitor. Figures below what is in view are drawn when the page is at rest."""

from __future__ import annotations

import time
from statistics import median

from django.core.management import call_command
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console

from bench.comparison import PORT, served, warehouse
from bench.figures import Figure

CHROMIUM = "/usr/bin/chromium-headless-shell"
LIMIT_S = 1.5
VIEWS = {
    "in one figure": "run=11&x=scale,script,clients",
    "in panels": "run=11&panel=scale,script",
}
DRAWN = """(all) => document.readyState === "complete" && document.querySelector("[data-figure]") !== null
    && [...document.querySelectorAll("[data-figure]")].every(
        (box) => box.dataset.drawn || (!all && box.getBoundingClientRect().top > innerHeight)
    )"""


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    call_command("collectstatic", interactive=False, verbosity=0)
    figures = []
    with warehouse(console), served(), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for name, query in VIEWS.items():
            _drawn(browser, query)  # the server's first answer
            times = [_drawn(browser, query) for _ in range(min(rounds, 20))]
            for what, took in zip(("what is in view", "everything"), zip(*times, strict=True), strict=True):
                figures.append(Figure(f"the explorer {name}, {what} drawn", "s", LIMIT_S, took))
                console.print(f"  {name}, {what} drawn: median {median(took):.2f} s, slowest {max(took):.2f} s")
        browser.close()
    return figures


def _drawn(browser: Browser, query: str) -> tuple[float, float]:
    """Seconds from the request, with an empty cache, until the figures in view are drawn, and until all are."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    begun = time.perf_counter()
    page.goto(f"http://127.0.0.1:{PORT}/compare/?{query}", wait_until="commit")
    page.wait_for_function(DRAWN, arg=False)
    in_view = time.perf_counter() - begun
    page.wait_for_function(DRAWN, arg=True)
    took = in_view, time.perf_counter() - begun
    assert page.locator("table.compare tr[data-x]").count() > 0
    page.close()
    return took
