"""JSON as files of bundles and archives hold it, read so that nothing in it stops or misleads a reader. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

MOST_DEPTH = 200
MOST_DIGITS = 40  # of a whole number; a counter of 64 bits has 20
_OPENING = re.compile(r"[\[{]")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_LONGEST_PATH = 300


def loads(text: str) -> Any:
    """Return what a JSON text says. Raises ValueError, and nothing else, for a text that is no JSON, for a number that
    no float holds (NaN, 1e309, a thousand digits), and for more than 200 levels."""
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_float, parse_int=_int)
    except RecursionError:
        raise too_deep() from None
    if len(_OPENING.findall(text)) > MOST_DEPTH:
        require_shallow(value)
    return value


def require_shallow(value: Any) -> None:
    """Raise ValueError for a value of more than 200 levels."""
    for _ in walk(value):
        pass


def too_deep() -> ValueError:
    return ValueError(f"it has more than {MOST_DEPTH} levels")


def first_problem(value: Any, *, nul: bool = False) -> tuple[str, str] | None:
    """Return (path, what is wrong) of the first thing in a value out of JSON that PostgreSQL does not store; None where
    there is none.

    nul: whether texts may hold the character NUL, as where it is replaced before they are stored
    """
    try:
        for path, item in walk(value):
            if what := problem(item, nul=nul):
                return path, what
    except ValueError as error:
        return "", str(error)
    return None


def problem(item: Any, *, nul: bool = False) -> str:
    """Return why PostgreSQL does not store a text or number, '' where it does."""
    if isinstance(item, str):
        match = _NO_TEXT.search(item.replace("\0", "") if nul else item)
        return f"it holds {'NUL' if match[0] == chr(0) else 'half a character'}, which is no text" if match else ""
    if isinstance(item, int):
        return "" if abs(item) < 10**MOST_DIGITS else f"it has more than {MOST_DIGITS} digits"
    if isinstance(item, float):
        return "" if math.isfinite(item) else f"{item} is no finite number"
    return "" if item is None else f"{type(item).__name__} is nothing that JSON has"


def readable(text: str) -> str:
    """Return the text for a message: what PostgreSQL does not store, and line ends, as escapes."""
    return _NO_TEXT.sub(lambda match: repr(match[0])[1:-1], text).replace("\n", " ")


def walk(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (path, value) of every text, number and constant in a value out of JSON, keys of objects included; path as
    `files[2].sha256`. Raises ValueError for more than 200 levels."""
    waiting: list[tuple[str, int, Any]] = [("", 0, value)]
    while waiting:
        path, depth, item = waiting.pop()
        if depth > MOST_DEPTH:
            raise too_deep()
        if isinstance(item, Mapping):
            for key in item:
                yield f"{path}'s key", key
            below = [(f"{path}.{key}".lstrip(".")[:_LONGEST_PATH], depth + 1, one) for key, one in item.items()]
            waiting += reversed(below)
        elif isinstance(item, (list, tuple)):
            waiting += reversed([(f"{path}[{n}]"[:_LONGEST_PATH], depth + 1, one) for n, one in enumerate(item)])
        else:
            yield path, item


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no finite number")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is no finite number")
    return value


def _int(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{text[:20]}… has more than {MOST_DIGITS} digits")
    return int(text)
