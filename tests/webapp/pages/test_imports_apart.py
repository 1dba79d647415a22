"""A kept import that looks as much like measured results as it can changes no view of measured results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from results import alerts, models
from results.domain.states import Standing
from results.foreign_results import store
from results.standing import set_standing
from tests import factories, histories
from tests.imported import text_file
from tests.page_text import page_text
from webapp.forms.imports import import_form

COLUMNS = "version,installation,access_method,topology,nodes,clients,tps,latency.mean"
ROWS = (
    "16.9,16,heap,single,1,4,1.5,2.5",
    "18.1,18,heap,single,1,4,90000.5,3.5",
    "18.1,18,zheap,replica,3,4,70000.5,1.5",
)
MAPPING = {f"role.{name}": "factor" for name in ("installation", "access_method", "topology", "nodes")}


@pytest.fixture
def bundles(db: None, settings: Any, tmp_path: Path) -> None:
    settings.TEITEN_BUNDLE_DIR = tmp_path


def kept_import(workload: str) -> models.Run:
    table = text_file("old.csv", "\n".join([COLUMNS, *ROWS, *ROWS]))
    draft = import_form({**MAPPING, "workload": workload, "name": "From elsewhere"}, [table]).draft
    run = store(draft, user=None, actor="tests")
    set_standing([run.pk], Standing.KEPT, "tests")
    return run


def shown(client: Client, address: str, part: str) -> str:
    """A page's text, or of Home the part that says what is known; without what every request has anew."""
    models.Metric.objects.update(help="")  # those of the factories have another than pgbench's, which the import stores
    headers = {"HX-Request": "true", "HX-Target": part} if part else {}
    return re.sub(r'"[A-Za-z0-9]{64}"', "", page_text(client.get(address, headers=headers)))


@pytest.mark.parametrize(
    ("address", "part", "workload"),
    [
        ("/versions/", "", "pgbench"),
        ("/versions/?workload=pgbench&metric=latency.mean", "", "pgbench"),
        ("/trends/", "", "pgbench"),
        ("/trends/?workload=pgbench&metric=tps", "", "pgbench"),
        ("/access-methods/", "", "access_method"),
        ("/topologies/", "", "pgbench"),
        ("/capabilities/", "", "capabilities"),
        ("/", "known", "pgbench"),
        ("/", "", "pgbench"),
        ("/lately/", "", "pgbench"),
    ],
)
def test_a_kept_import_changes_no_view_of_measured_results(
    address: str, part: str, workload: str, stranger: Client, bundles: None
) -> None:
    factories.finished_run()
    factories.capability_run({"toast": "yes"})
    before = shown(stranger, address, part)
    run = kept_import(workload)
    assert models.Run.objects.get(pk=run.pk).standing == Standing.KEPT
    assert shown(stranger, address, part) == before


def test_a_kept_import_raises_no_alert(bundles: None) -> None:
    plan = histories.nightly(parameters={"scale": 5}, factors={"clients": [1, 8]}, replicates=5)
    histories.months(plan, [8000.0])
    alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")
    run = kept_import(plan.workload)
    models.Run.objects.filter(pk=run.pk).update(name=plan.name, ended_at=timezone.now())
    alerts.judge_runs(timezone.now())
    assert not models.Alert.objects.filter(run=run).exists()
