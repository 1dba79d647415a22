"""Levels as a reader needs them: what differs among those shown, never what is the same in all or not set. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import compress

from django.utils.translation import gettext

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.queries.shared.metrics import MetricRow
from results.queries.shared.ordering import DEFAULT
from results.queries.shared.selection import JOINT, dimensions
from results.queries.shared.words import level_text
from webapp.chooser import title

LABELLED = _("part")  # of metrics that do not say what their labels are


def short_levels(dimension: str, texts: Sequence[str]) -> dict[str, str]:
    """Return each level of an axis → how it is called: of several dimensions without the parts that are the same in
    all levels, or not set in this one. A level that would be called like another has its whole name."""
    names = dimensions(dimension)
    parts_of = {text: text.split(JOINT) for text in texts}
    if len(names) < 2 or any(len(parts) != len(names) for parts in parts_of.values()):
        return {text: localized(level_text(text)) for text in texts}
    differ = [len(set(column)) > 1 for column in zip(*parts_of.values(), strict=True)]
    short = {text: _short(parts, differ) or text for text, parts in parts_of.items()}
    called = Counter(short.values())
    return {text: name if called[name] == 1 else text for text, name in short.items()}


def _short(parts: Sequence[str], differ: Sequence[bool]) -> str:
    return JOINT.join(part for part in compress(parts, differ) if part != DEFAULT)


def cell_name(series: str, x: str) -> str:
    """Return what a cell is called: '17 at heap', 'at heap' of a single line."""
    text = gettext("{series} at {x}") if series else gettext("at {x}")
    return text.format(series=series, x=x)


def axis_title(dimension: str, metric: MetricRow) -> str:
    """Return what an axis is of: 'clients · work_mem'; of labels what they name, as 'query' or 'step'."""
    return title(dimension, metric.label_noun or LABELLED)
