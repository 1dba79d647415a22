"""The squashed migration: the same tables as those before 1.0, and a warehouse that has these goes on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.migrations.recorder import MigrationRecorder

from results import migrations
from results.domain.environment.layers import environment_hash
from results.domain.measurement.metrics import Metric as DeclaredMetric
from results.models import Metric
from tests.databases import empty_database, schema
from workers.bundle import derive
from workers.registry import kinds

FOLDER = Path(migrations.__path__[0])
SQUASHED = "0001_squashed_0009_clusters"
BEFORE = [name for _, name in import_module(f"results.migrations.{SQUASHED}").Migration.replaces]


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package with the older migrations alone: those of the code before."""
    package = f"migrations_before_{uuid4().hex[:12]}"
    (tmp_path / package).mkdir()
    for name in ("__init__", *BEFORE):
        shutil.copy(FOLDER / f"{name}.py", tmp_path / package)
    monkeypatch.syspath_prepend(tmp_path)
    return package


@pytest.fixture
def alias(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """An empty database beside the tests' own."""
    with django_db_blocker.unblock(), empty_database() as name:
        yield name


@pytest.fixture(scope="module")
def squashed(django_db_setup: None, django_db_blocker: Any) -> list[str]:
    """What the squashed migration makes of an empty database."""
    with django_db_blocker.unblock(), empty_database() as name:
        migrate(name, SQUASHED)
        return schema(name)


def migrate(alias: str, last: str) -> None:
    """Brings it to this migration of results; later ones are not the question here."""
    call_command("migrate", "results", last, database=alias, verbosity=0)


def applied(alias: str) -> list[str]:
    """The migrations of results that this database knows as applied."""
    return sorted(name for app, name in MigrationRecorder(connections[alias]).applied_migrations() if app == "results")


def test_a_warehouse_of_the_older_migrations_has_the_same_tables_and_only_notes_the_squashed_one(
    alias: str, older: str, squashed: list[str], settings: Any
) -> None:
    settings.MIGRATION_MODULES = {"results": older}
    migrate(alias, BEFORE[-1])
    assert applied(alias) == BEFORE
    assert "CREATE TABLE public.results_measurement (" in squashed
    assert schema(alias) == squashed
    settings.MIGRATION_MODULES = {}
    migrate(alias, SQUASHED)
    assert applied(alias) == sorted([*BEFORE, SQUASHED])
    assert schema(alias) == squashed


def test_a_warehouse_that_stopped_among_the_older_migrations_goes_on_with_them(
    alias: str, older: str, squashed: list[str], settings: Any
) -> None:
    settings.MIGRATION_MODULES = {"results": older}
    migrate(alias, BEFORE[4])
    assert applied(alias) == BEFORE[:5]
    settings.MIGRATION_MODULES = {}
    migrate(alias, BEFORE[-1])
    assert applied(alias) == sorted([*BEFORE, SQUASHED])
    assert schema(alias) == squashed


def test_looks_are_read_from_the_audit_log(alias: str) -> None:
    migrate(alias, "0010_parts_and_prereleases")
    with connections[alias].cursor() as cursor:
        for run, blocks in ((1, 10), (2, 3)):
            cursor.execute(
                "INSERT INTO results_run (id, name, workload, headline, toml, factors, plan_hash, seed, blocks, state,"
                " created_at) VALUES (%s, 'a', 'pgbench', 'tps', '', '[]', '', 1, %s, 'finished', now())",
                [run, blocks],
            )
        for run, added in ((1, 2), (11, 9), (1, 5)):
            cursor.execute(
                "INSERT INTO results_auditentry (at, actor, verb, object, detail)"
                " VALUES (now(), 'ada', 'add blocks', %s, %s)",
                [f"run {run}", json.dumps({"blocks": added})],
            )
    migrate(alias, "0011_looks")
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT id, looks::text FROM results_run ORDER BY id")
        assert cursor.fetchall() == [(1, "[3, 5]"), (2, "[]")]


def test_runs_that_there_were_are_kept_and_new_ones_exploratory(alias: str) -> None:
    insert = (
        "INSERT INTO results_run (id, name, workload, headline, toml, factors, plan_hash, seed, blocks, state,"
        " created_at) VALUES (%s, 'a', 'pgbench', 'tps', '', '[]', '', 1, 1, 'finished', now())"
    )
    migrate(alias, "0012_client_overhead")
    with connections[alias].cursor() as cursor:
        cursor.execute(insert, [1])
    migrate(alias, "0013_standing")
    with connections[alias].cursor() as cursor:
        cursor.execute(insert, [2])
        cursor.execute("SELECT id, standing, tags FROM results_run ORDER BY id")
        assert cursor.fetchall() == [(1, "kept", []), (2, "exploratory", [])]
    migrate(alias, "0012_client_overhead")


def test_accounts_and_tokens_that_there_were_may_what_they_could(alias: str) -> None:
    call_command("migrate", "auth", database=alias, verbosity=0)
    migrate(alias, "0018_exported_by")
    with connections[alias].cursor() as cursor:
        cursor.execute(
            "INSERT INTO auth_user (id, username, password, is_superuser, first_name, last_name, email, is_staff,"
            " is_active, date_joined) VALUES (1, 'ada', '', false, '', '', '', true, true, now()),"
            " (2, 'grace', '', false, '', '', '', false, true, now())"
        )
        cursor.execute(
            "INSERT INTO results_apitoken (user_id, name, digest, scope, created_at) VALUES"
            " (1, '', 'a', 'admin', now()), (2, '', 'b', 'run', now()), (2, '', 'c', 'read', now())"
        )
    roles, scopes = (
        "SELECT user_id, role FROM results_member ORDER BY 1",
        "SELECT scope FROM results_apitoken ORDER BY id",
    )
    migrate(alias, "0019_roles")
    with connections[alias].cursor() as cursor:
        cursor.execute(roles)
        assert cursor.fetchall() == [(1, "administrator"), (2, "publisher")]
        cursor.execute(scopes)
        assert cursor.fetchall() == [("admin",), ("publish",), ("read",)]
        cursor.execute("UPDATE results_member SET role = 'administrator' WHERE user_id = 2")
    migrate(alias, "0018_exported_by")
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT id, is_staff FROM auth_user ORDER BY 1")
        assert cursor.fetchall() == [(1, True), (2, True)]
        cursor.execute(scopes)
        assert cursor.fetchall() == [("admin",), ("run",), ("read",)]


def test_environments_have_the_layers_of_their_attempts_and_give_them_back(alias: str) -> None:
    """Of five attempts two ran in the same, the hash of one is not that of its layers, two have no layers."""
    first, second = {("primary", "a"), ("primary", "b"), ("client", "a")}, {("primary", "ä"), ("Set", "a")}
    right = [environment_hash(first), environment_hash(first), environment_hash(second), "", environment_hash([])]
    used = [first, first, second, set(), set()]
    rows = sorted((1, number, node, layer) for number, uses in enumerate(used, 1) for node, layer in uses)
    migrate(alias, "0049_runs_of_a_workload")
    before = schema(alias)
    with connections[alias].cursor() as cursor, transaction.atomic(using=alias):
        cursor.execute(_ONE_TRIAL)
        for number, environment in enumerate((right[0], right[1], "other", "", right[0]), 1):
            cursor.execute(_AN_ATTEMPT, [number, number, environment])
        for row in rows:
            insert = "INSERT INTO results_layeruse (run_id, attempt_id, node, layer_id) VALUES (%s, %s, %s, %s)"
            cursor.execute(insert, row)
    migrate(alias, "0050_layers_of_environments")
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT environment FROM results_attempt ORDER BY id")
        assert [environment for (environment,) in cursor.fetchall()] == right
        cursor.execute("SELECT count(*) FROM results_environmentlayer")
        assert cursor.fetchone() == (len(first) + len(second),)
        assert uses_of_layers(cursor) == rows
    migrate(alias, "0049_runs_of_a_workload")
    assert schema(alias) == before
    with connections[alias].cursor() as cursor:
        assert uses_of_layers(cursor) == rows


_ONE_TRIAL = """
INSERT INTO results_run (id, name, workload, headline, toml, factors, plan_hash, seed, blocks, state, created_at)
VALUES (1, 'a', 'pgbench', 'tps', '', '[]', '', 1, 1, 'finished', now());
INSERT INTO results_configuration (id, run_id, index, name, levels, spec, dimensions)
VALUES (1, 1, 0, 'a', '{}', '{}', '{}');
INSERT INTO results_trial
    (id, run_id, configuration_id, block, position, agents, state, state_at, attempts_made, phase)
VALUES (1, 1, 1, 1, 1, '{}', 'done', now(), 4, '');
INSERT INTO results_layer (hash, kind, content, first_seen_at)
SELECT hash, 'settings', '{}', now() FROM unnest(ARRAY['a', 'b', 'ä']) AS hash
"""
_AN_ATTEMPT = """
INSERT INTO results_attempt
    (id, run_id, trial_id, number, state, worker, started_at, bundle, bundle_sha256, environment, phases, commands,
    checks, files, events, gaps, notes)
VALUES (%s, 1, 1, %s, 'done', '', now(), '', '', %s, '[]', '[]', '[]', '[]', '[]', '[]', '{}')
"""


def uses_of_layers(cursor: Any) -> list[tuple[int, int, str, str]]:
    cursor.execute("SELECT run_id, attempt_id, node, layer_id FROM results_layeruse")
    return sorted(cursor.fetchall())


@pytest.mark.django_db
def test_metrics_that_were_stored_before_say_where_the_work_of_pgbench_is_part_of_them() -> None:
    declared = stored_before()
    with connection.cursor() as cursor:
        cursor.execute(import_module("results.migrations.0012_client_overhead").BY_PGBENCH)
    stored = set(Metric.objects.filter(client_overhead=True).values_list("name", flat=True))
    assert stored == {name for name, metric in declared.items() if metric.client_overhead}


@pytest.mark.django_db
def test_metrics_that_were_stored_before_say_what_their_labels_are() -> None:
    declared = stored_before()
    with connection.cursor() as cursor:
        cursor.execute(import_module("results.migrations.0014_label_noun").BY_NOUN)
    stored = dict(Metric.objects.values_list("name", "label_noun"))
    assert stored == {name: metric.label_noun for name, metric in declared.items()}


def stored_before() -> dict[str, DeclaredMetric]:
    """Every metric that a kind declares, stored without what later columns say of it."""
    declared = {metric.name: metric for spec in kinds().workloads.values() for metric in spec.metrics}
    declared |= {metric.name: metric for spec in kinds().collectors.values() for metric in spec.metrics}
    declared |= {metric.name: metric for metric in derive.METRICS}
    Metric.objects.bulk_create(
        Metric(name=name, unit=metric.unit, better=metric.better, label=metric.label, minimum_effect=0.02)
        for name, metric in declared.items()
    )
    return declared
