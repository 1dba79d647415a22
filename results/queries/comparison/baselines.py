"""What is compared with what: which cell each cell is compared with, and which levels that means. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from results.domain.environment.rules import BUILDS
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.queries.comparison.cells import Key, Unmatched
from results.queries.comparison.references import ReferenceRow
from results.queries.comparison.units import RUN
from results.queries.shared.selection import JOINT, Selection, dimensions, unknown_choice

CELL = " at "  # in a baseline, between the series and the x of one cell
REFERENCE = "@"


@dataclass(frozen=True)
class Baseline:
    """The levels by which what is compared differs from what it is compared with, whatever else a view shows.

    levels: of the dimensions, those of the baseline; none of a saved reference, whose values stand apart."""

    dimensions: tuple[str, ...]
    levels: tuple[str, ...] = ()


class HasLevels(Protocol):
    def level(self, name: str) -> str: ...


def baseline_of(chosen: Selection, cells: Mapping[Key, Sequence[HasLevels]], bases: Mapping[Key, Key]) -> Baseline:
    """Return what the choice of a baseline means.

    cells: of each what is in it, of which the first is enough.
    bases: of each cell the one that it is compared with."""
    names = dimensions(chosen.series or "")
    if not bases:
        return Baseline(tuple(names))
    if _one_cell(cells, chosen.baseline):
        names = list(dict.fromkeys([*names, *dimensions(chosen.x)]))
        return _levels_of(names, cells[next(iter(bases.values()))][0])
    at_baseline = next((units for (_, _, series), units in cells.items() if series == chosen.baseline), None)
    if at_baseline:
        return _levels_of(names, at_baseline[0])
    unit = next(units[0] for base in bases.values() if (units := cells.get(base)))
    return _levels_of([name for name in names if unit.level(name) == chosen.baseline][:1], unit)


def own_dimensions(line: ReferenceRow) -> set[str]:
    """Return the dimensions by which a saved reference may differ from what is compared with it."""
    names = dimensions(line.dimensions)
    return {RUN, *names, *(BUILDS if BUILDS & set(names) else ())}


def baseline_of_reference(chosen: Selection, line: ReferenceRow) -> Baseline:
    """Return what a saved reference as the baseline means."""
    return Baseline(tuple(sorted({*dimensions(chosen.series or ""), *own_dimensions(line)})))


def _levels_of(names: Sequence[str], unit: HasLevels) -> Baseline:
    return Baseline(tuple(names), tuple(map(unit.level, names)))


def wanted_bases(keys: Collection[Key], chosen: Selection, series: Sequence[str]) -> dict[Key, Key]:
    """Return of each cell the one that it is to be compared with, whether that is there or not. Raises TeitenError
    where the baseline is none."""
    wanted = chosen.baseline
    if not keys or not (chosen.series or wanted):
        return {}
    if cell := _one_cell(keys, wanted):
        return {(panel, x, name): (panel, *cell) for panel, x, name in keys}
    base = _one_series(wanted, chosen, series)
    return {(panel, x, name): (panel, x, base[name]) for panel, x, name in keys if name in base}


def matched(wanted: Mapping[Key, Key]) -> dict[Key, Key]:
    """Return the cells whose base is there."""
    return {key: base for key, base in wanted.items() if base in wanted}


def unmatched(wanted: Mapping[Key, Key], series: Sequence[str]) -> tuple[Unmatched, ...]:
    """Return cells without their base, and cells that a base waits for, in the order of the series."""
    alone = [Unmatched(*key, "baseline", base) for key, base in wanted.items() if base not in wanted]
    if all(base[1] == x for (_, x, _), base in wanted.items()):
        alone += _awaited(wanted)
    order = {name: index for index, name in enumerate(series)}
    return tuple(sorted(alone, key=lambda row: order[row.series]))


def _awaited(wanted: Mapping[Key, Key]) -> list[Unmatched]:
    """Return cells that are not there, though their base is.

    wanted: bases, all at the same x as their cells."""
    base_of = {series: base[2] for (_, _, series), base in wanted.items()}
    series_of: dict[str, list[str]] = {}
    for series, base in base_of.items():
        series_of.setdefault(base, []).append(series)
    awaited = []
    for panel, x, base in wanted:
        for series in series_of.get(base, ()):
            if (panel, x, series) not in wanted:
                awaited.append(Unmatched(panel, x, series, "cell", (panel, x, base)))
    return awaited


def _one_cell(keys: Collection[Key], wanted: str) -> tuple[str, str] | None:
    """Read 'SERIES at X' (or 'at X' of a single line) → (x, series)."""
    return next(((x, name) for _, x, name in keys if wanted and f"{name}{CELL}{x}".strip() == wanted), None)


def _one_series(wanted: str, chosen: Selection, series: Sequence[str]) -> dict[str, str]:
    """Return series → its baseline."""
    if wanted in series:
        return dict.fromkeys(series, wanted)
    count = len(dimensions(chosen.series or ""))
    levels = [text.split(JOINT) for text in series if not text.startswith(REFERENCE)]
    levels = [parts for parts in levels if len(parts) == count]
    columns = list(zip(*levels, strict=True))
    at = next((index for index, texts in enumerate(columns) if wanted in texts), None)
    if at is None:
        raise _no_baseline(wanted, series)
    return {JOINT.join(parts): JOINT.join([*parts[:at], wanted, *parts[at + 1 :]]) for parts in levels}


def _no_baseline(wanted: str, series: Sequence[str]) -> TeitenError:
    if CELL in wanted or wanted.startswith(CELL.lstrip()):
        todo = _("Write the series, ' at ', and its value of x.")
        return TeitenError(_("No cell is called {name!r}.", name=wanted), where="baseline", todo=todo)
    return unknown_choice("baseline", "series", wanted, series)
