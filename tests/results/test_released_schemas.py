"""Warehouses that earlier versions filled are brought to the newest tables: no row is lost or changed but as is stated
here, and pages show the numbers that were stored.

tests/data/warehouses/ has them; tests/data/README.md says where each came from. Nothing is released yet: they are of
states of the main branch that users may have, one before and one after each migration that changes what is stored."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from results import models, ranges
from results.backups.writing import back_up
from tests import single_values
from tests.conftest import RUNS_OF_TESTS
from tests.databases import as_warehouse, empty_database, schema
from tests.released import FOLDER
from tests.run_counts import kept_counts, right_counts

pytestmark = pytest.mark.slow
RELEASED = sorted(path.stem for path in FOLDER.glob("*.sql"))
# Tables that Django keeps for itself: migrating adds rows to them.
DJANGOS = ("django_migrations", "django_content_type", "auth_permission")
Row = Mapping[str, Any]
Tables = Mapping[str, list[Row]]


@pytest.fixture(params=[pytest.param(RELEASED[0], marks=pytest.mark.smoke), *RELEASED[1:]])
def released(request: Any, transactional_db: None, settings: Any, tmp_path: Path) -> Iterator[str]:
    """A version whose warehouse, as it left it, is Teiten's."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    settings.TEITEN_OPEN_READING = True
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"
    with empty_database() as name, as_warehouse(name):
        with connection.cursor() as cursor:
            cursor.execute((FOLDER / f"{request.param}.sql").read_text())
        yield request.param


@pytest.fixture
def newest(transactional_db: None) -> list[str]:
    """The schema of a warehouse that is made today."""
    with single_values.refused():
        return schema(connection.settings_dict["NAME"])


def schema_for_tests() -> list[str]:
    """The schema of the warehouse, with partitions for as many runs as that of the tests has."""
    ranges.make(0, RUNS_OF_TESTS)
    return schema(connection.settings_dict["NAME"])


def stored() -> dict[str, list[Row]]:
    """Table or view → its rows in their order, but for Django's own tables."""
    with connection.cursor() as cursor:
        names = set(connection.introspection.table_names(cursor, include_views=True)) - set(DJANGOS)
        tables = {}
        for table in names:
            cursor.execute(f'SELECT to_jsonb("{table}")::text FROM "{table}" ORDER BY 1')
            tables[table] = [json.loads(text) for (text,) in cursor.fetchall()]
    return tables


def by_text(rows: Iterable[Row]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def as_it_is_said(version: str, table: str, row: Row) -> Row:
    """A row as migrations say that they change it; any other change is an error."""
    beta = table == "results_configuration" and row["dimensions"]["version"] == "18beta1"
    if beta and version < "0010":  # a beta is a major version by itself
        return {**row, "dimensions": row["dimensions"] | {"major": "18beta1"}}
    if table == "results_apitoken" and version < "0019" and row["scope"] == "run":  # publishing was a part of it
        return {**row, "scope": "publish"}
    without_ids = ("results_series", "results_histogram", "results_layeruse")  # what they are of is their key
    if table == "results_measurement" and version < "0042":
        return {name: value for name, value in row.items() if name != "id"}
    if table in without_ids and version < "0038":
        return {name: value for name, value in row.items() if name != "id"}
    return row


def test_no_row_is_lost_or_changed_but_as_is_said(newest: list[str], released: str) -> None:
    before = stored()
    assert len(before["results_measurement"]) >= 80
    call_command("migrate", verbosity=0)
    after = stored()
    for table, rows in before.items():
        rows = [as_it_is_said(released, table, row) for row in rows]
        columns = set(rows[0]) if rows else set()
        kept = [{name: row[name] for name in columns & set(row)} for row in after[table]]
        assert by_text(kept) == by_text(rows), table
    assert schema_for_tests() == newest


def test_what_migrations_add_follows_from_what_was_stored(released: str) -> None:
    call_command("migrate", verbosity=0)
    ended = models.Run.objects.get(name="16 against 18", workload="pgbench")
    assert ended.looks == [2, 3]
    assert set(models.Run.objects.values_list("standing", flat=True)) == {"kept"}
    assert dict(models.Member.objects.values_list("user__username", "role")) == {
        "ada": "administrator",
        "grace": "publisher",
    }
    scopes = {*models.ApiToken.objects.values_list("scope", flat=True)}
    assert scopes == {"read", "admin", "publish"} | ({"run"} if released > "0019" else set())
    assert models.Metric.objects.get(name="tps").client_overhead
    assert not models.Run.objects.filter(private=True).exists()
    assert not models.Attempt.objects.exclude(bundle_removed_at=None).exists()
    assert kept_counts() == right_counts() != []


def test_pages_and_api_show_the_numbers_that_were_stored(released: str) -> None:
    before = stored()
    call_command("migrate", verbosity=0)
    run = models.Run.objects.get(name="16 against 18", workload="pgbench")
    [citation] = models.Snapshot.objects.all()
    client = Client()
    for address in (
        "/",
        "/runs/",
        f"/runs/{run.pk}/",
        f"/trials/{models.Trial.objects.filter(run=run)[0].pk}/",
        f"/compare/?run={run.pk}",
        f"/c/{citation.pk}/",
        "/capabilities/",
        "/agents/db1/",
        *(f"/runs/{other.pk}/" for other in models.Run.objects.exclude(pk=run.pk)),
    ):
        assert client.get(address).status_code == 200, address
    shown = client.get(f"/api/v1/runs/{run.pk}/medians/?metric=tps").json()["results"]
    assert {row["configuration_id"]: row["median"] for row in shown} == medians_of(before, run.pk)


def test_a_backup_of_it_gets_the_newest_tables_where_it_is_restored(
    newest: list[str], released: str, tmp_path: Path, settings: Any
) -> None:
    before = stored()
    manifest = back_up(tmp_path / "backup")
    assert manifest.counts.runs == len(before["results_run"])
    assert manifest.migrations["results"].startswith(released)
    settings.TEITEN_BUNDLE_DIR = tmp_path / "restored"
    out = io.StringIO()
    with empty_database() as name, as_warehouse(name):
        call_command("restore", tmp_path / "backup", stdout=out)
        after = stored()
        assert schema_for_tests() == newest
    assert re.search(r"It was of an older Teiten: [1-9]\d* migrations? applied\.", out.getvalue())
    assert {table: len(after[table]) for table in before} == {table: len(rows) for table, rows in before.items()}


def medians_of(tables: Tables, run_id: int) -> dict[int, float]:
    """Configuration → median of tps of its trials that are done, from rows."""
    trials = {row["attempt_id"]: row["configuration_id"] for row in tables["results_trial"] if row["run_id"] == run_id}
    values: dict[int, list[float]] = {}
    for row in tables["results_measurement"]:
        if row["attempt_id"] in trials and row["metric_id"] == "tps" and not row["label"]:
            values.setdefault(trials[row["attempt_id"]], []).append(row["value"])
    return {configuration: median(some) for configuration, some in values.items()}
