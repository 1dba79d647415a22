"""What differs between the environments of a comparison's series and their bases, as a table. Pure."""

from __future__ import annotations

from results.queries.comparison.cells import Comparison
from webapp.compare.words import names_of
from webapp.documents.parts import Table
from webapp.templatetags.environments import cause_name, listed, one_side


def differences_table(comparison: Comparison) -> Table | None:
    """Return a row for each key that differs and that a reader should know of."""
    names = names_of(comparison)
    rows = []
    for one in comparison.environment:
        sides = f"{names.get(one.series, one.series)} against {names.get(one.base, one.base)}"
        for row in listed(one):
            values = one_side(row, "left"), one_side(row, "right")
            rows.append((sides, row.kind, row.key, *values, cause_name(row.cause)))
    heading = ("sides", "layer", "key", "baseline", "other", "what it means")
    return Table("What differs besides the numbers", heading, tuple(dict.fromkeys(rows))) if rows else None
