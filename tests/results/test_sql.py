"""The raw cursor."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from results import sql

pytestmark = pytest.mark.django_db


class Number(NamedTuple):
    number: int
    word: str


def test_rows_become_named_tuples() -> None:
    text = "SELECT n AS number, 'n' || n AS word FROM unnest(%(numbers)s::int[]) AS n"
    assert sql.tuples(Number, text, {"numbers": sql.array([1, 2])}) == [Number(1, "n1"), Number(2, "n2")]


def test_columns_that_are_not_the_fields_are_refused() -> None:
    with pytest.raises(TypeError, match="Number has the fields number, word, not word, number"):
        sql.tuples(Number, "SELECT 'one' AS word, 1 AS number", {})


class Arrays(NamedTuple):
    numbers: list[float]
    texts: list[str]


def test_arrays_are_copied_as_they_are() -> None:
    rows = [([1.5, float("nan"), -0.0, float("inf"), 1e-300], ["", "a,b", '"{}\\', "NULL"]), ([], [""])]
    sql.execute("CREATE TEMPORARY TABLE results_arrays (numbers double precision[], texts text[])")
    assert sql.copy("results_arrays", ("numbers", "texts"), rows) == 2
    stored = sql.tuples(Arrays, "SELECT numbers, texts FROM results_arrays", {})
    assert repr([tuple(row) for row in stored]) == repr(rows)


def test_where_there_are_no_rows_nothing_is_copied(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert sql.copy("results_noise", ("run_id", "node", "label"), iter(())) == 0
        sql.copy_binary("results_noise", ("run_id", "node", "label"), [])
