"""Comparisons as JSON: what a citation's hash is made of."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from results.domain.statistics.verdict import Kind, Verdict
from results.queries.comparison.cells import Point, Replicate
from results.queries.comparison.dataclass_values import from_json, to_json

POINT = Point(
    x="1",
    series="16",
    panel="",
    value=1000,
    median=1000.5,
    mean=1000.0,
    minimum=1000.0,
    maximum=1001.0,
    values=(Replicate(7, 8, 9, 1, 1000.5),),
    configurations=1,
    base=("", "1", "18"),
    verdict=Verdict(Kind.TOO_FEW, 1.0, None, None, None, None, 1, 1, 0, None, 4, 0.02),
)


def test_what_is_written_reads_back_as_the_same_value() -> None:
    assert from_json(Point, json.loads(json.dumps(to_json(POINT)))) == POINT


def test_a_number_that_json_lacks_is_null_at_any_depth() -> None:
    damaged = replace(POINT, value=math.nan, values=(Replicate(7, 8, 9, 1, math.inf),))
    content = to_json(damaged)
    assert (content["value"], content["values"]) == (None, [[7, 8, 9, 1, None, 0, 0]])


def test_kinds_are_plain_texts_and_whole_numbers_stay_whole() -> None:
    content = to_json(POINT)
    assert (type(content["verdict"]["kind"]), content["verdict"]["kind"]) == (str, "too-few")
    assert isinstance(content["value"], int)
    assert isinstance(from_json(Point, content).value, int)
