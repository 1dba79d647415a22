"""What the loaded tables must be, and whether they are. Pure.

Each table's comment says what was loaded into it: the tables themselves are not read, so that caches stay as they
are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from results.domain.kinds.parameters import Scalar
from results.domain.measurement.parsed_trial import Check

from .sizes import LINES_PER_ORDER, sizes
from .spec import KEYS_AND_FACT_COLUMNS, NO_INDEXES

FACT = "lineorder"


def loaded(parameters: Mapping[str, Scalar], rows: int) -> str:
    """The comment of a table into which so many rows were loaded."""
    content = {"rows": rows, "scale_factor": float(parameters["scale_factor"]), "seed": int(parameters["seed"])}
    return json.dumps(content, sort_keys=True)


def checks(parameters: Mapping[str, Scalar], states: Sequence[Mapping[str, Any]]) -> Iterator[Check]:
    """One Check for what each table holds and one for its indexes. states: the rows of verify.sql."""
    tables = {str(row["name"]): row for row in states}
    size = sizes(float(parameters["scale_factor"]))
    keys = 0 if parameters["indexes"] == NO_INDEXES else 1
    columns = 4 if parameters["indexes"] == KEYS_AND_FACT_COLUMNS else 0
    for table, rows in size.dimensions.items():
        yield _holds(tables, table, parameters, (rows, rows))
        yield _indexes(tables, table, keys)
    fewest, most = LINES_PER_ORDER
    yield _holds(tables, FACT, parameters, (fewest * size.orders, most * size.orders))
    yield _indexes(tables, FACT, keys + columns)


def _holds(
    tables: Mapping[str, Mapping[str, Any]], table: str, parameters: Mapping[str, Scalar], rows: tuple[int, int]
) -> Check:
    state = str(tables.get(table, {}).get("loaded") or "not loaded to its end")
    wanted = [loaded(parameters, count) for count in dict.fromkeys(rows)]
    try:
        count = int(json.loads(state)["rows"])
    except (ValueError, KeyError, TypeError):
        return Check(f"ssb.{table}", "primary", " to ".join(wanted), state, False)
    passed = rows[0] <= count <= rows[1] and state == loaded(parameters, count)
    return Check(f"ssb.{table}", "primary", " to ".join(wanted), state, passed)


def _indexes(tables: Mapping[str, Mapping[str, Any]], table: str, wanted: int) -> Check:
    there = tables.get(table, {}).get("indexes", 0)
    return Check(f"ssb.{table}.indexes", "primary", str(wanted), str(there), there == wanted)
