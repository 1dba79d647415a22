"""The raw cursor."""

from __future__ import annotations

from typing import NamedTuple

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
