"""Which runs ready views are made of."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.db.models.functions import Now

from results import models
from results.queries.presets.sources import sources
from results.queries.shared.run_filter import NO_FILTER
from tests import factories

pytestmark = pytest.mark.django_db


def test_the_configurations_of_a_run_are_read_once(django_assert_num_queries: Any) -> None:
    run = factories.finished_run()
    [first] = sources(NO_FILTER)
    assert (first.run_id, first.versions, first.topologies) == (run.pk, ("16", "18"), ("single",))
    models.Configuration.objects.update(dimensions={"major": "17"})  # which nothing in Teiten does
    with django_assert_num_queries(1):
        assert sources(NO_FILTER) == [first]
    models.Run.objects.update(headline="latency.p99")
    [again] = sources(NO_FILTER)
    assert (again.headline, again.versions) == ("latency.p99", first.versions)
    newer = factories.finished_run()
    assert [source.run_id for source in sources(NO_FILTER)] == [newer.pk, run.pk]


def test_another_run_of_the_same_number_is_read_anew() -> None:
    """As where another warehouse was restored beneath a process that goes on."""
    factories.finished_run()
    sources(NO_FILTER)
    models.Run.objects.update(created_at=F("created_at") - timedelta(microseconds=1))
    models.Configuration.objects.update(dimensions={"major": "17", "topology": "primary-standby"})
    [source] = sources(NO_FILTER)
    assert (source.versions, source.topologies) == (("17",), ("primary-standby",))
    models.Run.objects.update(created_at=Now())
    models.Configuration.objects.update(dimensions={})
    assert sources(NO_FILTER) == []
    assert sources(NO_FILTER) == []
