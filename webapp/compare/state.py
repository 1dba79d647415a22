"""What the form asked for → the selection that it means; and the shortest selection that means the same. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from results.queries.comparison.compare import Comparison
from results.queries.shared.selection import LABEL, NODE, Selection, dimensions

AXES = ("x", "series", "panel")
WAS = "was."  # before the name of a field: what it was when the form was drawn


def settled(selection: Selection, was: Mapping[str, str]) -> Selection:
    """Return what the form means after a change. An axis that took over another's dimension gives it its own in
    return; what spoke of the former series, rows or metric is dropped.

    was: x, series, panel and metric as the form had them; empty where no form was sent."""
    if not was:
        return selection
    now = _exchanged({axis: getattr(selection, axis) or "" for axis in AXES}, was)
    changed = _changed(now, was)
    other_metric = was.get("metric", selection.metric) != selection.metric
    return replace(
        selection,
        x=now["x"],
        series=now["series"],
        panel=now["panel"],
        filters=_kept_filters(selection, was, now),
        baseline="" if "series" in changed else selection.baseline,
        without=() if "x" in changed else selection.without,
        node="" if other_metric else selection.node,
        label="" if other_metric else selection.label,
    )


def _kept_filters(selection: Selection, was: Mapping[str, str], now: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the filters without those by one value of a dimension that is an axis now."""
    fresh = {name for axis in _changed(now, was) for name in dimensions(now[axis])}
    gone = _gone(was, now, selection.metric)
    return {
        name: texts
        for name, texts in selection.filters.items()
        if name not in gone and (name not in fresh or len(texts) > 1)
    }


def _changed(now: Mapping[str, str], was: Mapping[str, str]) -> list[str]:
    return [axis for axis in AXES if axis in was and now[axis] != was[axis]]


def _exchanged(now: Mapping[str, str], was: Mapping[str, str]) -> dict[str, str]:
    """Return the dimensions of each axis, with what a changed one took from another given back in exchange."""
    axes = dict(now)
    changed = _changed(now, was)
    for axis in changed:
        own = dimensions(axes[axis])
        for other in (name for name in AXES if name not in changed):
            kept = [name for name in dimensions(axes[other]) if name not in own]
            if len(kept) < len(dimensions(axes[other])):
                freed = [name for name in dimensions(was[axis]) if name not in own]
                axes[other] = ",".join(kept or freed)
    return axes


def _gone(was: Mapping[str, str], now: Mapping[str, str], metric: str) -> set[str]:
    """Return of node and label what is no axis any more, whose several values are no replicates of one another; both
    where another metric has others."""
    if was.get("metric", metric) != metric:
        return {NODE, LABEL}
    before, after = ({name for axis in AXES for name in dimensions(axes.get(axis, ""))} for axes in (was, now))
    return {NODE, LABEL} & (before - after)


def shortest(selection: Selection, comparison: Comparison) -> Selection:
    """Return the selection without what is the default choice anyway."""
    metric = next((choice for choice in comparison.metrics if choice.name == comparison.metric.name), None)
    changes: dict[str, Any] = {
        name: None if name == "series" else ""
        for name in ("x", "series", "metric", "statistic", "baseline")
        if getattr(selection, name) == getattr(comparison.first, name)
    }
    if metric and selection.node == metric.nodes[0]:
        changes["node"] = ""
    if metric and selection.label == metric.labels[0]:
        changes["label"] = ""
    return replace(selection, **changes)
