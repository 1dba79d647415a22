"""What changed, in words. Pure."""

from __future__ import annotations

from django.utils.translation import gettext, ngettext

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.statistics.verdict import Kind
from results.queries.changes.changes import Change, Changes
from results.queries.shared.selection import JOINT, dimensions
from webapp.chooser import title
from webapp.language import joined
from webapp.templatetags.teiten import configuration

_HEADINGS = {
    Kind.WORSE: _("Regressions"),
    Kind.BETTER: _("Improvements"),
    Kind.HIGHER: _("Moved, without a better direction"),
    Kind.LOWER: _("Moved, without a better direction"),
}


def heading(change: Change) -> str:
    return localized(_HEADINGS[change.verdict.kind])


def sentence(changes: Changes) -> str:
    """How much changed: '3 regressions, 5 improvements and 20 that only moved; …'."""
    kinds = changes.kinds
    if not kinds:
        return gettext("Nothing is compared here.")
    worse, better = kinds.get(Kind.WORSE, 0), kinds.get(Kind.BETTER, 0)
    moved = kinds.get(Kind.HIGHER, 0) + kinds.get(Kind.LOWER, 0)
    parts = [
        ngettext("{n:,} regression", "{n:,} regressions", worse).format(n=worse),
        ngettext("{n:,} improvement", "{n:,} improvements", better).format(n=better),
        gettext("{n} moved without a better direction").format(n=moved),
    ]
    rest = [
        gettext("{n:,} the same").format(n=kinds.get(Kind.SAME, 0)),
        gettext("{n:,} undecided").format(n=kinds.get(Kind.TOO_FEW, 0)),
    ]
    if apart := kinds.get(Kind.NOT_COMPARABLE, 0):
        rest.append(gettext("{n:,} not comparable").format(n=apart))
    return gettext("{changed}. Not listed: {others}.").format(changed=joined(parts), others=joined(rest))


def name(change: Change) -> str:
    """What changed: a metric, of which part, at which node."""
    label = gettext("Throughput and mean latency") if change.with_mean_latency else localized(change.label)
    return joined(text for text in (label, change.part, change.node) if text)


def place(change: Change, changes: Changes) -> str:
    """Where: the configuration, in words."""
    chosen = changes.selection
    axes = ((chosen.x, change.x), (chosen.panel, change.panel))
    return JOINT.join(_named_level(axis, level) for axis, level in axes if axis and level)


def _named_level(axis: str, level: str) -> str:
    """'clients 4'; of a level of one word, which does not say what it is of, its dimension: 'wal skipped'."""
    text = _level(axis, level)
    return text if " " in text else f"{title(axis)} {text}"


def sides(change: Change, changes: Changes) -> str:
    series = changes.selection.series or ""
    return gettext("{series} against {base}").format(
        series=_level(series, change.series), base=_level(series, change.base)
    )


def _level(axis: str, level: str) -> str:
    names, parts = dimensions(axis), level.split(JOINT)
    return configuration(dict(zip(names, parts, strict=True))) if len(names) == len(parts) else level
