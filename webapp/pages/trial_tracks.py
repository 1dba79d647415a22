"""What of a trial's time is drawn: the choice in the address, what can be chosen, why something is missing. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext

from results.domain.messages import localized
from results.queries.runs.trials import AttemptRow, SeriesHead, TrialDetail
from webapp.charts.trial import CPU, MEAN, MOST_TOGETHER, RATE, TimeView, series_title
from webapp.charts.waits import NAME as WAITS
from webapp.text_order import by_text

_SHORTEST_S = 2.0  # a series of one sample a second has no line in less


@dataclass(frozen=True)
class Option:
    """A track that can be drawn.

    key: as the address names it.
    shown: in a panel of its own.
    series: its series as the address names it for the panel of several; '' where it cannot be in one.
    together: in the panel of several."""

    key: str
    title: str
    shown: bool
    series: str
    together: bool


@dataclass(frozen=True)
class Missing:
    """A usual track that is not drawn, and why."""

    what: str
    why: str


def time_view(query: QueryDict, heads: Sequence[SeriesHead]) -> TimeView:
    """Read ?track=, ?together=, ?from= and ?to=; what this trial does not have, or is no range, is as if not there."""
    known = [key for key, _ in _choices(heads)]
    together = [key for key in query.getlist("together") if key in _series_keys(heads)]
    start, end = _seconds(query.get("from", "")), _seconds(query.get("to", ""))
    if start is not None and end is not None and start >= end:
        start = end = None
    tracks = tuple(key for key in known if key in query.getlist("track"))
    return TimeView(tracks, tuple(dict.fromkeys(together))[:MOST_TOGETHER], start, end)


def drawn(view: TimeView, panel: str) -> bool:
    """Whether a usual panel of any node ('cpu', 'waits') is among those chosen."""
    return not view.tracks or any(key.startswith(f"{panel}@") for key in view.tracks)


def series_names(view: TimeView) -> tuple[str, ...]:
    """Names of the series that the choice needs beside the usual ones."""
    return tuple(dict.fromkeys(key.partition("@")[0] for key in (*view.tracks, *view.together)))


def options(heads: Sequence[SeriesHead], view: TimeView) -> list[Option]:
    """All that can be drawn, the usual ones first."""
    usual = {key for key, _ in _usual(heads)}
    chosen = view.tracks or usual
    of_panel = {"tps": _only(heads, RATE), "latency": _only(heads, MEAN)}
    listed: list[Option] = []
    for key, title in _choices(heads):
        series = of_panel.get(key, "" if key in usual else key)
        listed.append(Option(key, title, key in chosen, series, series in view.together))
    return listed


def _only(heads: Sequence[SeriesHead], name: str) -> str:
    """The key of the one series of this name; '' where there are several."""
    keys = {f"{head.name}@{head.node}" for head in heads if head.name == name}
    return keys.pop() if len(keys) == 1 else ""


def _choices(heads: Sequence[SeriesHead]) -> list[tuple[str, str]]:
    usual = list(_usual(heads))
    listed = {"", _only(heads, RATE), _only(heads, MEAN)}
    others = {f"{head.name}@{head.node}": head.unit for head in heads if head.name != WAITS}
    titles = {key: series_title(key, unit) for key, unit in others.items() if key not in listed}
    return [*usual, *by_text(titles.items(), lambda item: item[1])]


def _usual(heads: Sequence[SeriesHead]) -> Iterator[tuple[str, str]]:
    names = {head.name for head in heads}
    if RATE in names:
        yield "tps", gettext("transactions per second")
    if MEAN in names:
        yield "latency", gettext("latency")
    for node in sorted({head.node for head in heads}):
        of_node = {head.name for head in heads if head.node == node}
        if any(name in of_node for name, _ in CPU):
            yield f"cpu@{node}", gettext("CPU of {node}").format(node=node)
        if WAITS in of_node:
            yield f"waits@{node}", gettext("sessions of {node} by what they wait for").format(node=node)


def _series_keys(heads: Sequence[SeriesHead]) -> set[str]:
    return {f"{head.name}@{head.node}" for head in heads if head.name != WAITS}


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and 0 <= seconds < 1e9 else None


def missing(trial: TrialDetail, attempt: AttemptRow, duration_s: float | None, archived: str) -> list[Missing]:
    """The usual tracks that the attempt has nothing for; none of a published figure.

    archived: where they are, as of `results.ranges.why_missing`"""
    if trial.publication or duration_s is None:
        return []
    if archived:
        return [Missing(gettext("Series and latencies"), localized(archived))]
    names = {head.name for head in trial.series}
    wanted = (
        (gettext("Transactions per second"), RATE, ""),
        (gettext("CPU"), CPU[0][0], "sar"),
        (gettext("Wait events"), WAITS, "pg_stat"),
    )
    return [
        Missing(what, _reason(trial.spec, attempt, collector, duration_s))
        for what, name, collector in wanted
        if name not in names
    ]


def _reason(spec: Mapping[str, Any], attempt: AttemptRow, collector: str, duration_s: float) -> str:
    gap = next((gap for gap in attempt.gaps if collector and gap["source"] == collector), None)
    if gap is not None:
        return gettext("not collected: {reason}").format(reason=localized(gap["reason"]))
    if collector and collector not in (spec.get("collectors") or ()):
        return gettext("not collected: the plan does not have the collector {collector}").format(collector=collector)
    if duration_s < _SHORTEST_S:
        took = gettext("no samples: the measurement took {seconds:.1f} s, and one is taken a second")
        return took.format(seconds=duration_s)
    return gettext("no samples") if collector else gettext("this workload does not report it over time")
