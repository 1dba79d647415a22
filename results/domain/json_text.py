"""JSON as files of bundles and archives hold it, read so that nothing in it stops or misleads a reader. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from results.domain.messages import gettext_lazy as _

MOST_DEPTH = 200
MOST_DIGITS = 40  # of a whole number; a counter of 64 bits has 20
MOST_CHARACTERS = 64 * 1024**2  # of a text that is parsed as a whole
MOST_VALUES = 2_000_000  # of such a text: each takes up to 100 bytes
ITEM_CHARACTERS = 4 * 1024**2  # of an item of a list that is read item by item
_LEAST_PIECE = 4096
_SPACES = re.compile(r"[ \t\n\r]*+")
_STRING_OR_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]+|[\]}]+')
_KEY = object()
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_LONGEST_PATH = 300
_TOO_DEEP = _("it has more than {most} levels", most=MOST_DEPTH)


def loads(text: str, most: int | None = MOST_CHARACTERS) -> Any:
    """Return what a JSON text says. Raises ValueError, and nothing else, for a text that is no JSON, for a number that
    no float holds (NaN, 1e309, a thousand digits), for more than 200 levels, and for more characters or values than
    `require_bounded` lets pass; `most` None stands for any number of both."""
    if most is not None:
        require_bounded(text, most)
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise too_deep() from None
    _require_shallow(text)
    return value


def require_bounded(text: str, most: int = MOST_CHARACTERS) -> None:
    """Raise ValueError for a JSON text of more characters than `most`, or of more than 2,000,000 values; commas and
    brackets in its texts count too."""
    if len(text) > most:
        raise ValueError(f"it has {len(text):,} characters; at most {most:,} are read")
    if sum(map(text.count, "[{,")) > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES:,} values")


def items(text: str, start: int) -> Iterator[tuple[Any, int]]:
    """Yield (item, where the text goes on after it) of the list whose first item begins at text[start].

    One item is held at a time, so that the text may be longer than `loads` reads. What comes after the last item is
    left to the caller. Raises as `loads` does, also for an item of more than 4 MiB.
    """
    at, width = _after_spaces(text, start), 0
    while text[at : at + 1] not in ("]", ""):
        item, end = _item(text, at, max(2 * width, _LEAST_PIECE))
        yield item, end
        width, comma = end - at, _after_spaces(text, end)
        if text[comma : comma + 1] in ("]", ""):
            return
        if text[comma] != ",":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, comma)
        at = _after_spaces(text, comma + 1)


def _item(text: str, start: int, width: int) -> tuple[Any, int]:
    """Return the value that begins at text[start], and where it ends.

    width: of the first piece of the text in which its end is looked for, in characters
    """
    while True:
        width = min(width, ITEM_CHARACTERS)
        piece, is_rest = text[start : start + width], start + width >= len(text)
        try:
            value, length = _DECODER.raw_decode(piece)
        except RecursionError:
            raise too_deep() from None
        except json.JSONDecodeError as error:
            if is_rest:
                raise json.JSONDecodeError(error.msg, text, start + error.pos) from None
        else:
            if is_rest or length < width:
                _require_shallow(piece[:length])
                return value, start + length
        if width == ITEM_CHARACTERS:
            line = text.count("\n", 0, start) + 1
            raise ValueError(f"the item in line {line:,} is no JSON, or has more than {ITEM_CHARACTERS:,} characters")
        width *= 2


def _after_spaces(text: str, start: int) -> int:
    match = _SPACES.match(text, start)
    return match.end() if match else start


def _require_shallow(text: str) -> None:
    """Raise ValueError for a JSON text of more than 200 levels, in one pass that keeps nothing."""
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return
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
    return ValueError(_TOO_DEEP)


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
                    return "", _TOO_DEEP
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
        if match is None:
            return ""
        nul_first = match[0] == chr(0)
        return _("it holds NUL, which is no text") if nul_first else _("it holds half a character, which is no text")
    if isinstance(item, int):
        return "" if abs(item) < 10**MOST_DIGITS else _("it has more than {most} digits", most=MOST_DIGITS)
    if isinstance(item, float):
        return "" if math.isfinite(item) else _("{number} is no finite number", number=item)
    return "" if item is None else _("{type} is nothing that JSON has", type=type(item).__name__)


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


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_float, parse_int=_int)
