"""A comparison's cells as columns: an array a quantity, in which each cell has the same place. Short where a list of
objects would repeat every name for every cell. Pure."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from results.domain.errors import TeitenError
from results.domain.statistics.verdict import KINDS
from results.queries.comparison import Comparison
from results.queries.points import NOWHERE, Points
from results.queries.replicates import Cells, Floats

Columns = dict[str, list[Any]]
Column = Callable[[Points], list[Any]]
DIGITS = 6  # of derived quantities
MEASURED_DIGITS = 8  # of measured values, but for whole numbers; all of theirs with 'all' and in CSV
USUAL = ("value", "ratio", "low", "high", "verdict")
MORE = (
    "base", "verdict_ratio", "median", "mean", "minimum", "maximum", "n", "pairs", "p", "adjusted", "detectable",
    "more", "margin", "mixed", "trials", "attempts",
)  # fmt: skip
VERDICTS = (None, *(kind.value for kind in KINDS))  # what the places in the column `verdict` stand for


def chosen_columns(text: str) -> tuple[str, ...]:
    """'' → the usual ones; 'all'; or names with commas between them, besides the usual. Raises TeitenError."""
    names = [name for name in text.split(",") if name]
    if names == ["all"]:
        return USUAL + MORE
    for name in names:
        if name not in USUAL + MORE:
            raise TeitenError(f"There is no column {name!r}.", where="columns", todo=f"There are {', '.join(MORE)}.")
    return USUAL + tuple(name for name in MORE if name in names)


def columns(found: Comparison, names: tuple[str, ...]) -> dict[str, Any]:
    """{"points": column → one entry a cell, "replicates": patterns that points refer to by their place}."""
    points = Points.of(found.points)
    cells = points.cells
    digits = 0 if set(MORE) <= set(names) else MEASURED_DIGITS
    places = [{text: place for place, text in enumerate(texts)} for texts in (found.panels, found.xs, found.series)]
    configurations, replicates, patterns = _patterns(cells)
    shown: Columns = {
        name: [place[key[axis]] for key in cells.keys]
        for axis, (name, place) in enumerate(zip(("panel", "x", "series"), places, strict=True))
    }
    shown["values"] = cells.split(all_short(cells.columns.value, digits))
    shown |= {"configurations": configurations, "replicates": replicates}
    shown |= {name: _COLUMNS[name](points) for name in names if name != "base"}
    if "base" in names:
        shown["base"] = [place if place != NOWHERE else None for place in points.base.tolist()]
    return {"points": shown, "replicates": patterns, "verdicts": VERDICTS}


def _patterns(cells: Cells) -> tuple[list[Any], list[int], list[Any]]:
    """Of each cell the ids of its configurations, and the place of its pattern; and the patterns: for each value the
    place of its configuration among the cell's, and its block."""
    cell, block = cells.columns.cell, cells.columns.block
    ids, own = np.unique(cells.columns.configuration, return_inverse=True)
    pairs, place = np.unique(cell * len(ids) + own, return_inverse=True)
    first = np.searchsorted(pairs // max(len(ids), 1), np.arange(len(cells.keys) + 1))
    found = np.column_stack([place - first[cell], block]).astype(np.int64)
    bounds = list(pairwise(cells.bounds.tolist()))
    packed, width = found.tobytes(), found.itemsize * 2
    known: dict[bytes, int] = {}
    replicates = [known.setdefault(packed[start * width : end * width], len(known)) for start, end in bounds]
    patterns = [np.frombuffer(pattern, np.int64).reshape(-1, 2).tolist() for pattern in known]
    whole = ids[pairs % max(len(ids), 1)].tolist()
    return [whole[start:end] for start, end in pairwise(first.tolist())], replicates, patterns


def _of_verdict(name: str) -> Column:
    return lambda points: all_short(points.of_verdicts(name), DIGITS)


def _whole_of_verdict(name: str) -> Column:
    return lambda points: all_short(points.of_verdicts(name), 0)


def _statistic(name: str) -> Column:
    return lambda points: all_short(points.cells.statistic(name), DIGITS)


def _verdict(points: Points) -> list[int]:
    """0 is no verdict."""
    kinds = points.of_verdicts("kind")
    return np.where(np.isnan(kinds), 0, kinds + 1).astype(int).tolist()


_COLUMNS: Mapping[str, Column] = {
    **{name: _of_verdict(name) for name in ("low", "high", "detectable", "p", "adjusted", "margin")},
    **{name: _whole_of_verdict(name) for name in ("more", "pairs")},
    "verdict_ratio": _of_verdict("ratio"),
    "verdict": _verdict,
    "value": lambda points: all_short(points.value, DIGITS),
    "ratio": lambda points: all_short(points.ratio, DIGITS),
    "median": _statistic("median"),
    "mean": _statistic("mean"),
    "minimum": _statistic("min"),
    "maximum": _statistic("max"),
    "n": lambda points: np.diff(points.cells.bounds).tolist(),
    "mixed": lambda points: list(points.cells.configurations),
    "trials": lambda points: points.cells.split(points.cells.columns.trial.tolist()),
    "attempts": lambda points: points.cells.split(points.cells.columns.attempt.tolist()),
}


def short(value: Any) -> Any:
    """A derived number with DIGITS digits, whole numbers with all of theirs; anything else as it is."""
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    kept = value if value.is_integer() else float(f"{value:.{DIGITS}g}")
    return int(kept) if kept.is_integer() and abs(kept) < 2**53 else kept


def all_short(values: Floats, digits: int) -> list[float | int | None]:
    """With so many digits (0: all of them), but whole numbers with all of theirs, and without the '.0'; None for what
    is no number."""
    kept = np.where(values == np.floor(values), values, rounded(values, digits) if digits else values)
    whole = (kept == np.floor(kept)) & (abs(kept) < 2**53)
    if whole.all():
        return kept.astype(np.int64).tolist()
    found = kept.tolist()
    for place in np.flatnonzero(whole).tolist():
        found[place] = int(found[place])
    for place in np.flatnonzero(~np.isfinite(values)).tolist():
        found[place] = None
    return found


def rounded(values: Floats, digits: int) -> Floats:
    """Of each value float(f"{value:.{digits}g}"). Most are had by whole numbers and powers of ten, that are exact;
    those that lie too near the middle of two, or are too large or too small for it, by way of their text."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        power = digits - 1 - np.floor(np.log10(abs(values)))
        exact = (power >= 0) & (power < len(_TENS))
        scale = _TENS[np.where(exact, power, 0).astype(int)]
        scaled = values * scale
        whole = np.rint(scaled)
        size = abs(whole)
        middle = abs(abs(scaled - np.trunc(scaled)) - 0.5)
        sure = exact & (size >= _TENS[digits - 1]) & (size <= _TENS[digits]) & (middle > 1e-6)
    found: Floats = whole / scale
    for place in np.flatnonzero(~sure & np.isfinite(values)).tolist():
        found[place] = float(f"{values[place]:.{digits}g}")
    return found


_TENS = np.array([float(f"1e{power}") for power in range(23)])  # all of them exact


CSV_COLUMNS = (
    "panel", "x", "series", "metric", "unit", "node", "label", "per", "run", "configuration", "trial", "attempt",
    "block", "position", "value", "outlier", "statistic", "cell", "baseline", "ratio", "verdict_ratio",
    "low", "high", "verdict", "rule",
)  # fmt: skip


def as_csv(found: Comparison) -> str:
    """One row a replicate, with all that identifies it and what was made of its cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows(_rows(found))
    return text.getvalue()


def _rows(found: Comparison) -> Iterator[list[Any]]:
    chosen, metric = found.selection, found.metric
    own = {name: "" if name in chosen.axes else getattr(chosen, name) for name in ("node", "label")}
    for point in found.points:
        verdict = point.verdict
        base = " at ".join((point.base[2], point.base[1])) if point.base else ""
        judged: list[Any] = [None] * 5
        if verdict:
            judged = [verdict.ratio, verdict.low, verdict.high, verdict.kind.value, verdict.rule]
        for r in point.values:
            yield [
                point.panel, point.x, point.series, metric.name, metric.unit, own["node"], own["label"], chosen.per,
                r.run_id, r.configuration_id, r.trial_id, r.attempt_id, r.block, r.position, repr(r.value),
                int(r.trial_id in point.outliers), chosen.statistic, repr(point.value), base, point.ratio, *judged,
            ]  # fmt: skip
