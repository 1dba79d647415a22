"""A run → small figures of its medians that grow as trials land. Pure.

The factor with the most numeric levels is the x axis; what runs are mostly made to compare (the installation, else the
first of the others) is the series; each combination of the rest is a panel of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from results.domain.messages import localized
from results.domain.plan import label_of
from results.domain.states import ENDED_RUNS
from results.queries.runs.runs import ConfigurationRow, RunDetail
from results.queries.shared.ordering import DEFAULT, all_numbers
from webapp.charts.medians import Line, Marker, Replicate, medians_figure
from webapp.charts.rows import are_long, as_rows
from webapp.charts.style import Figure, or_words
from webapp.templatetags.teiten import configuration

MOST_PANELS = 6
MOST_LINES = 8
MOST_REPLICATES = 2000  # of a run, whose page sends its figures again every few seconds
COMPARED = ("installation", "access_method", "topology")


@dataclass(frozen=True)
class Panel:
    """One figure of a run's page.

    filters: dimension → the one value that all of the panel's configurations have."""

    title: str
    figure: Figure
    filters: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Panels:
    """The figures of a run's page.

    panels: at most MOST_PANELS.
    left_out: how many combinations are not drawn.
    thinned: of each configuration only the smallest and the largest replicate are drawn, as there are so many.
    series: names in colour order."""

    panels: tuple[Panel, ...]
    left_out: int
    thinned: bool
    x: str
    series: tuple[str, ...]


def drawn_configurations(detail: RunDetail) -> list[int]:
    """Return the indexes of the configurations that the figures draw."""
    groups = list(_groups(detail, _axes(detail)).values())
    return [row.index for rows in groups[:MOST_PANELS] for row in rows]


def run_panels(detail: RunDetail, trial_url: Callable[[int], str]) -> Panels:
    axes = _axes(detail)
    groups = _groups(detail, axes)
    drawn = [rows for _, rows in list(groups.items())[:MOST_PANELS]]
    thinned = not detail.whole or sum(row.n for rows in drawn for row in rows) > MOST_REPLICATES
    panels: list[Panel] = []
    for key, rows in list(groups.items())[:MOST_PANELS]:
        title = configuration(dict(zip(axes.rest, key, strict=True))) if axes.rest else ""
        panels.append(Panel(title, _figure(detail, rows, axes, trial_url, thinned), _filters(rows[0], axes.rest)))
    series_names = axes.names if axes.series else ()
    return Panels(tuple(panels), len(groups) - len(panels), thinned, axes.x, series_names)


def _groups(detail: RunDetail, axes: _Axes) -> dict[tuple[str, ...], list[ConfigurationRow]]:
    """Return the configurations of each panel, by the levels that tell panels apart."""
    groups: dict[tuple[str, ...], list[ConfigurationRow]] = {}
    for row in detail.configurations:
        groups.setdefault(tuple(row.levels.get(name, "") for name in axes.rest), []).append(row)
    return groups


@dataclass(frozen=True)
class _Axes:
    """Which factor is which.

    x, series: '' where there is none.
    xs, names: their levels.
    rest: what tells panels apart."""

    x: str
    xs: Sequence[str]
    series: str
    names: tuple[str, ...]
    rest: tuple[str, ...]

    def place(self, row: ConfigurationRow) -> int:
        """The index of a configuration's level on the x axis."""
        level = row.levels.get(self.x, "")
        return self.xs.index(level) if level in self.xs else 0


def _axes(detail: RunDetail) -> _Axes:
    levels: dict[str, list[str]] = {}
    for factor in detail.factors:
        levels[str(factor["name"])] = [str(level) for level in factor["levels"]]
    x = x_factor(levels)
    others = [name for name, values in levels.items() if name != x and len(values) > 1]
    fitting = [name for name in others if len(levels[name]) <= MOST_LINES]
    series = next((name for name in COMPARED if name in fitting), next(iter(fitting), ""))
    rest = tuple(name for name in others if name != series)
    return _Axes(x, levels.get(x, [""]), series, tuple(levels.get(series, [""])), rest)


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
    detail: RunDetail, rows: Sequence[ConfigurationRow], axes: _Axes, trial_url: Callable[[int], str], thinned: bool
) -> Figure:
    lines = []
    for index, name in enumerate(axes.names):
        of_line = [row for row in rows if row.levels.get(axes.series, "") == name]
        lines.append(Line(name, index, _markers(of_line, axes, thinned), gaps=_gaps(of_line, axes)))
    figure = medians_figure(
        axes.xs,
        lines,
        x_dimension=axes.x,
        unit=detail.metric.unit,
        y_title=localized(detail.metric.label),
        trial_url=trial_url,
        height=240,
    )
    drawn = as_rows(figure, axes.xs, len(lines)) if are_long(axes.xs) else figure
    ended = detail.run.state in ENDED_RUNS
    return or_words(drawn, gettext("No trial is done.") if ended else gettext("No trial is done yet."))


def _markers(rows: Sequence[ConfigurationRow], axes: _Axes, thinned: bool) -> tuple[Marker, ...]:
    return tuple(
        Marker(axes.place(row), row.median, _replicates(row, thinned)) for row in rows if row.median is not None
    )


def _gaps(rows: Sequence[ConfigurationRow], axes: _Axes) -> tuple[int, ...]:
    return tuple(axes.place(row) for row in rows if row.median is None)


def _replicates(row: ConfigurationRow, thinned: bool) -> tuple[Replicate, ...]:
    every = tuple(Replicate(cell.value, cell.trial_id, cell.block) for cell in row.cells if cell.value is not None)
    return (min(every), max(every)) if thinned and len(every) > 1 else every
