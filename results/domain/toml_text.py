"""TOML that somebody else wrote, read without a crash. Pure.

What tomllib would take long for is refused before it reads: for a name of n dotted parts it makes n² / 2 objects, and a
file of 40 KB that is one such name took 14 s and 1.5 GB.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from results.domain.document_limits import MOST_DEPTH, excess
from results.domain.messages import gettext_lazy as _

MOST_BYTES = 1024**2
MOST_PARTS = 16  # of a dotted name
MOST_ENTRIES = 50_000  # keys, tables, and items of lists
_TOKEN = re.compile(
    r"""
    (?P<text> \"\"\"(?:[^"\\]|\\.|"(?!""))*(?:"{3,5}|\\?\Z) | '''(?:[^']|'(?!''))*(?:'{3,5}|\Z)
            | "(?:[^"\\\n]|\\[^\n])*"? | '[^'\n]*'? | [A-Za-z0-9_+:-]+)
    | (?P<comment> \#[^\n]*)
    | (?P<dot> \.) | (?P<opens> [\[{]) | (?P<closes> [\]}]) | (?P<entry> [=,]) | (?P<blank> [ \t]+)
    | (?P<other> .)
    """,
    re.VERBOSE | re.DOTALL,
)


def loads(text: str) -> dict[str, Any]:
    """Return the structure of a TOML file.

    Raises TOMLDecodeError, whose first argument says why, for text that is not TOML, and for what is over the limits of
    this module and of `document_limits`: tomllib itself lets ValueError and RecursionError out.
    """
    if len(text) > MOST_BYTES or len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise tomllib.TOMLDecodeError(_("It has more than {most} bytes", most=MOST_BYTES))
    _require_short(text)
    try:
        mapping = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        raise tomllib.TOMLDecodeError(_("An integer is too long: {error}", error=str(error))) from error
    except RecursionError as error:
        raise tomllib.TOMLDecodeError(_("Its lists or tables are nested too deeply")) from error
    if why := excess(mapping):
        raise tomllib.TOMLDecodeError(why)
    return mapping


def _require_short(text: str) -> None:
    """Raise TOMLDecodeError for too many parts of a name, too many entries, or lists and tables nested too deeply."""
    depth = entries = 0
    parts = 1
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        depth += (kind == "opens") - (kind == "closes")
        entries += kind in ("entry", "opens")
        if kind == "dot":
            parts += 1
        elif kind not in ("text", "blank"):
            parts = 1
        if why := _excess(parts, entries, depth):
            line = text.count("\n", 0, token.start()) + 1
            raise tomllib.TOMLDecodeError(_("{why} (at line {line})", why=why, line=line))


def _excess(parts: int, entries: int, depth: int) -> str:
    if parts > MOST_PARTS:
        return _("A name has more than {most} parts with dots between them", most=MOST_PARTS)
    if entries > MOST_ENTRIES:
        return _("It has more than {most} keys, tables and items of lists", most=MOST_ENTRIES)
    if depth > MOST_DEPTH:
        return _("Its lists or tables are nested too deeply: at most {most} in each other are read", most=MOST_DEPTH)
    return ""
