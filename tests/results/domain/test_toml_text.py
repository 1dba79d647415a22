"""TOML that would take long to read is refused before it is read."""

from __future__ import annotations

import tomllib

import pytest

from results.domain.document_limits import MOST_DEPTH, MOST_VALUES, excess, is_storable
from results.domain.toml_text import MOST_BYTES, MOST_ENTRIES, MOST_PARTS, loads

DOTTED = "a." * 20_000 + "a = 1"  # 40 KB
REFUSED = {
    "dotted key": (DOTTED, "16 parts"),
    "dotted table": (f"[{'a.' * 20_000}a]", "16 parts"),
    "dotted key in an inline table": (f"x = {{{'a . ' * 17}a = 1}}", "16 parts"),
    "quoted parts": ('"a".' * 17 + "a = 1", "16 parts"),
    "deep lists": ("x = " + "[" * 1000 + "]" * 1000, "nested too deeply"),
    "deep tables": ("x = " + "{a = " * 40 + "1" + "}" * 40, "nested too deeply"),
    "many keys": ("\n".join(f"k{number} = 1" for number in range(MOST_ENTRIES + 1)), "50000 keys"),
    "many items": (f"x = [{'1,' * (MOST_ENTRIES + 1)}]", "50000 keys"),
    "many tables": ("[[a]]\n" * MOST_ENTRIES, "50000 keys"),
    "long": ("#" * (MOST_BYTES + 1), "bytes"),
    "long in bytes": ("#" + "é" * (MOST_BYTES // 2), "bytes"),
    "long integer": (f"x = {'1' * 5000}", "integer is too long"),
    "long hexadecimal integer": (f"x = 0x{'f' * 5000}", "20000 bits"),
    "NUL": (r'x = "\u0000"', "NUL"),
    "NUL in a name": (r'"\u0000" = 1', "NUL"),
    "half a character": ('x = "\ud800"', "surrogate"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_take_long_or_cannot_be_stored_is_refused(name: str) -> None:
    text, reason = REFUSED[name]
    with pytest.raises(tomllib.TOMLDecodeError, match=reason):
        loads(text)


def test_the_line_of_a_long_name_is_said() -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match="at line 3"):
        loads(f"a = 1\n\n{DOTTED}")


WITHIN = (
    ("a." * (MOST_PARTS - 1) + "a = 1", 1),
    ("x = " + "[" * (MOST_DEPTH - 1) + "]" * (MOST_DEPTH - 1), 1),
    (f'x = "{DOTTED}"  # {DOTTED}', 1),
    (f"x = '''\n{DOTTED}\n[[[['''", 1),
    ('x = """\n\\"""' + "[" * 100 + '"""', 1),
    ("x = [3.14, 1979-05-27T07:32:00.5Z]\n" + "\n".join(f"[a.b.c{number}]" for number in range(1000)), 2),
)


@pytest.mark.parametrize(("text", "keys"), WITHIN)
def test_what_is_within_the_limits_is_read_as_tomllib_reads_it(text: str, keys: int) -> None:
    assert loads(text) == tomllib.loads(text)
    assert len(loads(text)) == keys


@pytest.mark.parametrize("text", ['"""' + '\\"""' * 1000, "'''\n" * 1001, '"' + "\\" * 1001, "'", '"\\'])
def test_text_that_does_not_end_is_no_toml(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        loads(text)


def test_a_document_is_taken_up_to_its_limits() -> None:
    assert excess({"a": ["é", 1.5, None, True, 2**1023]}) == ""
    assert excess([0] * (MOST_VALUES - 1)) == ""
    assert "names and values" in excess([0] * MOST_VALUES)
    deep: list[object] = [0]
    for _ in range(MOST_DEPTH):
        deep = [deep]
    assert excess(deep[0]) == ""
    assert "nested too deeply" in excess(deep)


def test_text_is_storable_unless_postgresql_cannot_hold_it() -> None:
    assert [is_storable(text) for text in ("", "é\U0001f600\n", "\0", "a\ud800", "\udfff")] == [True, True] + [
        False
    ] * 3
