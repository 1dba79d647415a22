"""JSON as files of bundles and archives hold it, read so that nothing in it stops or misleads a reader. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

MOST_DEPTH = 200
MOST_DIGITS = 40  # of a whole number; a counter of 64 bits has 20
MOST_CHARACTERS = 64 * 1024**2  # of a text that is parsed as a whole
_STRING_OR_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]+|[\]}]+')
_KEY = object()
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_LONGEST_PATH = 300


def loads(text: str, most: int | None = MOST_CHARACTERS) -> Any:
    """Return what a JSON text says. Raises ValueError, and nothing else, for a text that is no JSON, for a number that
    no float holds (NaN, 1e309, a thousand digits), for more than 200 levels, and for more characters than `most`; None
    stands for any number."""
    if most is not None and len(text) > most:
        raise ValueError(f"it has {len(text):,} characters; at most {most:,} are read")
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_float, parse_int=_int)
    except RecursionError:
        raise too_deep() from None
    if text.count("[") + text.count("{") > MOST_DEPTH:
        _require_shallow(text)
    return value


def _require_shallow(text: str) -> None:
    """Raise ValueError for a JSON text of more than 200 levels, in one pass that keeps nothing."""
    depth = 0
    for match in _STRING_OR_BRACKETS.finditer(text):
        first, count = text[match.start()], match.end() - match.start()
        if first in "[{":
            depth += count
            if depth > MOST_DEPTH:
                raise too_deep()
        elif first != '"':
            depth -= count


def too_deep() -> ValueError:
    return ValueError(f"it has more than {MOST_DEPTH} levels")


def first_problem(value: Any, *, nul: bool = False) -> tuple[str, str] | None:
    """Return (path, what is wrong) of the first thing in a value out of JSON that PostgreSQL does not store; None where
    there is none. A path is as `files[2].sha256`.

    nul: whether texts may hold the character NUL, as where it is replaced before they are stored
    """
    above: list[Any] = []  # keys of the objects and lists that the item is in
    levels = [_items([value])]
    while levels:
        for key, item in levels[-1]:
            if isinstance(item, (Mapping, list, tuple)):
                if len(above) == MOST_DEPTH:
                    return "", str(too_deep())
                above.append(key)
                levels.append(_items(item))
                break
            if what := problem(item, nul=nul):
                return _path([*above, key][1:]), what
        else:
            levels.pop()
            del above[-1:]
    return None


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (key, item) of an object or a list, and of an object's keys (_KEY, key)."""
    if not isinstance(value, Mapping):
        yield from enumerate(value)
        return
    for key, item in value.items():
        yield _KEY, key
        yield key, item


def _path(keys: Sequence[Any]) -> str:
    words = ("'s key" if key is _KEY else f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return "".join(words).removeprefix(".")[:_LONGEST_PATH]


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
