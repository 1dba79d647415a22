"""What pgpool-II answers to SHOW, read. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from results.domain.errors import ParseError


def read_rows(text: str, file: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """psql's unaligned rows under their heading → a dict a row. columns: that must be among them; what else there is
    differs between versions. Raises ParseError."""
    lines = text.splitlines()
    heading = lines[0].split("|") if lines else []
    if missing := [name for name in columns if name not in heading]:
        what = f"pgpool-II says nothing of {', '.join(missing)}"
        raise ParseError(what, file=file, line=1, text=lines[0] if lines else "")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("|")
        if len(fields) != len(heading):
            raise ParseError("not a row as its heading says", file=file, line=number, text=line)
        rows.append(dict(zip(heading, fields, strict=True)))
    return rows
