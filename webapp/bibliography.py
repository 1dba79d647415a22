"""Citing what Teiten keeps: BibTeX, and CSL-JSON for Zotero, Pandoc and others. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {sign: f"\\{sign}" for sign in "&%$#_{}"}


@dataclass(frozen=True)
class Entry:
    """What is cited.

    key: of the entry.
    authors: names as they are written; none where nobody is named.
    note: what a reader must know besides."""

    key: str
    title: str
    authors: Sequence[str]
    published: date
    address: str
    note: str
    publisher: str = "Teiten"


def bibtex(entry: Entry) -> str:
    """Return the entry; every name in braces, so that 'Working Group 1' stays one name."""
    authors = " and ".join(f"{{{_tex(name)}}}" for name in entry.authors)
    lines = [
        f"@misc{{{entry.key},",
        *([f"  author = {{{authors}}},"] if authors else []),
        f"  title = {{{{{_tex(entry.title)}}}}},",
        f"  howpublished = {{\\url{{{entry.address}}}}},",
        f"  publisher = {{{_tex(entry.publisher)}}},",
        f"  year = {{{entry.published:%Y}}},",
        f"  month = {{{entry.published:%m}}},",
        f"  note = {{{_tex(entry.note)}}}",
        "}",
    ]
    return "\n".join(lines)


def csl(entry: Entry) -> str:
    """Return a list of one item, as reference managers import it."""
    day = entry.published
    item = {
        "id": entry.key,
        "type": "report",
        "title": entry.title,
        "author": [{"literal": name} for name in entry.authors],
        "issued": {"date-parts": [[day.year, day.month, day.day]]},
        "URL": entry.address,
        "publisher": entry.publisher,
        "note": entry.note,
    }
    return json.dumps([item], ensure_ascii=False, indent=2)


def _tex(text: str) -> str:
    return "".join(_TEX.get(sign, sign) for sign in text)
