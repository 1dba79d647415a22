"""What withholds verdicts, in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext, ngettext

from results.domain.environment.layers import LayerKind
from results.domain.environment.rules import PLAN
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.queries.environment.environments import NotableDifference, SeriesEnvironment
from webapp.chooser import title as dimension_title
from webapp.language import joined
from webapp.templatetags.environments import told_name

MOST_NAMED = 2
_OTHERS: dict[tuple[str, str], str] = {
    (LayerKind.CLIENT, "version"): _("another pgbench major"),
    (PLAN, "configurations"): _("other configurations"),
}


def confounders(environments: Sequence[SeriesEnvironment]) -> str:
    """Return what withholds verdicts: 'another pgbench major and another kernel on the two sides'."""
    rows = [row for one in environments for row in one.notable if row.matters]
    names = dict.fromkeys(map(_other, rows))
    if not names:
        return gettext("something else that matters differs")
    named, more = list(names)[:MOST_NAMED], len(names) - MOST_NAMED
    if more > 0:
        others = ngettext("{n:,} other difference that matters", "{n:,} other differences that matter", more)
        named.append(others.format(n=more))
    return gettext("{differences} on the two sides").format(differences=listed(named))


def _other(row: NotableDifference) -> str:
    if special := _OTHERS.get((row.kind, row.key)):
        return localized(special)
    name = dimension_title(row.key) if row.kind == PLAN else told_name(row)
    return gettext("another {name}").format(name=name)


def listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    if len(names) < 2:
        return "".join(names)
    return gettext("{first} and {last}").format(first=joined(names[:-1]), last=names[-1])
