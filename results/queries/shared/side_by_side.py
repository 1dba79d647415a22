"""Addresses of comparisons of two runs, or versions, in which each configuration is compared with itself. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from urllib.parse import quote_plus

from results.queries.shared.configurations import ConfigurationRow
from results.queries.shared.facets import Filters, passing
from results.queries.shared.ordering import all_numbers

RUN, VERSION = "run", "version"
_FOLLOW = ("run", "version", "installation", "major")
_BUILD = ("installation", "version", "major", "initdb")


def side_by_side(
    rows: Sequence[ConfigurationRow],
    base: str,
    *,
    by: str = RUN,
    filters: Filters | None = None,
    own: Collection[str] = (),
    texts: Mapping[str, str] | None = None,
) -> str:
    """Return the query string of /compare/, with everything else that varies as an axis, so that no cell holds two
    configurations.

    rows: configurations of the runs.
    by: the dimension that is compared, first in the series.
    base: its level that is the baseline.
    own: of label and node those that tell values apart.
    texts: metric, node, label."""
    filters = filters or {}
    shown = passing(rows, filters)
    axes = [*_telling_apart(shown, by), *own]
    x = _x(shown, axes, own)
    parts = {
        "run": ",".join(dict.fromkeys(str(row.run_id) for row in rows)),
        "x": quote_plus(x),
        "series": ",".join(map(quote_plus, [by, *(name for name in axes if name != x)])),
        "baseline": quote_plus(base),
        **{name: quote_plus(text) for name, text in (texts or {}).items() if text},
        **_filters(filters),
    }
    return "&".join(f"{name}={text}" for name, text in parts.items())


def _x(rows: Sequence[ConfigurationRow], axes: Sequence[str], own: Collection[str]) -> str:
    """Return the axis with the most numbers, or the first."""
    numeric = [name for name in axes if name not in own and _is_numeric(rows, name)]
    return next(iter([*sorted(numeric, key=lambda name: -len(_levels(rows, name))), *axes]), "workload")


def _is_numeric(rows: Sequence[ConfigurationRow], name: str) -> bool:
    return all_numbers([row.level(name) for row in rows if name in row.texts], name)


def _filters(filters: Filters) -> dict[str, str]:
    return {quote_plus(f"filter.{name}"): ",".join(map(quote_plus, values)) for name, values in sorted(filters.items())}


def _telling_apart(rows: Sequence[ConfigurationRow], by: str) -> list[str]:
    """Return the dimensions that tell configurations apart, factors first; what follows from those before it is left
    out."""
    factors = {name for row in rows for name in row.levels}
    follow = {*_FOLLOW, *_BUILD} if by == VERSION else {*_FOLLOW}
    build = [_installation(rows)] if by == RUN else []
    names = {name for row in rows for name in row.texts} - follow
    chosen: list[str] = []
    for name in [*filter(None, build), *sorted(names, key=lambda name: (name not in factors, name))]:
        if _varies_within(name, chosen, rows):
            chosen.append(name)
    return chosen


def _varies_within(name: str, chosen: Sequence[str], rows: Sequence[ConfigurationRow]) -> bool:
    """Return whether configurations that are alike in the chosen dimensions differ in this one."""
    cells: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        cells.setdefault(tuple(map(row.level, chosen)), set()).add(row.level(name))
    return any(len(levels) > 1 for levels in cells.values())


def _installation(rows: Sequence[ConfigurationRow]) -> str:
    """Return what tells the installations of one run apart and is the same in the others: the name, or the major
    version where a newer minor version has another name. '' where each run has but one."""
    runs: dict[int, list[ConfigurationRow]] = {}
    for row in rows:
        runs.setdefault(row.run_id, []).append(row)
    names = [_levels(several, "installation") for several in runs.values()]
    if all(len(levels) == 1 for levels in names):
        return ""
    majors = [_levels(several, "major") for several in runs.values()]
    alike = all(levels == names[0] for levels in names)
    return "installation" if alike or list(map(len, names)) != list(map(len, majors)) else "major"


def _levels(rows: Sequence[ConfigurationRow], name: str) -> set[str]:
    return {row.level(name) for row in rows}
