"""Noise over the API."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests import factories

pytestmark = pytest.mark.django_db


def test_every_spread_leads_to_its_trials(django_assert_num_queries: Any, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    run = factories.aa_run(0.02)
    with django_assert_num_queries(2):
        content = APIClient().get(f"/api/v1/noise/?run={run.pk}&metric=tps&workload=pgbench").json()["results"]
    assert len(content) == 2
    for row in content:
        assert 0.001 < row["spread"] < row["detectable"]
        assert len(row["trial_ids"]) == 10
        assert row["links"]["run"].endswith(f"/api/v1/runs/{run.pk}/")


def test_a_run_without_twins_has_none(settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    run = factories.finished_run()
    assert APIClient().get(f"/api/v1/noise/?run={run.pk}").json()["results"] == []
