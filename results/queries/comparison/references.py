"""Saved references: a line of a citation that other comparisons are held against."""

from __future__ import annotations

from dataclasses import dataclass

from results import sql
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion


@dataclass(frozen=True)
class ReferenceRow:
    """A line of a citation, by the name that it was saved as.

    series: of the citation `hash`.
    dimensions: those that tell the citation's series apart, as in a selection.
    runs, attempts: whose measurements the line holds.
    lost: attempts that are deleted, count no more, or were read again without the metric of the citation."""

    name: str
    series: str
    hash: str
    dimensions: str
    runs: tuple[int, ...]
    attempts: tuple[int, ...]
    lost: tuple[int, ...]


def reference(name: str, known: tuple[str, ...]) -> ReferenceRow:
    """Return the reference of this name. One query. Raises TeitenError that names those that there are."""
    rows = sql.rows(ReferenceRow, sql.load(__file__), {"name": name})
    if not rows:
        todo = suggestion(name, known) if known else _("Save a line of a citation as one.")
        raise TeitenError(_("There is no reference {name!r}.", name=name), where="baseline", todo=todo)
    return rows[0]
