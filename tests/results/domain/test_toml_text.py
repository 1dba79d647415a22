"""TOML that would take long to read is refused before it is read."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from results.domain import toml_text
from results.domain.document_limits import MOST_DEPTH, MOST_VALUES, excess, is_storable
from results.domain.toml_text import MOST_BYTES, MOST_ENTRIES, MOST_PARTS, loads
from tests.fuzz.mutations import TIMES, quick

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
    "name after a text that ends in four quotes": (f'x = """a"""" # " """\n{DOTTED}', "16 parts"),
    "name after a text that ends in five quotes": (f"x = '''a''''' # ' '''\n{DOTTED}", "16 parts"),
    "lists after a text that ends in four quotes": ('x = """a"""" # " """\ny = ' + "[" * 2000, "nested too deeply"),
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


def test_lists_that_the_parser_cannot_follow_are_no_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever leads the scan astray: it lets everything through here."""
    monkeypatch.setattr(toml_text, "MOST_DEPTH", MOST_BYTES)
    with pytest.raises(tomllib.TOMLDecodeError, match="nested too deeply"):
        loads("x = " + "[" * 5000 + "]" * 5000)


@dataclass(frozen=True)
class Piece:
    """A part of a document, and what it has at least.

    entries: keys, and items of lists
    depth: of lists and tables in each other
    """

    text: str
    entries: int = 0
    depth: int = 0


_INSIDE = (
    '"',
    '""',
    "'",
    "''",
    '\\"',
    "\\\\",
    "\\\n ",
    "\\\r\n",
    "\\",
    "#",
    "[",
    "]",
    "{",
    ".",
    ",",
    "=",
    "a",
    " ",
    "\n",
    "\r\n",
)
_QUOTES = ('"', "'", '"""', "'''")
_COMMENTS = st.lists(st.sampled_from((*_QUOTES, '""', "\\", "#", "[", ".", " ", "a")), max_size=5).map("".join)


def _parsed(text: str) -> dict[str, Any] | None:
    """What the parser reads; None where it is not TOML."""
    with suppress(tomllib.TOMLDecodeError):
        return tomllib.loads(text)
    return None


@st.composite
def _texts(draw: st.DrawFn) -> Piece:
    quotes = draw(st.sampled_from(_QUOTES))
    inside = "".join(draw(st.lists(st.sampled_from(_INSIDE), max_size=4)))
    return Piece(f"{quotes}{inside}{quotes}")


@st.composite
def _lists(draw: st.DrawFn, values: st.SearchStrategy[Piece]) -> Piece:
    items = draw(st.lists(values, max_size=3))
    text = "".join(f"{item.text},{draw(_line_ends)}" for item in items)
    return Piece(f"[{text}]", len(items) + sum(item.entries for item in items), 1 + _deepest(items))


@st.composite
def _tables(draw: st.DrawFn, values: st.SearchStrategy[Piece]) -> Piece:
    items = draw(st.lists(values, max_size=3))
    text = ", ".join(f"k{number} = {item.text}" for number, item in enumerate(items))
    return Piece(f"{{{text}}}", len(items) + sum(item.entries for item in items), 1 + _deepest(items))


def _deepest(items: list[Piece]) -> int:
    return max((item.depth for item in items), default=0)


_line_ends = st.builds("{}{}".format, _COMMENTS.map(" #{}".format) | st.just(""), st.sampled_from(("\n", "\r\n")))
_plain = _texts().filter(lambda text: _parsed(f"x = {text.text}") is not None) | st.sampled_from(
    ("1", "-1.5", "true", "1979-05-27 07:32:00")
).map(Piece)
_values = st.recursive(_plain, lambda values: _lists(values) | _tables(values), max_leaves=5)
_parts = st.lists(st.sampled_from(("a", '"."', "'#'", '"\\""', "'['")), max_size=3)


@TIMES
def test_the_scan_counts_at_least_what_is_there(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a document has more than is allowed, however its texts and comments look, it is refused."""

    @quick(300, times)
    @given(st.lists(st.tuples(_parts, _values, _line_ends), min_size=1, max_size=4))
    def check(lines: list[tuple[list[str], Piece, str]]) -> None:
        names = [[f"k{number}", *parts] for number, (parts, _, _) in enumerate(lines)]
        values = [value for _, value, _ in lines]
        text = "".join(
            f"{' . '.join(name)} = {value.text}{end}" for name, (_, value, end) in zip(names, lines, strict=True)
        )
        mapping = _parsed(text)
        assume(mapping is not None)
        assert loads(text) == mapping
        has = {
            "MOST_PARTS": max(map(len, names)),
            "MOST_ENTRIES": len(lines) + sum(value.entries for value in values),
            "MOST_DEPTH": _deepest(values),
        }
        for limit, count in has.items():
            with monkeypatch.context() as patched:
                patched.setattr(toml_text, limit, count - 1)
                with pytest.raises(tomllib.TOMLDecodeError):
                    loads(text)

    check()


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
