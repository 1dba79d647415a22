"""Trend selection ↔ short query string, both ways: that of a comparison, with `plan` or `workload` for the runs. Pure.

plan=nightly&x=version&metric=latency.p99&filter.clients=8
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl, quote_plus

from django.http import QueryDict

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.queries.shared.selection import Selection
from results.queries.trends.families import TrendSelection
from webapp import run_filter, urlstate

OWN = ("plan", "workload")
RUNS = tuple(name for name in run_filter.NAMES if name != run_filter.PLAN)  # a trend has one plan
BEFORE = "before"
METRIC_WAS = "of"  # field: the metric that node and label belong to, '' for the first
HELD = "held"  # field: a dimension that the form offers one value of
FORM = (HELD, METRIC_WAS)
_MOST_DIGITS = 19  # of a number that the database's integers may not hold


def read(query: str) -> TrendSelection:
    """The query string (without '?', as sent) → TrendSelection. Raises TeitenError for an unknown parameter."""
    same, own = urlstate.read(query, (*OWN, *RUNS, BEFORE, *FORM)), dict(parse_qsl(query))
    return TrendSelection(
        plan=own.get("plan", ""),
        workload=own.get("workload", ""),
        filters=same.filters,
        x=same.x,
        series=same.series,
        metric=same.metric,
        node=same.node,
        label=same.label,
        runs=replace(run_filter.read(QueryDict(query)), plans=()),
        before=_run(own.get(BEFORE, "")),
    )


def write(selection: TrendSelection) -> str:
    """TrendSelection → the shortest query string that `read` makes the same of."""
    own = [f"{name}={quote_plus(text, safe='/:@')}" for name in OWN if (text := getattr(selection, name))]
    same = Selection(
        runs=(),
        filters=selection.filters,
        x=selection.x,
        series=selection.series,
        metric=selection.metric,
        node=selection.node,
        label=selection.label,
    )
    before = f"{BEFORE}={selection.before}" if selection.before else ""
    return "&".join(part for part in (*own, urlstate.write(same), run_filter.write(selection.runs), before) if part)


def _run(text: str) -> int | None:
    if text and not (text.isascii() and text.isdigit() and int(text[:_MOST_DIGITS]) > 0 and len(text) < _MOST_DIGITS):
        raise TeitenError(
            _("{text!r} is not the number of a run.", text=text[:40]), where=BEFORE, todo=_("Write a whole number.")
        )
    return int(text) if text else None
