"""When an agent's clusters are looked at, between trials."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from results import models
from results.models.agents import AgentState
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
