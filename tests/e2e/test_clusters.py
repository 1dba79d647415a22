"""An agent's clusters in the browser: the pages hold at every width and against axe-core's rules."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone

from results import models
from results.domain.matrix.clusters import ClusterState
from results.pruning import record_removal
from tests import factories
from tests.e2e.conftest import Watched
from tests.factories import lies

LONG = "/srv/data/clusters/postgresql-16.9-" + "very-long-" * 8
WAL = "/mnt/ssd/wal/postgresql-16.9-" + "very-long-" * 8


@pytest.mark.parametrize("watched", ["desktop", "dark", "phone"], indirect=True)
def test_clusters_are_accessible_and_fit(watched: Watched, agent: models.Agent) -> None:
    models.Member.objects.update(role="administrator")
    watched.sign_in()
    factories.clusters(
        lies(f"{LONG}0123abcd", 101, days=9, parts=(f"{WAL}0123abcd-89abcdef",)),
        lies("/srv/data/clusters/16-1123abcd", running=True),
        lies("/srv/data/clusters/16-2123abcd", bin_dir="/opt/gone/bin", state=ClusterState.UNFINISHED),
        lies("/srv/data/clusters/16-3123abcd"),
    )
    first = models.Cluster.objects.select_related("agent").get(directory__endswith="3123abcd")
    record_removal(first, "7 days after its last use.", "ada", finished=True)
    error = {"what": "It could not be removed.", "why": "rm: cannot remove " + "x" * 200, "todo": "Look at the owner."}
    models.Cluster.objects.filter(directory__startswith=LONG).update(error=error, tried_at=timezone.now())
    violations = []
    for path in ("/agents/db1/", "/agents/db1/clusters/"):
        page = watched.open(path)
        assert watched.overflow_px() == 0, path
        for rule in Axe().run(page).response["violations"]:
            violations += [(path, rule["id"], node["html"][:120]) for node in rule["nodes"]]
    assert violations == []
    assert page.locator("input[name=directory]:checked").count() == 1
    page.locator("label", has_text="16-2123abcd").click()
    assert page.locator("input[name=directory]:checked").count() == 2
