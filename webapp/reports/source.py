"""A report's text: Markdown, and in it blocks. Pure.

```teiten comparison
query = "run=21&x=clients"
caption = "Throughput over clients"
```
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from markdown_it import MarkdownIt

from results.domain import toml_text
from results.domain.errors import TeitenError
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion

WORD = "teiten"


@dataclass(frozen=True)
class Written:
    """Text between blocks."""

    markdown: str


@dataclass(frozen=True)
class Block:
    """A block.

    line: of its first line, from 1.
    body: TOML."""

    name: str
    body: str
    line: int

    def options(self, known: Mapping[str, type]) -> dict[str, Any]:
        """Return its options. Raises TeitenError for TOML that is none, unknown keys and values of another type."""
        try:
            options = toml_text.loads(self.body)
        except tomllib.TOMLDecodeError as error:
            raise TeitenError(
                _("The block is no TOML."),
                where=_("line {line}", line=self.line),
                why=str(error),
                todo=_('Write key = "value" in each line.'),
            ) from error
        for key, value in options.items():
            if key not in known:
                todo = suggestion(key, known) or _("It takes {names}.", names=linked(COMMA, known))
                what = _("{block} has no option {key!r}.", block=self.name, key=key)
                raise TeitenError(what, where=_("line {line}", line=self.line), todo=todo)
            if type(value) is not known[key]:
                number = known[key] is int
                what = _("{key} is not a number.", key=key) if number else _("{key} is not a text in quotes.", key=key)
                todo = _("Write {key} = {sample}.", key=key, sample=_SAMPLE[known[key]])
                raise TeitenError(what, where=_("line {line}", line=self.line), todo=todo)
        return options


_SAMPLE = {int: "21", str: '"…"'}


def pieces(source: str) -> Iterator[Written | Block]:
    """Give the text and its blocks in their order. A block inside a list or a quotation is text like any other."""
    lines = [f"{line}\n" for line in source.split("\n")]  # as markdown-it counts them
    done = 0
    for token in MarkdownIt("commonmark").parse(source):
        words = token.info.split()
        if token.type != "fence" or token.level or not words or words[0] != WORD or token.map is None:
            continue
        first, end = token.map
        if text := "".join(lines[done:first]).strip("\n"):
            yield Written(text)
        yield Block(" ".join(words[1:]), token.content, first + 1)
        done = end
    if text := "".join(lines[done:]).strip("\n"):
        yield Written(text)


def first_difference(one: str, other: str) -> tuple[Block | None, Block | None] | None:
    """Return the first blocks, one of each text, that do not show the same, captions aside, with None for a text that
    has no more; None where both show the same. The blocks are valid."""
    pairs = zip_longest(_blocks(one), _blocks(other))
    return next(((ours, theirs) for ours, theirs in pairs if _shows(ours) != _shows(theirs)), None)


def _blocks(source: str) -> Iterator[Block]:
    return (piece for piece in pieces(source) if isinstance(piece, Block))


def _shows(one: Block | None) -> tuple[str, dict[str, Any]] | None:
    if one is None:
        return None
    options = toml_text.loads(one.body)
    options.pop("caption", None)
    return one.name, options


def block(name: str, **options: str | int) -> str:
    """Return the text of a block."""
    lines = [f"{key} = {value if isinstance(value, int) else _quoted(value)}" for key, value in options.items()]
    return "\n".join([f"```{WORD} {name}", *lines, "```"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
