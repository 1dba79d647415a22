"""TOML that somebody else wrote, read without a crash. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

_LONGEST_BITS = 1024  # Python refuses to print an integer of more than some 14,000


def loads(text: str) -> dict[str, Any]:
    """Return the structure of a TOML file.

    Raises TOMLDecodeError for text that is not TOML, for values nested too deeply to be read, and for integers too
    long to be printed: tomllib lets ValueError and RecursionError out of these.
    """
    try:
        mapping = tomllib.loads(text)
        longest = max((number.bit_length() for number in _integers(mapping)), default=0)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        raise tomllib.TOMLDecodeError(f"An integer is too long: {error}") from error
    except RecursionError as error:
        raise tomllib.TOMLDecodeError("Its lists or tables are nested too deeply") from error
    if longest > _LONGEST_BITS:
        raise tomllib.TOMLDecodeError(f"An integer has {longest} bits; at most {_LONGEST_BITS} are read")
    return mapping


def _integers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for entry in entries:
        yield from _integers(entry)
