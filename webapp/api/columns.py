"""A comparison's cells as columns: an array a quantity, in which each cell has the same index. Short where a list of
objects would repeat every name for every cell. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from results.domain.errors import TeitenError
from results.domain.statistics.verdict import Kind
from results.queries.comparison.cells import Comparison, Point

Number = float | int | None
Pattern = tuple[tuple[int, int], ...]
DIGITS = 6  # of derived quantities
MEASURED_DIGITS = 8  # of measured values, but for whole numbers; all of theirs with 'all' and in CSV
USUAL = ("value", "ratio", "low", "high", "verdict")
MORE = (
    "base",
    "verdict_ratio",
    "median",
    "mean",
    "minimum",
    "maximum",
    "n",
    "pairs",
    "p",
    "adjusted",
    "detectable",
    "more",
    "margin",
    "across_runs",
    "runs",
    "earlier",
    "looks",
    "level",
    "mixed",
    "compared",
    "trials",
    "attempts",
)
VERDICTS = (None, *(kind.value for kind in Kind))  # what the numbers in the column `verdict` stand for
_INDEX = {kind: index for index, kind in enumerate(VERDICTS)}


def chosen_columns(text: str) -> tuple[str, ...]:
    """Read the names of columns: '' for the usual ones; 'all'; or names with commas between them, besides the usual.
    Raises TeitenError."""
    names = [name for name in text.split(",") if name]
    if names == ["all"]:
        return USUAL + MORE
    for name in names:
        if name not in USUAL + MORE:
            raise TeitenError(f"There is no column {name!r}.", where="columns", todo=f"There are {', '.join(MORE)}.")
    return USUAL + tuple(name for name in MORE if name in names)


def columns(comparison: Comparison, names: tuple[str, ...]) -> dict[str, Any]:
    """Return {"points": column → one entry a cell, "replicates": patterns that points refer to by their index, …}."""
    points = comparison.points
    fields = [point.fields for point in points]
    digits = 0 if set(MORE) <= set(names) else MEASURED_DIGITS
    configurations = [sorted(set(each.configuration_id)) for each in fields]
    replicates, patterns = _patterns(fields, configurations)
    shown: dict[str, list[Any]] = {
        "panel": _indexes([point.panel for point in points], comparison.panels),
        "x": _indexes([point.x for point in points], comparison.xs),
        "series": _indexes([point.series for point in points], comparison.series),
        "values": [[short(value, digits) for value in each.value] for each in fields],
        "configurations": configurations,
        "replicates": replicates,
    }
    shown |= {name: list(map(_COLUMNS[name], points)) for name in names if name in _COLUMNS}
    if "base" in names:
        shown["base"] = _bases(points)
    return {"points": shown, "replicates": patterns, "verdicts": VERDICTS}


def _indexes(texts: Sequence[str], among: Sequence[str]) -> list[int]:
    index = {text: number for number, text in enumerate(among)}
    return [index[text] for text in texts]


def _bases(points: Sequence[Point]) -> list[int | None]:
    index = {point.key: number for number, point in enumerate(points)}
    return [index[point.base] if point.base else None for point in points]


def _patterns(fields: Sequence[Any], configurations: Sequence[Sequence[int]]) -> tuple[list[int], list[Pattern]]:
    """Return of each cell the number of its pattern, and the patterns: of each value the index of its configuration
    among the cell's, and its block."""
    index_of: dict[Pattern, int] = {}
    of_cells = []
    for each, own in zip(fields, configurations, strict=True):
        index = {id_: number for number, id_ in enumerate(own)}
        pattern = tuple(zip(map(index.__getitem__, each.configuration_id), each.block, strict=True))
        of_cells.append(index_of.setdefault(pattern, len(index_of)))
    return of_cells, list(index_of)


def short(value: float | None, digits: int = DIGITS) -> Number:
    """Return a number with so many digits (0: all of them), but whole numbers with all of theirs and without the '.0';
    None for what is no number."""
    if value is None or not math.isfinite(value):
        return None
    if digits and value % 1:
        value = float(f"{value:.{digits}g}")
    return value if value % 1 or abs(value) >= 2**53 else int(value)


def _of_verdict(name: str) -> Callable[[Point], Any]:
    return lambda point: getattr(point.verdict, name) if point.verdict else None


def _short_of_verdict(name: str) -> Callable[[Point], Number]:
    return lambda point: short(getattr(point.verdict, name)) if point.verdict else None


_COLUMNS: Mapping[str, Callable[[Point], Any]] = {
    **{name: _short_of_verdict(name) for name in ("low", "high", "detectable", "p", "adjusted", "margin", "level")},
    **{name: _of_verdict(name) for name in ("more", "pairs", "across_runs", "runs", "earlier", "looks")},
    "verdict_ratio": _short_of_verdict("ratio"),
    "verdict": lambda point: _INDEX[point.verdict.kind] if point.verdict else 0,
    "value": lambda point: short(point.value),
    "ratio": lambda point: short(point.ratio),
    "median": lambda point: short(point.median),
    "mean": lambda point: short(point.mean),
    "minimum": lambda point: short(point.minimum),
    "maximum": lambda point: short(point.maximum),
    "n": lambda point: point.n,
    "mixed": lambda point: point.configurations,
    "compared": lambda point: point.compared,
    "trials": lambda point: list(point.fields.trial_id),
    "attempts": lambda point: list(point.fields.attempt_id),
}
