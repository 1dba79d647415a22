"""JSON of bundles is read in one pass: without lists of its brackets, and within bounds."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from results.domain import json_text
from results.domain.json_text import (
    ITEM_CHARACTERS,
    MOST_CHARACTERS,
    MOST_DEPTH,
    MOST_VALUES,
    first_problem,
    items,
    loads,
)


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


@pytest.mark.parametrize("value", ["[]", "{}", "1"])
def test_a_text_of_too_many_values_is_not_parsed(value: str) -> None:
    text = f"[{','.join([value] * (MOST_VALUES + 1))}]"
    with pytest.raises(ValueError, match="more than 2,000,000 values"):
        loads(text)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than 2,000,000 values"):
            loads(text)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "listed",
    [
        [],
        [1],
        [1, "a]b,", [2], {"c": [3, {}]}, None, 1.5],
        ["x" * 5000, 12345, "y" * 20_000, [], list(range(3000)), 7],
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_is_read_item_by_item(listed: list[object], indent: int | None) -> None:
    text = json.dumps({"list": listed, "z": 1}, indent=indent)
    begin = end = text.index("[") + 1
    read = []
    for item, after in items(text, begin):
        read.append(item)
        end = after
    assert read == listed
    assert loads(text[:begin] + text[end:]) == {"list": [], "z": 1}


def test_of_a_list_no_more_is_held_than_an_item() -> None:
    text = "[" + ",".join(['{"a": [1, 2, 3]}'] * 100_000) + "]"
    tracemalloc.start()
    try:
        assert sum(len(item["a"]) for item, _ in items(text, 1)) == 300_000
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", ["[1, 2 3]", "[1, {]", "[1, 2", "[1, ]", '[1, "a]', "[1 2"])
def test_a_list_that_is_none_is_named_or_its_rest_left_to_the_caller(text: str) -> None:
    def rest() -> str:
        end = 1
        for _, after in items(text, 1):
            end = after
        return text[end:]

    with pytest.raises(json.JSONDecodeError):
        loads("[" + rest())


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ("[" + "[]," * (ITEM_CHARACTERS // 3) + "[]]", "the item in line 2 is no JSON, or has more than 4,194,304"),
        ("[" * 300 + "]" * 300, "more than 200 levels"),
        ("[" * 100_000, "more than 200 levels"),
        ("1e309", "no finite number"),
    ],
)
def test_an_item_is_held_to_what_a_text_is_held_to(item: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        list(items(f"[1,\n{item}, 2]", 1))


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
