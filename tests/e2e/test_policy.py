"""Nothing of a page is kept by its Content-Security-Policy from running, and nothing else would run."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser

from results import models
from tests import factories
from tests.e2e.conftest import PATIENCE_MS, Served, Watched

PATHS = (
    "/",
    "/runs/{run}/",
    "/compare/?run={run}",
    "/compare/why/?run={run}",
    "/trends/?workload=pgbench",
    "/versions/",
    "/flame/?run={run}",
    "/trials/{trial}/",
    "/plans/add/",
    "/agents/",
    "/reports/new/",
    "/manual/method/",
    "/api/v1/docs/",
)


def test_pages_work_under_their_policy(
    chromium: Browser, live_server: Any, transactional_db: None, served: Served
) -> None:
    run = factories.finished_run()
    factories.member()
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = Watched(context, live_server.url)
    page.sign_in()
    trial = models.Trial.objects.filter(run=run)[0].pk
    for path in PATHS:
        page.open(path.format(run=run.pk, trial=trial)).wait_for_load_state("networkidle")
    assert page.troubles == []
    refused: list[str] = []
    page.page.on("console", lambda message: refused.append(message.text))
    page.open("/").add_style_tag(content="body { color: inherit }")
    page.page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "document.title = 'canary'";
        document.body.append(script);
    }""")
    assert page.page.title() != "canary"
    assert any("Content Security Policy" in text for text in refused)
    context.close()
    served.wait()
