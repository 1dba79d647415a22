"""A run → small figures of its medians that grow as trials land. Pure.

The factor with the most numeric levels is the x axis; what runs are mostly made to compare (the installation, else the
first of the others) is the series; each combination of the rest is a panel of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.plan import label_of
from results.queries.ordering import DEFAULT, all_numbers
from results.queries.runs import ConfigurationRow, RunDetail
from webapp.charts.medians import Line, Replicate, Spot, medians_figure
from webapp.charts.style import Figure
from webapp.templatetags.teiten import configuration

MOST_PANELS = 6
MOST_LINES = 8
COMPARED = ("installation", "access_method", "topology")


@dataclass(frozen=True)
class Panel:
    """filters: dimension → the one value that all of the panel's configurations have."""

    title: str
    figure: Figure
    filters: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Panels:
    """panels: at most MOST_PANELS. left_out: how many combinations are not drawn. series: names in colour order."""

    panels: tuple[Panel, ...]
    left_out: int
    x: str
    series_factor: str
    series: tuple[str, ...]


def run_panels(detail: RunDetail, trial_url: Callable[[int], str]) -> Panels:
    levels = {str(factor["name"]): [str(level) for level in factor["levels"]] for factor in detail.factors}
    x = x_factor(levels)
    others = [name for name, values in levels.items() if name != x and len(values) > 1]
    fitting = [name for name in others if len(levels[name]) <= MOST_LINES]
    series = next((name for name in COMPARED if name in fitting), next(iter(fitting), ""))
    rest = [name for name in others if name != series]
    groups: dict[tuple[str, ...], list[ConfigurationRow]] = {}
    for row in detail.configurations:
        groups.setdefault(tuple(row.levels.get(name, "") for name in rest), []).append(row)
    drawn = list(groups.items())[:MOST_PANELS]
    xs = levels.get(x, [""])
    names = tuple(levels.get(series, [""]))
    panels = tuple(
        Panel(
            configuration(dict(zip(rest, key, strict=True))) if rest else "",
            _figure(detail, rows, x, xs, series, names, trial_url),
            _filters(rows[0], rest),
        )
        for key, rows in drawn
    )
    return Panels(panels, len(groups) - len(drawn), x, series, names if series else ())


def _filters(row: ConfigurationRow, factors: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """In the comparison's words: a composite level by its label, nothing set as `default`."""
    return {name: (_text(row.dimensions.get(name, row.levels.get(name, ""))),) for name in factors}


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return label_of(value) or DEFAULT


def x_factor(levels: Mapping[str, Sequence[str]]) -> str:
    """The factor with the most levels that are all numbers (of equals the first by name, as the comparison chooses);
    else the last factor; '' without. Versions look like numbers but are names."""
    varied = {name: values for name, values in levels.items() if len(values) > 1} or levels
    numeric = [name for name, values in varied.items() if all_numbers(values, name)]
    if numeric:
        return min(numeric, key=lambda name: (-len(varied[name]), name))
    return next(reversed(list(varied)), "")


def _figure(
    detail: RunDetail,
    rows: Sequence[ConfigurationRow],
    x: str,
    xs: Sequence[str],
    series: str,
    names: Sequence[str],
    trial_url: Callable[[int], str],
) -> Figure:
    place = {level: index for index, level in enumerate(xs)}
    lines = [
        Line(name, index, tuple(
            Spot(place.get(row.levels.get(x, ""), 0), row.median, _replicates(row))
            for row in rows if row.levels.get(series, "") == name and row.median is not None
        ))
        for index, name in enumerate(names)
    ]  # fmt: skip
    metric = detail.metric
    return medians_figure(xs, lines, x_title=x, unit=metric.unit, y_title=metric.label, trial_url=trial_url, height=240)


def _replicates(row: ConfigurationRow) -> tuple[Replicate, ...]:
    return tuple(Replicate(c.value, c.trial_id, c.block) for c in row.cells if c.value is not None)
