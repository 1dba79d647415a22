"""Parse the results of pgpool-II's SHOW commands. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _


def read_rows(text: str, file: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """Return a dict for each of psql's unaligned rows, which follow their heading. Raises ParseError.

    columns: required ones; others differ between versions
    """
    lines = text.splitlines()
    heading = lines[0].split("|") if lines else []
    if missing := [name for name in columns if name not in heading]:
        what = _("pgpool-II's result has no column {columns}", columns=", ".join(missing))
        raise ParseError(what, file=file, line=1, text=lines[0] if lines else "")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("|")
        if len(fields) != len(heading):
            raise ParseError(_("not a row of as many columns as the heading"), file=file, line=number, text=line)
        rows.append(dict(zip(heading, fields, strict=True)))
    return rows
