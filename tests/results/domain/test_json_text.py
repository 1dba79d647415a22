"""JSON of bundles is read in one pass: without lists of its brackets, and within bounds."""

from __future__ import annotations

import tracemalloc

import pytest

from results.domain import json_text
from results.domain.json_text import MOST_CHARACTERS, MOST_DEPTH, first_problem, loads


def nested(levels: int) -> str:
    return '{"a":[' * (levels // 2) + "[" * (levels % 2) + "]" * (levels % 2) + "]}" * (levels // 2)


def test_levels_are_counted_and_brackets_in_texts_are_not() -> None:
    assert loads(nested(MOST_DEPTH))
    assert loads(f"[{', '.join(['[{}]'] * 1000)}]") == [[{}]] * 1000
    text = '"' + '[{\\"' * 1000 + '"'
    assert loads(f"[{text}, {text}]") == ['[{"' * 1000] * 2
    assert loads('["\\\\", [' + "[]," * 300 + "1]]")
    for levels in (MOST_DEPTH + 1, 5000):
        with pytest.raises(ValueError, match="more than 200 levels"):
            loads(nested(levels))


def test_counting_the_levels_of_millions_of_brackets_keeps_nothing() -> None:
    text = f"[{','.join(['{}'] * 500_000)}]"
    tracemalloc.start()
    try:
        json_text._require_shallow(text)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_text_that_is_too_long_is_not_parsed() -> None:
    with pytest.raises(ValueError, match="characters; at most 67,108,864 are read"):
        loads(" " * (MOST_CHARACTERS + 1))
    assert loads(" " * MOST_CHARACTERS + "1", most=None) == 1


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("\0", ""),
        (["a", "\0"], "[1]"),
        ({"files": [{}, {"sha256": "\0"}]}, "files[1].sha256"),
        ({"a": {"b\0": 1}}, "a's key"),
        ({"a": {"b": {}, "c": []}, "d": ({"e": 1}, float("nan"))}, "d[1]"),
    ],
)
def test_a_problem_is_told_with_its_path(value: object, path: str) -> None:
    found = first_problem(value)
    assert found is not None
    assert found[0] == path


def test_a_value_without_a_problem_has_none() -> None:
    assert first_problem({"a": [1, 2.5, None, True, {"b": "\n"}], "c": {}}) is None


def test_a_value_of_too_many_levels_is_a_problem() -> None:
    value: list[object] = []
    for _ in range(MOST_DEPTH - 1):
        value = [value]
    assert first_problem(value) is None
    assert first_problem([value]) == ("", "it has more than 200 levels")
