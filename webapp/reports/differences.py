"""What differs between the environments of a comparison's series and their bases, as a table. Pure."""

from __future__ import annotations

from django.utils.translation import gettext

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized, pgettext_lazy
from results.queries.comparison.cells import Comparison
from webapp.compare.words import names_of
from webapp.documents.parts import Table
from webapp.templatetags.environments import cause_name, layer_name, listed, one_side

_HEADING = (
    _("sides"),
    _("layer"),
    _("key"),
    _("baseline"),
    pgettext_lazy("side of a comparison", "other"),
    _("what it means"),
)


def differences_table(comparison: Comparison) -> Table | None:
    """Return a row for each key that differs and that a reader should know of."""
    names = names_of(comparison)
    rows = []
    for one in comparison.environment:
        sides = gettext("{series} against {base}").format(
            series=names.get(one.series, one.series), base=names.get(one.base, one.base)
        )
        for row in listed(one):
            values = one_side(row, "left"), one_side(row, "right")
            rows.append((sides, layer_name(row.kind), row.key, *values, cause_name(row.cause)))
    if not rows:
        return None
    caption = gettext("What differs besides the numbers")
    return Table(caption, tuple(map(localized, _HEADING)), tuple(dict.fromkeys(rows)))
