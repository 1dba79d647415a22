"""What a document is made of. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.drawing.picture import Picture


@dataclass(frozen=True)
class Prose:
    """Markdown. Users' and generated names in it are escaped (`escaped`)."""

    markdown: str


@dataclass(frozen=True)
class Table:
    """A table of texts.

    numeric: of each column, whether its texts are numbers."""

    caption: str
    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...] = ()

    def is_numeric(self, column: int) -> bool:
        return column < len(self.numeric) and self.numeric[column]


@dataclass(frozen=True)
class Plate:
    """A figure of a document.

    name: of its file, without what it is a file of.
    picture: its caption is the document's text below it.
    svg: as it was drawn for good; empty where it is drawn when it is shown."""

    name: str
    picture: Picture
    svg: bytes = b""


Part = Prose | Table | Plate


@dataclass(frozen=True)
class Document:
    """A document.

    authors: their names.
    subtitle: when, which edition.
    address: where it is to be found.
    language: of its text, as HTML names it; captions are numbered in it.
    facts: its provenance."""

    title: str
    parts: Sequence[Part]
    authors: Sequence[str] = ()
    subtitle: str = ""
    address: str = ""
    language: str = "en"
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plates(self) -> list[Plate]:
        return [part for part in self.parts if isinstance(part, Plate)]


def numbered(parts: Sequence[Part]) -> Iterator[tuple[Part, int]]:
    """Give each part with its number among figures, or among tables; prose with 0."""
    counts = {Plate: 0, Table: 0}
    for part in parts:
        if isinstance(part, Prose):
            yield part, 0
        else:
            counts[type(part)] += 1
            yield part, counts[type(part)]


def escaped(text: str) -> str:
    """Text → Markdown that reads as this text, on one line."""
    inline = re.sub(r"([\\`*_{}\[\]<>#|~^$&!])", r"\\\1", " ".join(text.split()))
    no_list = re.sub(r"^(\d+)([.)])(?= |$)", r"\1\\\2", inline)
    return re.sub(r"^([-+=])", r"\\\1", no_list)


def file_name(text: str, most: int = 80) -> str:
    """'Transactions per second, run 21' → 'transactions-per-second-run-21'; letters of any script stay."""
    return re.sub(r"[^\w.]+", "-", text.lower()).strip("-.")[:most].rstrip("-.") or "teiten"
