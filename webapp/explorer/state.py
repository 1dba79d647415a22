"""What the form asked for → the selection that it means; and the shortest selection that means the same. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from results.queries.comparison import Comparison
from results.queries.selection import LABEL, NODE, Selection, dimensions

AXES = ("x", "series", "panel")
WAS = "was."  # before the name of a field: what it was when the form was drawn


def settled(selection: Selection, was: Mapping[str, str]) -> Selection:
    """After a change of the form. An axis that took over another's dimension gives it its own in return; what spoke of
    the former series, rows or metric is dropped. was: x, series, panel and metric as the form had them; empty where no
    form was sent."""
    if not was:
        return selection
    now = {axis: getattr(selection, axis) or "" for axis in AXES}
    changed = [axis for axis in AXES if axis in was and now[axis] != was[axis]]
    for axis in changed:
        for other in (name for name in AXES if name not in changed):
            taken = [name for name in dimensions(now[other]) if name in dimensions(now[axis])]
            if taken:
                left = [name for name in dimensions(now[other]) if name not in taken]
                freed = [name for name in dimensions(was[axis]) if name not in dimensions(now[axis])]
                now[other] = ",".join(left or freed)
    changed = [axis for axis in AXES if axis in was and now[axis] != was[axis]]
    fresh = {name for axis in changed for name in dimensions(now[axis])}
    filters = {name: texts for name, texts in selection.filters.items() if name not in fresh or len(texts) > 1}
    filters = {name: texts for name, texts in filters.items() if name not in _gone(was, now, selection.metric)}
    selection = replace(selection, x=now["x"], series=now["series"], panel=now["panel"], filters=filters)
    if "series" in changed:
        selection = replace(selection, baseline="")
    if "x" in changed:
        selection = replace(selection, without=())
    if was.get("metric", selection.metric) != selection.metric:
        selection = replace(selection, node="", label="")
    return selection


def _gone(was: Mapping[str, str], now: Mapping[str, str], metric: str) -> set[str]:
    """Of node and label what is no axis any more, whose several values are no replicates of one another; both where
    another metric has others."""
    if was.get("metric", metric) != metric:
        return {NODE, LABEL}
    before, after = ({name for axis in AXES for name in dimensions(axes.get(axis, ""))} for axes in (was, now))
    return {NODE, LABEL} & (before - after)


def shortest(selection: Selection, found: Comparison) -> Selection:
    """Without what is the default choice anyway."""
    first = found.first
    metric = next((choice for choice in found.metrics if choice.name == found.metric.name), None)
    return replace(
        selection,
        x="" if selection.x == first.x else selection.x,
        series=None if selection.series == first.series else selection.series,
        metric="" if selection.metric == first.metric else selection.metric,
        statistic="" if selection.statistic == first.statistic else selection.statistic,
        baseline="" if selection.baseline == first.baseline else selection.baseline,
        node="" if metric and selection.node == metric.nodes[0] else selection.node,
        label="" if metric and selection.label == metric.labels[0] else selection.label,
    )
