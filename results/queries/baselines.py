"""Which cell each cell is compared with. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from results.domain.errors import TeitenError
from results.queries.cells import Key, Unmatched
from results.queries.selection import JOINT, Selection, dimensions, unknown_choice

CELL = " at "  # in a baseline, between the series and the x of one cell
REFERENCE = "@"


def wanted_bases(found: Collection[Key], chosen: Selection, series: Sequence[str]) -> dict[Key, Key]:
    """Of each cell the one that it is to be compared with, whether that is there or not. Raises TeitenError where the
    baseline is none."""
    wanted = chosen.baseline
    if not found or not (chosen.series or wanted):
        return {}
    if cell := _one_cell(found, wanted):
        return {(panel, x, name): (panel, *cell) for panel, x, name in found}
    base = _one_series(wanted, chosen, series)
    return {(panel, x, name): (panel, x, base[name]) for panel, x, name in found if name in base}


def matched(wanted: Mapping[Key, Key]) -> dict[Key, Key]:
    """Those whose base is there."""
    return {key: base for key, base in wanted.items() if base in wanted}


def unmatched(wanted: Mapping[Key, Key], series: Sequence[str]) -> tuple[Unmatched, ...]:
    """Cells without their base, and cells that a base waits for, in the order of the series."""
    alone = [Unmatched(*key, "baseline", base) for key, base in wanted.items() if base not in wanted]
    level = {name: base[2] for (_, x, name), base in wanted.items() if base[1] == x}
    if all(base[1] == x for (_, x, _), base in wanted.items()):
        alone += [
            Unmatched(panel, x, name, "cell", (panel, x, base))
            for panel, x, base in wanted
            for name, its in level.items()
            if its == base and (panel, x, name) not in wanted
        ]
    place = {name: index for index, name in enumerate(series)}
    return tuple(sorted(alone, key=lambda row: place[row.series]))


def _one_cell(found: Collection[Key], wanted: str) -> tuple[str, str] | None:
    """'SERIES at X' (or 'at X' of a single line) → (x, series)."""
    return next(((x, name) for _, x, name in found if wanted and f"{name}{CELL}{x}".strip() == wanted), None)


def _one_series(wanted: str, chosen: Selection, series: Sequence[str]) -> dict[str, str]:
    """Series → its baseline."""
    if wanted in series:
        return dict.fromkeys(series, wanted)
    names = len(dimensions(chosen.series or ""))
    parts = [text.split(JOINT) for text in series if not text.startswith(REFERENCE)]
    places = [i for i in range(names) if any(len(p) == names and p[i] == wanted for p in parts)]
    if not places:
        if CELL in wanted or wanted.startswith(CELL.lstrip()):
            raise TeitenError(
                f"No cell is called {wanted!r}.", where="baseline", todo="Write the series, ' at ', and its value of x."
            )
        raise unknown_choice("baseline", "series", wanted, series)
    at = places[0]
    return {JOINT.join(p): JOINT.join([*p[:at], wanted, *p[at + 1 :]]) for p in parts if len(p) == names}
