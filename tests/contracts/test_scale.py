"""docs/scale.md lists exactly the keys that keep large tables from being distributed by run."""

from __future__ import annotations

from pathlib import Path

from django.apps import apps
from django.db.models import ForeignKey, Model, UniqueConstraint

TEXT = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")


def distributed() -> dict[str, type[Model]]:
    """Table → model of each whose rows all belong to one run. Runs themselves are distributed by their id; views are
    none."""
    return {
        model._meta.db_table: model
        for model in apps.get_app_config("results").get_models()
        if model._meta.managed and any(field.name == "run" and not field.null for field in model._meta.fields)
    }


def lacking_keys() -> list[str]:
    lines = []
    for table, model in sorted(distributed().items()):
        meta = model._meta
        single = [field.column for field in meta.fields if field.unique and field.column]
        several = [tuple(field.column for field in meta.pk_fields)] if len(meta.pk_fields) > 1 else []
        several += [
            tuple(meta.get_field(name).column for name in constraint.fields)
            for constraint in meta.constraints
            if isinstance(constraint, UniqueConstraint)
        ]
        keys = [(column,) for column in single] + several
        lines += [f"| `{table}` | `{', '.join(key)}` |" for key in keys if "run_id" not in key]
    return lines


def lacking_references() -> list[str]:
    """Foreign keys between distributed tables: each is of one column."""
    tables = distributed()
    return [
        f"| `{table}` | `{field.column}` | `{field.related_model._meta.db_table}` |"
        for table, model in sorted(tables.items())
        for field in model._meta.fields
        if isinstance(field, ForeignKey) and field.related_model._meta.db_table in tables
    ]


def references_of_others() -> list[str]:
    """Foreign keys to distributed tables of those that are not."""
    tables = distributed() | {"results_run": apps.get_model("results", "Run")}
    return [
        f"`{model._meta.db_table}.{field.column}`"
        for model in apps.get_app_config("results").get_models()
        for field in model._meta.fields
        if isinstance(field, ForeignKey)
        and model._meta.managed
        and model._meta.db_table not in tables
        and field.related_model._meta.db_table in tables
    ]


def test_every_large_table_carries_the_run() -> None:
    large = {
        "configuration",
        "trial",
        "attempt",
        "attemptvalues",
        "seriesgroup",
        "packedhistogram",
        "document",
        "layeruse",
        "noise",
    }
    assert {f"results_{name}" for name in large} <= distributed().keys()


def test_the_keys_that_lack_the_run_are_listed() -> None:
    assert [line for line in TEXT.splitlines() if line in lacking_keys()] == lacking_keys()


def test_the_references_that_lack_the_run_are_listed() -> None:
    assert [line for line in TEXT.splitlines() if line in lacking_references()] == lacking_references()


def test_the_references_of_other_tables_are_named() -> None:
    [line] = [line for line in TEXT.splitlines() if line.startswith("And the other way: ")]
    assert line.removeprefix("And the other way: ") == ", ".join(references_of_others()) + "."


def test_all_distributed_tables_are_named_and_no_other() -> None:
    [line] = [line for line in TEXT.splitlines() if line.endswith("| `run_id` |") and "`results_trial`" in line]
    assert set(line.split("`")[1:-2:2]) == distributed().keys()
