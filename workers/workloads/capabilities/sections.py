"""SQL files of several named parts: a line `-- [name]` begins one. Pure but for reading the file."""

from __future__ import annotations

import re
from pathlib import Path

_HEADING = re.compile(r"^-- \[(.+)\]$", re.MULTILINE)


def sections(module_file: str) -> dict[str, str]:
    """Return the parts, by name, of the .sql file beside a module: `sections(__file__)`."""
    text = Path(module_file).with_suffix(".sql").read_text(encoding="utf-8")
    _, *pieces = _HEADING.split(text)
    return {name: body.strip() + "\n" for name, body in zip(pieces[::2], pieces[1::2], strict=True)}
