"""When an agent's clusters are looked at, between trials, and what is filed of their removal."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from results import models
from results.models.agents import AgentState
from results.pruning import REMOVE, record_removal
from tests import factories
from workers import pruning

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("ago_s", "error", "looked_at"),
    [(120, None, True), (10, None, False), (120, {"what": "It took longer than 60 s."}, False)],
)
def test_between_two_trials_of_a_queue(ago_s: float, error: dict[str, str] | None, looked_at: bool) -> None:
    run, now = factories.run(), timezone.now()
    attempt = factories.begin(run.trials.order_by("position")[0])
    models.Agent.objects.update(
        state=AgentState.READY, clusters_at=now - timedelta(seconds=ago_s), clusters_error=error
    )
    assert bool(pruning.agents_to_look_at(attempt.pk, now)) == looked_at


@pytest.mark.parametrize("finished", [True, False])
def test_a_removal_is_filed_once_though_its_connection_broke_off_at_the_commit(finished: bool) -> None:
    factories.agent()
    factories.clusters(factories.lies("/data/clusters/16.9-1"))
    cluster = models.Cluster.objects.select_related("agent").get()
    for _ in range(2):
        record_removal(cluster, "7 days after its last use.", "ada", finished=finished)
    assert models.AuditEntry.objects.filter(verb=REMOVE).count() == 1
    assert models.Cluster.objects.exists() is not finished
