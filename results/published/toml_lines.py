"""Where in a TOML file a value stands: the parser of the standard library does not say. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

_HEADER = re.compile(r"\[+([^\[\]]+)\]+")
_KEY = re.compile(r"""([\w-]+|"[^"]*")(\.([\w-]+|"[^"]*"))*(?=\s*=)""")


def line_of(path: str, text: str) -> int:
    """The line of the nearest key or header of a TOML file on the way to a path such as `trials[0].levels['major']`."""
    wanted = re.sub(r"\['([^']*)'\]", r".\1", path)
    best = ("", 1)
    for place, line in _paths(text):
        begins = wanted == place or wanted.startswith((f"{place}.", f"{place}["))
        if begins and len(place) > len(best[0]):
            best = (place, line)
    return best[1]


def _paths(text: str) -> Iterator[tuple[str, int]]:
    """(path, line) of every key and header that begins a line."""
    tables: Counter[str] = Counter()
    table = ""
    for line, words in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(words):
            table = _path(header[1], tables)
            if words.startswith("[["):
                tables[table] += 1
                table = f"{table}[{tables[table] - 1}]"
            yield table, line
        elif key := _KEY.match(words):
            yield f"{table}.{key[0]}".removeprefix(".").replace('"', ""), line


def _path(header: str, tables: Mapping[str, int]) -> str:
    """`trials.figures` within the second of [[trials]] → `trials[1].figures`."""
    path = ""
    *parents, last = header.replace('"', "").split(".")
    for name in parents:
        path = f"{path}.{name}".removeprefix(".")
        path += f"[{tables[path] - 1}]" if path in tables else ""
    return f"{path}.{last}".removeprefix(".")
