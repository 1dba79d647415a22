"""A comparison's cells as columns: an array a quantity, in which each cell has the same index. Short where a list of
objects would repeat every name for every cell. Pure."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from results.domain.errors import TeitenError
from results.domain.statistics.verdict import Kind, Verdict
from results.queries.comparison.cells import Comparison, Key, LeftOut, Point, fields_of

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
    fields = [fields_of(point.values) for point in points]
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
    "trials": lambda point: [r.trial_id for r in point.values],
    "attempts": lambda point: [r.attempt_id for r in point.values],
}


CSV_COLUMNS = (
    "panel",
    "x",
    "series",
    "metric",
    "unit",
    "node",
    "label",
    "per",
    "run",
    "configuration",
    "trial",
    "attempt",
    "block",
    "position",
    "value",
    "outlier",
    "statistic",
    "cell",
    "baseline",
    "ratio",
    "verdict_ratio",
    "low",
    "high",
    "verdict",
    "rule",
    "p",
    "adjusted",
    "across_runs",
    "runs",
    "level",
    "configurations",
    "compared",
    "left_out",
)


def as_csv(comparison: Comparison) -> str:
    """Return one row a replicate, with all that identifies it and what was made of its cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows(_rows(comparison))
    return text.getvalue()


def _rows(comparison: Comparison) -> Iterator[tuple[Any, ...]]:
    left_out: dict[Key, list[LeftOut]] = {}
    for one in comparison.left_out:
        left_out.setdefault((one.panel, one.x, one.series), []).append(one)
    for point in comparison.points:
        before, after = _of_cell(comparison, point, left_out.get(point.key, ()))
        for r in point.values:
            yield (
                *before,
                r.run_id,
                r.configuration_id,
                r.trial_id,
                r.attempt_id,
                r.block,
                r.position,
                repr(r.value),
                int(r.trial_id in point.outliers),
                *after,
            )


def _of_cell(
    comparison: Comparison, point: Point, left_out: Sequence[LeftOut]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return what stands before and after the columns of a replicate in each row of a cell."""
    chosen, metric = comparison.selection, comparison.metric
    node, label = ("" if name in chosen.axes else getattr(chosen, name) for name in ("node", "label"))
    before = (point.panel, point.x, point.series, metric.name, metric.unit, node, label, chosen.per)
    base = f"{point.base[2]} at {point.base[1]}" if point.base else ""
    verdict = _judged(point.verdict)
    configurations = point.configurations, point.compared, "; ".join(map(_one_left_out, left_out))
    return before, (chosen.statistic, repr(point.value), base, point.ratio, *verdict, *configurations)


def _one_left_out(one: LeftOut) -> str:
    """'clients=4 scale=10'; of the baseline's 'baseline: clients=8'."""
    levels = " ".join(f"{name}={level}" for name, level in one.levels.items())
    return levels if one.lacks == "baseline" else f"baseline: {levels}"


def _judged(verdict: Verdict | None) -> tuple[Any, ...]:
    if verdict is None:
        return (None,) * 10
    found = (verdict.ratio, verdict.low, verdict.high, verdict.kind.value, verdict.rule)
    return *found, verdict.p, verdict.adjusted, int(verdict.across_runs), verdict.runs, verdict.level
