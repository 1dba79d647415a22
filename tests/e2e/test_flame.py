"""The flame chart in a real browser: drawn when it is looked at, and searched."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests import factories


def test_a_function_is_found_in_the_flame_chart_of_a_trial(watched: Any, agent: Any) -> None:
    trial = factories.finished_run().trials.select_related("configuration").order_by("pk")[0]
    samples = factories.stacks(trial)
    share = 100 * sum(count for stack, count in samples.items() if "heap_getnext" in stack) / sum(samples.values())
    page = watched.open(f"/trials/{trial.pk}/")
    page.locator("#flame").scroll_into_view_if_needed()
    page.wait_for_selector("#flame [data-drawn]")
    match = page.locator("[data-flame-found]")
    page.fill("[data-flame]", "HEAP_get")
    expect(match).to_have_text(f"{share:.1f} % of samples, in 1 place")
    page.click("[data-theme-toggle]")
    expect(match).to_have_text(f"{share:.1f} % of samples, in 1 place")
    page.fill("[data-flame]", "vacuum")
    expect(match).to_have_text("no such function")
    page.fill("[data-flame]", "")
    expect(match).to_have_text("")
    assert watched.overflow_px() == 0


def test_two_trials_of_long_names_fit_a_phone(watched: Any, agent: Any) -> None:
    names = [
        {"label": f"postgresql-{major}-with-assertions", "values": {"installation": f"{major}"}} for major in (16, 18)
    ]
    run = factories.finished_run(factors={"build": names}, replicates=1)
    one, other = run.trials.select_related("configuration").order_by("pk")
    for trial in (one, other):
        factories.stacks(trial)
    watched.page.set_viewport_size({"width": 390, "height": 844})
    page = watched.open(f"/flame/?a={one.pk}&b={other.pk}")
    expect(page.locator("h1")).to_contain_text("from a, ")
    assert watched.overflow_px() == 0
