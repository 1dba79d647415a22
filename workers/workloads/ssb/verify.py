"""Checks of the loaded tables. Pure.

Each table's comment records what was loaded: the tables themselves are not read, so that caches stay as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from results.domain.kinds.parameters import Scalar
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _

from .sizes import LINES_PER_ORDER, sizes
from .spec import KEYS_AND_FACT_COLUMNS, NO_INDEXES

FACT = "lineorder"


def load_comment(parameters: Mapping[str, Scalar], rows: int) -> str:
    """Return the comment of a table into which so many rows were loaded."""
    content = {"rows": rows, "scale_factor": float(parameters["scale_factor"]), "seed": int(parameters["seed"])}
    return json.dumps(content, sort_keys=True)


def checks(parameters: Mapping[str, Scalar], catalogue: Sequence[Mapping[str, Any]]) -> Iterator[Check]:
    """Yield a Check of each table's rows and one of its indexes.

    catalogue: the rows of verify.sql."""
    tables = {str(row["name"]): row for row in catalogue}
    size = sizes(float(parameters["scale_factor"]))
    keys = 0 if parameters["indexes"] == NO_INDEXES else 1
    columns = 4 if parameters["indexes"] == KEYS_AND_FACT_COLUMNS else 0
    for table, rows in size.dimensions.items():
        yield _rows_check(tables, table, parameters, (rows, rows))
        yield _indexes_check(tables, table, keys)
    fewest, most = LINES_PER_ORDER
    yield _rows_check(tables, FACT, parameters, (fewest * size.orders, most * size.orders))
    yield _indexes_check(tables, FACT, keys + columns)


def _rows_check(
    tables: Mapping[str, Mapping[str, Any]], table: str, parameters: Mapping[str, Scalar], rows: tuple[int, int]
) -> Check:
    comment = str(tables.get(table, {}).get("loaded") or "") or _("not loaded completely")
    fewest, most = (load_comment(parameters, count) for count in rows)
    expected = fewest if fewest == most else _("{fewest} to {most}", fewest=fewest, most=most)
    try:
        count = int(json.loads(comment)["rows"])
    except (ValueError, KeyError, TypeError):
        return Check(f"ssb.{table}", "primary", expected, comment, False)
    passed = rows[0] <= count <= rows[1] and comment == load_comment(parameters, count)
    return Check(f"ssb.{table}", "primary", expected, comment, passed)


def _indexes_check(tables: Mapping[str, Mapping[str, Any]], table: str, expected: int) -> Check:
    actual = tables.get(table, {}).get("indexes", 0)
    return Check(f"ssb.{table}.indexes", "primary", str(expected), str(actual), actual == expected)
