"""Frozen dataclasses out of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest

from results.domain.dataclass_json import ShapeError, from_json
from results.domain.kinds.parameters import Scalar


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Leaf:
    name: str
    length_s: float = 0
    colour: Colour = Colour.RED


@dataclass(frozen=True)
class Tree:
    leaves: tuple[Leaf, ...]
    height: int
    window: tuple[float, float] | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    levels: Mapping[str, Scalar | Leaf] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)


def test_objects_become_dataclasses_and_lists_tuples() -> None:
    read = from_json(
        Tree,
        {
            "leaves": [{"name": "a", "length_s": 1.5, "colour": "red"}],
            "height": 3,
            "window": [1, 2.5],
            "pairs": [["a", "b"]],
            "levels": {"x": True, "y": {"name": "b"}},
            "notes": {"list": [1, None]},
        },
    )
    assert read == Tree((Leaf("a", 1.5),), 3, (1, 2.5), (("a", "b"),), {"x": True, "y": Leaf("b")}, {"list": [1, None]})


def test_a_whole_number_stays_one_so_that_it_is_written_as_it_was_read() -> None:
    read = from_json(Tree, {"leaves": [{"name": "a", "length_s": 60}], "height": 1, "window": [1, 2]})
    assert repr(read.leaves[0].length_s) == "60" and repr(read.window) == "(1, 2)"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"leaves": []}, "height: this field is missing"),
        ({"leaves": [], "height": 1.5}, "height: 1.5 is not a whole number"),
        ({"leaves": [], "height": True}, "height: True is not a whole number"),
        ({"leaves": [{"name": "a"}, {"name": 3}], "height": 1}, "leaves[1].name: 3 is not text"),
        ({"leaves": [{"name": "a", "length_s": "x"}], "height": 1}, "leaves[0].length_s: 'x' is not a number"),
        ({"leaves": [{"name": "a", "colour": "blue"}], "height": 1}, "leaves[0].colour: 'blue' is not a valid Colour"),
        ({"leaves": [{"name": "a", "colours": 1}], "height": 1}, "leaves[0]: there is no field colours"),
        ({"leaves": "abc", "height": 1}, "leaves: 'abc' is not a list"),
        ({"leaves": ["a"], "height": 1}, "leaves[0]: 'a' is not an object with fields"),
        ({"leaves": [], "height": 1, "notes": [1]}, "notes: [1] is not an object with fields"),
        ({"leaves": [], "height": 1, "levels": {"x": {}}}, "levels['x'].name: this field is missing"),
        ([1], "[1] is not an object with fields"),
    ],
)
def test_the_first_thing_that_is_wrong_is_named_with_its_place(data: object, expected: str) -> None:
    with pytest.raises(ShapeError) as raised:
        from_json(Tree, data)
    assert str(raised.value) == expected
