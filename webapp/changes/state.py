"""Addresses of what changed, and of what its rows lead to. Pure."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from results.queries.changes.changes import Change, Changes
from results.queries.shared.selection import Selection
from webapp import urlstate

GROUP = "group"  # of metrics


def query_of(selection: Selection, group: str = "") -> str:
    """Return the query of the page, and of the endpoint."""
    beside = urlencode({GROUP: group}) if group else ""
    return "&".join(part for part in (urlstate.write(selection), beside) if part)


def of_metric(change: Change, changes: Changes) -> str:
    """Return the query of the comparison of the metric that changed."""
    chosen = replace(changes.selection, metric=change.metric, node=change.node, label=change.part, statistic="")
    return urlstate.write(chosen)


def place_of(change: Change, changes: Changes) -> str:
    """Return the query of its cell in that comparison."""
    place = {"at": change.x, "of": change.series, "in": change.panel}
    return f"{of_metric(change, changes)}&{urlencode({name: text for name, text in place.items() if text})}"
