"""What changed, in words. Pure."""

from __future__ import annotations

from results.domain.statistics.verdict import Kind
from results.domain.units import counted
from results.queries.changes.changes import Change, Changes
from results.queries.shared.selection import JOINT, dimensions
from webapp.chooser import title
from webapp.templatetags.teiten import configuration

_HEADINGS = {
    Kind.WORSE: "Regressions",
    Kind.BETTER: "Improvements",
    Kind.HIGHER: "Moved, without a better direction",
    Kind.LOWER: "Moved, without a better direction",
}


def heading(change: Change) -> str:
    return _HEADINGS[change.verdict.kind]


def sentence(changes: Changes) -> str:
    """How much changed: '3 regressions, 5 improvements and 20 that only moved; …'."""
    kinds = changes.kinds
    if not kinds:
        return "Nothing is compared here."
    worse, better = kinds.get(Kind.WORSE, 0), kinds.get(Kind.BETTER, 0)
    moved = kinds.get(Kind.HIGHER, 0) + kinds.get(Kind.LOWER, 0)
    parts = [counted(worse, "regression"), counted(better, "improvement"), f"{moved} moved without a better direction"]
    rest = [f"{kinds.get(Kind.SAME, 0):,} the same", f"{kinds.get(Kind.TOO_FEW, 0):,} undecided"]
    if apart := kinds.get(Kind.NOT_COMPARABLE, 0):
        rest.append(f"{apart:,} not comparable")
    return f"{', '.join(parts)}. Not listed: {', '.join(rest)}."


def name(change: Change) -> str:
    """What changed: a metric, of which part, at which node."""
    label = "Throughput and mean latency" if change.with_mean_latency else change.label
    return ", ".join(text for text in (label, change.part, change.node) if text)


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
    return f"{_level(series, change.series)} against {_level(series, change.base)}"


def _level(axis: str, level: str) -> str:
    names, parts = dimensions(axis), level.split(JOINT)
    return configuration(dict(zip(names, parts, strict=True))) if len(names) == len(parts) else level
