"""CSV that spreadsheets open: a text that they would compute as a formula is marked as a text."""

from __future__ import annotations

import re
from typing import Any

_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?(inf|nan)")


def shown_as_text(cell: Any) -> Any:
    """Return a cell of CSV, with an apostrophe before a text that begins as a formula and is no number."""
    if isinstance(cell, str) and cell.startswith(_BEGINNINGS) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell
