"""What withholds verdicts, in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from results.domain.environment.layers import LayerKind
from results.domain.environment.rules import PLAN
from results.domain.units import counted
from results.queries.environment.environments import NotableDifference, SeriesEnvironment
from webapp.chooser import title as dimension_title
from webapp.templatetags.environments import told_name

MOST_NAMED = 2
_OTHERS = {(LayerKind.CLIENT, "version"): "another pgbench major", (PLAN, "configurations"): "other configurations"}


def confounders(environments: Sequence[SeriesEnvironment]) -> str:
    """Return what withholds verdicts: 'another pgbench major and another kernel on the two sides'."""
    rows = [row for one in environments for row in one.notable if row.matters]
    names = dict.fromkeys(map(_other, rows))
    if not names:
        return "something else that matters differs"
    named, more = list(names)[:MOST_NAMED], len(names) - MOST_NAMED
    others = [f"{counted(more, 'other difference')} that matter{'s' * (more == 1)}"] if more > 0 else []
    return f"{listed([*named, *others])} on the two sides"


def _other(row: NotableDifference) -> str:
    name = dimension_title(row.key) if row.kind == PLAN else told_name(row)
    return _OTHERS.get((row.kind, row.key), f"another {name}")


def listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
