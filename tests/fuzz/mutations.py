"""Files as they never should be: recorded ones cut off, mixed up, or with other numbers in them, and arbitrary text."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NUMBERS_OF_OTHERS = (
    "nan",
    "-nan",
    "inf",
    "-1",
    "-0.5",
    "1e309",
    "1e300",
    "-1e300",
    "1,5",
    "1.234,5",
    "1.2.3",
    "9" * 400,
)
STRANGE_NUMBERS = (
    *_NUMBERS_OF_OTHERS,
    "9" * 5000,
    "",
    ".",
    "0x1F",
    "１２",
    "true",
    "null",
    '"x"',
    "[]",
    "{}",
    "[" * 3000,
)
_STRANGE_TEXTS = (
    "\0",
    "\x01\x02\xff",
    "\ud800",
    "\ufffd",
    "x" * 100_000,
    "\n\n\n",
    "\t",
    " ",
    '"',
    "{",
    "]",
    "\\u0000",
)
_MOST_ARBITRARY = 200


TIMES = pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.slow)])


def quick(examples: int = 12, times: int = 1) -> settings:
    """The same examples each time: few for `make test`, 5 times as many for `make test-slow`; TEITEN_EXAMPLES
    multiplies them."""
    return settings(
        derandomize=True,
        max_examples=max(1, round(times * examples * float(os.environ.get("TEITEN_EXAMPLES", "1")))),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def as_decoded(text: str) -> str:
    """The text as Teiten decodes the bytes of a file or an answer: without NUL, and without half a character."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").replace("\0", "\ufffd")


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """The text after one to three changes; one time in eight, arbitrary text."""
    if draw(st.integers(0, 7)) == 7:
        return draw(st.text(st.characters(codec=None), max_size=_MOST_ARBITRARY))
    for _ in range(draw(st.integers(1, 3))):
        text = _CHANGES[draw(st.integers(0, len(_CHANGES) - 1))](draw, text)
    return text


def _cut(draw: st.DrawFn, text: str) -> str:
    return text[: draw(st.integers(0, len(text)))]


def _without_line(draw: st.DrawFn, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    del lines[draw(st.integers(0, len(lines) - 1))]
    return "".join(lines)


def _line_twice(draw: st.DrawFn, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    index = draw(st.integers(0, len(lines) - 1))
    return "".join([*lines[: index + 1], *lines[index:]])


def _lines_swapped(draw: st.DrawFn, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    a, b = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    lines[a], lines[b] = lines[b], lines[a]
    return "".join(lines)


def _other_number(draw: st.DrawFn, text: str) -> str:
    numbers = list(NUMBER.finditer(text))
    if not numbers:
        return text
    match = numbers[draw(st.integers(0, len(numbers) - 1))]
    return text[: match.start()] + draw(st.sampled_from(STRANGE_NUMBERS)) + text[match.end() :]


def _strange_text(draw: st.DrawFn, text: str) -> str:
    index = draw(st.integers(0, len(text)))
    return text[:index] + draw(st.sampled_from(_STRANGE_TEXTS)) + text[index:]


_CHANGES = (_cut, _without_line, _line_twice, _lines_swapped, _other_number, _other_number, _strange_text)
