"""One text that holds several scripts or queries, each under a line of its own. Pure.

-- script: new-order @45        a pgbench script and its weight
-- query: 01-customers          a query, in the text's order
-- file: 02-parts               either: what uploaded files are joined by
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from results.domain.messages import gettext_lazy as _

_HEAD = re.compile(r"--[ \t]*(?:script|query|file):([^\n]*)")
_NAMED = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9_.-]{0,59})(?:\s*@\s*(\d{1,9}))?\s*")


@dataclass(frozen=True)
class Section:
    """One part of the text.

    line: number of its first line in the whole text.
    weight: None where none is given.
    """

    name: str
    text: str
    line: int
    weight: int | None = None


@lru_cache(maxsize=8)  # a plan asks for each combination of its factors
def sections(text: str, default_name: str) -> tuple[Section, ...]:
    """Return the text's parts in order; a text without a heading is one part called `default_name`. Raises ValueError
    with a sentence for the user."""
    parts: list[Section] = []
    before: list[str] = []
    name, weight, first, lines = "", None, 1, before
    for number, line in enumerate(text.split("\n"), 1):
        if (head := _HEAD.fullmatch(line)) is None:
            lines.append(line)
            continue
        if name:
            parts.append(_section(name, lines, first, weight))
        name, weight = _named(head[1], number)
        first, lines = number + 1, []
    if name:
        parts.append(_section(name, lines, first, weight))
    if not parts:
        return (_section(default_name, before, 1, None),)
    if not is_empty(before):
        raise ValueError(_("There is text before the first heading."))
    _each_once(parts)
    return tuple(parts)


def is_empty(lines: list[str]) -> bool:
    """Tell whether there are only blank lines and one-line comments."""
    return all(not line.strip() or line.lstrip().startswith("--") for line in lines)


def _named(text: str, number: int) -> tuple[str, int | None]:
    match = _NAMED.fullmatch(text)
    if match is None:
        raise ValueError(
            _(
                "Line {line}: {text!r} is no name: letters, digits, '.', '_' and '-', then '@weight' if any.",
                line=number,
                text=text.strip()[:60],
            )
        )
    return match[1], int(match[2]) if match[2] else None


def _section(name: str, lines: list[str], first: int, weight: int | None) -> Section:
    if is_empty(lines):
        raise ValueError(_("{name!r} is empty.", name=name))
    return Section(name, "\n".join(lines) + "\n", first, weight)


def _each_once(named_sections: list[Section]) -> None:
    names = [section.name for section in named_sections]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(_("There are two called {name!r}.", name=twice))
