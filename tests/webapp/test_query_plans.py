"""No page or list scans a table that grows with the trials, or sorts on disk. A page is added by its address."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from bench.growth import fill
from results import models, sql
from results.checked_builds import store_checked_builds
from results.queries.presets import sources
from tests import query_plans

TRIALS = 40_000
PAGES = (
    "/",
    "/now/",
    "/runs/",
    "/runs/?state=finished",
    "/runs/?agent=db1",
    "/runs/?name=run+77",
    "/versions/",
    "/topologies/",
    "/access-methods/",
    "/capabilities/",
    "/capabilities/?tag=paper",
    "/flame/",
    "/plans/",
    "/agents/",
    "/agents/db1/",
    "/published/",
    "/imports/",
    "/reports/",
    "/c/",
    "/metrics",
    "/api/v1/agents/",
    "/api/v1/installations/",
    "/api/v1/plans/",
    "/api/v1/runs/",
    "/api/v1/runs/?state=finished",
    "/api/v1/runs/?agent=db1",
    "/api/v1/trials/",
    "/api/v1/trials/?run=200",
    "/api/v1/trials/?block=7",
    "/api/v1/trials/?block=99",
    "/api/v1/trials/?state=failed",
    "/api/v1/measurements/",
    "/api/v1/measurements/?run=200",
    "/api/v1/measurements/?run=200&ordering=value",
    "/api/v1/noise/",
    "/api/v1/annotations/",
    "/api/v1/citations/",
    "/api/v1/references/",
    "/api/v1/versions/",
    "/api/v1/topologies/",
    "/api/v1/access-methods/",
    "/api/v1/capabilities/",
    "/api/v1/publications/",
    "/api/v1/imports/",
    "/api/v1/reports/",
    "/api/v1/metrics/",
)
# of every tenth run: kept, of a server, with sampled stacks of one trial; another tenth: the checks of capabilities
_MORE = """
UPDATE results_run
SET agents = ARRAY[1 + mod(id, 10)], standing = CASE WHEN mod(id, 50) = 0 THEN 'exploratory' ELSE 'kept' END,
    workload = CASE WHEN mod(id, 10) = 7 THEN 'capabilities' ELSE workload END;

UPDATE results_configuration
SET dimensions = dimensions || jsonb_build_object('major', 16 + mod(index, 3), 'version', '16.9',
    'topology', 'single', 'installation', '16', 'access_method', 'heap', 'agent.primary', 'db' || 1 + mod(run_id, 10));

UPDATE results_attempt SET measured_from = started_at WHERE ended_at IS NOT NULL;

INSERT INTO results_document (run_id, attempt_id, kind, node, label, content)
SELECT run_id, attempt_id, 'stacks', 'primary', '', '{"a;b": 1}'
FROM results_trial WHERE mod(run_id, 10) = 3 AND position = 1;

INSERT INTO results_document (run_id, attempt_id, kind, node, label, content)
SELECT run_id, attempt_id, 'capability', 'primary', 'check' || number, jsonb_build_object('access_method', 'heap',
    'title', 'T', 'group', 'G', 'order', number, 'outcome', 'yes', 'message', '', 'compared', '', 'seconds', 1)
FROM results_trial CROSS JOIN generate_series(1, 5) AS number WHERE mod(run_id, 10) = 7
"""


@pytest.fixture
def grown(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.TEITEN_OPEN_READING = True
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    monkeypatch.setattr(sources, "NEWEST", 20)  # of 400 runs, as 200 are of many
    fill(TRIALS)
    for statement in _MORE.split(";\n"):
        sql.execute(statement)
        sql.execute("ANALYZE")
    store_checked_builds(models.Attempt.objects.filter(run__workload="capabilities").values_list("pk", flat=True))
    sql.execute("ANALYZE")


def test_no_page_scans_a_large_table_or_sorts_on_disk(grown: None) -> None:
    client = Client()
    assert {page: client.get(page).status_code for page in PAGES} == dict.fromkeys(PAGES, 200)
    faults = {page: query_plans.faults(lambda page=page: client.get(page).content) for page in PAGES}
    assert {page: found for page, found in faults.items() if found} == {}
