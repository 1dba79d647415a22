"""What docs/scale.md says of the keys of large tables is so, by PostgreSQL's catalogs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.db.models import ForeignKey, Model

from results import models, ranges
from tests.factories import finished_run

TEXT = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
[_BY_RUN] = [line for line in TEXT.splitlines() if line.endswith("| `run_id` |") and "`results_trial`" in line]
DISTRIBUTED = {name for name in re.findall(r"`(\w+)`", _BY_RUN) if name != "run_id"}
SMALL = set(re.findall(r"`(results_\w+)`", TEXT.partition("stay on the coordinator")[2].partition(". ")[0]))

# Keys that a table has itself: those of its partitions follow from them.
KEYS = """
SELECT index.indrelid::regclass::text, index.indexrelid::regclass::text
FROM pg_index AS index
WHERE index.indrelid = ANY(%s::regclass[]) AND index.indisunique AND NOT EXISTS (
    SELECT FROM pg_attribute AS part
    WHERE part.attrelid = index.indrelid AND part.attname = 'run_id'
        AND part.attnum = ANY(index.indkey[0:index.indnkeyatts - 1])
)
"""
REFERENCES = """
SELECT own.conrelid::regclass::text, own.conname
FROM pg_constraint AS own
WHERE own.contype = 'f' AND own.conrelid = ANY(%(distributed)s::regclass[])
    AND own.confrelid = ANY(%(distributed)s::regclass[]) AND NOT EXISTS (
    SELECT FROM unnest(own.conkey, own.confkey) AS pair (here, there)
    JOIN pg_attribute AS here ON here.attrelid = own.conrelid AND here.attnum = pair.here AND here.attname = 'run_id'
    JOIN pg_attribute AS there
        ON there.attrelid = own.confrelid AND there.attnum = pair.there AND there.attname = 'run_id'
)
"""
OF_OTHERS = """
SELECT DISTINCT conrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND confrelid = ANY(%(to)s::regclass[]) AND NOT conrelid = ANY(%(to)s::regclass[])
    AND conrelid NOT IN (SELECT inhrelid FROM pg_inherits)
"""
TRIGGERS = """
SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = ANY(%s::regclass[])
"""


def asked(query: str, arguments: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query, arguments)
        return cursor.fetchall()


def managed() -> list[type[Model]]:
    """Models of tables, and not of views."""
    return [model for model in apps.get_app_config("results").get_models() if model._meta.managed]


def test_tables_that_grow_with_runs_are_distributed_or_small() -> None:
    of_one_run = {
        model._meta.db_table
        for model in managed()
        if any(field.name == "run" and not field.null for field in model._meta.fields)
    }
    assert len(DISTRIBUTED) == 9
    assert of_one_run >= DISTRIBUTED
    assert of_one_run - DISTRIBUTED <= SMALL


@pytest.mark.django_db
def test_every_key_of_a_distributed_table_holds_the_run() -> None:
    assert asked(KEYS, [sorted(DISTRIBUTED)]) == []
    assert {table for table, _ in asked(KEYS, [["results_run", "results_upload"]])} == {"results_run", "results_upload"}


@pytest.mark.django_db
def test_references_between_distributed_tables_hold_the_run_on_both_sides() -> None:
    assert asked(REFERENCES, {"distributed": sorted(DISTRIBUTED)}) == []


def references(model: type[Model], to: Collection[str], *, nullable: bool) -> Iterator[tuple[str, str]]:
    """Columns that refer to one of these tables, and to which. nullable: those too that may be NULL."""
    for field in model._meta.fields:
        if isinstance(field, ForeignKey) and field.related_model._meta.db_table in to and (nullable or not field.null):
            yield field.column, field.related_model._meta.db_table


def kept_by_postgresql() -> set[tuple[str, str, str]]:
    """Table, column and the table that it refers to."""
    return set(
        asked(
            """
            SELECT own.conrelid::regclass::text, part.attname, own.confrelid::regclass::text
            FROM pg_constraint AS own
            JOIN pg_attribute AS part ON part.attrelid = own.conrelid AND part.attnum = ANY(own.conkey)
            WHERE own.contype = 'f'
            """,
            [],
        )
    )


@pytest.mark.django_db
def test_every_reference_to_something_of_a_run_is_kept_by_postgresql() -> None:
    """Django was told that these constraints are not its own: it makes none for a new field either."""
    kept = kept_by_postgresql()
    lacking = {
        f"{model._meta.db_table}.{column}"
        for model in managed()
        for column, to in references(model, DISTRIBUTED, nullable=True)
        if (model._meta.db_table, column, to) not in kept
    }
    assert lacking == {"results_lease.attempt_id", "results_hostchange.trial_id"}


@pytest.mark.django_db
def test_the_run_of_every_row_exists_by_its_own_reference_or_by_another_one() -> None:
    kept = kept_by_postgresql()
    for model in managed():
        table = model._meta.db_table
        for column, to in references(model, {"results_run"}, nullable=True):
            others = references(model, DISTRIBUTED, nullable=False)
            implied = table in DISTRIBUTED and any((table, *other) in kept for other in others)
            assert (table, column, to) in kept or implied, table


@pytest.mark.django_db
def test_a_new_partition_has_the_references_of_the_others() -> None:
    ranges.make(5_000_000, 5_000_000)
    kept = kept_by_postgresql()
    for table in ranges.TABLES:
        for column in ("run_id", "attempt_id"):
            assert (f"{table}_from_5000000", column, "results_attempt") in kept


@pytest.mark.django_db
def test_what_keeps_the_rest_from_being_distributed_is_named() -> None:
    others = {table for (table,) in asked(OF_OTHERS, {"to": [*sorted(DISTRIBUTED), "results_run"]})}
    assert others | {"results_lease", "results_hostchange"} == SMALL
    assert asked(TRIGGERS, [[*sorted(DISTRIBUTED), "results_run"]]) == [("results_run",)]


CHANGES: dict[str, Callable[[models.Attempt, models.Attempt], object]] = {
    "trial of an attempt": lambda own, other: models.Attempt.objects.filter(pk=own.pk).update(trial=other.trial_id),
    "attempt of a trial": lambda own, other: models.Trial.objects.filter(pk=own.trial_id).update(attempt=other.pk),
    "configuration": lambda own, other: models.Trial.objects.filter(pk=own.trial_id).update(
        configuration=other.trial.configuration_id
    ),
    "values": lambda own, other: models.AttemptValues.objects.filter(attempt=own.pk).update(run=other.run_id),
    "document": lambda own, other: own.documents.create(run_id=other.run_id, kind="k", node="", label="", content={}),
}


@pytest.mark.django_db
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_of_one_run_refers_to_another_one(change: Callable[[models.Attempt, models.Attempt], object]) -> None:
    own, other = (
        models.Attempt.objects.select_related("trial").filter(run=finished_run()).earliest("pk") for _ in range(2)
    )
    change(own, other)
    with pytest.raises(IntegrityError, match="violates foreign key constraint"):
        connection.check_constraints()
    transaction.set_rollback(True)
