"""Every page against the rules of axe-core."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from results import models
from tests import factories
from tests.e2e.conftest import Watched
from tests.e2e.test_browser import pages_of, settled
from tests.webapp.pages.test_comparison_choices import queries_of


def more_pages(run: models.Run) -> list[str]:
    cell = "at=4&of=postgresql-18.1"
    return [
        f"/compare/?run={run.pk}&view=ratio",
        f"/compare/?run={run.pk}&panel=clients&series=none",
        f"/compare/?run={run.pk}&without=4",
        f"/compare/?run={run.pk}&x=none-such",
        f"/compare/cell/?run={run.pk}&{cell}",
        f"/compare/why/?run={run.pk}&{cell}",
        "/diff/",
        "/c/",
        "/flame/",
        f"/c/{factories.citation(run).pk}/",
        f"/runs/blocks/?run={run.pk}&blocks=2",
        "/compare/?run=999",
        f"/compare/?run={run.pk}&metric=nothing",
        f"/compare/?run={run.pk}&x=label&metric=query.time&filter.clients=4",
        "/account/sign-in/",
    ]


@pytest.mark.parametrize("watched", ["desktop", "dark", "phone"], indirect=True)
def test_no_page_violates_a_rule_of_axe(watched: Watched, agent: models.Agent) -> None:
    run = factories.finished_run()
    queries_of(run)
    watched.sign_in()
    violations = []
    for path in [*pages_of(run), *more_pages(run)]:
        page = watched.open(path)
        settled(page)
        for rule in Axe().run(page).response["violations"]:
            violations += [(path, rule["id"], node["html"][:120]) for node in rule["nodes"]]
    watched.troubles = [trouble for trouble in watched.troubles if "400" not in trouble]
    assert violations == []
