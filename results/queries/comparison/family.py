"""Which configurations are compared with which, over all that was measured of the runs. Pure.

The pairs do not depend on what a view shows of them: on neither rows nor panels nor filters. All pairs of a metric are
one family, whose verdicts are corrected together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from results.queries.comparison.baselines import Baseline
from results.queries.comparison.cells import Key
from results.queries.comparison.units import Unit, joint_levels, levels_of_units, telling_apart
from results.queries.shared.composites import Parts
from results.queries.shared.selection import LABEL, NODE, Selection


@dataclass(frozen=True, eq=False)
class UnitPair:
    """Configurations and those that they are compared with, alike in every dimension in which both sides can be alike.

    Several a side where these differ in what the other side has nothing of, as in the agents."""

    bases: tuple[Unit, ...]
    others: tuple[Unit, ...]

    def within(self, bases: Collection[Unit], others: Collection[Unit]) -> UnitPair | None:
        """Return what of it lies in these; None where a side is empty."""
        own = [tuple(unit for unit in side if unit in among) for side, among in self._sides(bases, others)]
        if (own[0], own[1]) == (self.bases, self.others):
            return self
        return UnitPair(own[0], own[1]) if all(own) else None

    def _sides(
        self, bases: Collection[Unit], others: Collection[Unit]
    ) -> tuple[tuple[tuple[Unit, ...], Collection[Unit]], ...]:
        return (self.bases, bases), (self.others, others)


def family_of(
    chosen: Selection, units: Sequence[Unit], saved: Sequence[Unit], baseline: Baseline, parts: Parts
) -> tuple[UnitPair, ...]:
    """Return all that is compared of the runs, whatever the view shows.

    saved: what a saved reference measured, where that is the baseline."""
    rows = [row for unit in (*units, *saved) for row in unit.rows]
    return unit_pairs(units, telling_apart(rows, parts, (*chosen.axes, *chosen.filters)), baseline, saved)


def unit_pairs(
    units: Sequence[Unit], names: Sequence[str], baseline: Baseline, reference: Sequence[Unit] = ()
) -> tuple[UnitPair, ...]:
    """Return the pairs of all units.

    names: dimensions in which units differ.
    reference: the units that all others are compared with, where these are saved ones."""
    groups = _grouped(units, baseline.dimensions)
    base = tuple(reference) or groups.pop(baseline.levels, ())
    matching = [name for name in (*names, NODE, LABEL) if name not in baseline.dimensions]
    levels_of_base = {name: set(levels_of_units(base, name)) for name in matching}
    pairs: list[UnitPair] = []
    for group in groups.values() if base else ():
        shared = [name for name in matching if not levels_of_base[name].isdisjoint(levels_of_units(group, name))]
        bases = _grouped(base, shared)
        for levels, others in _grouped(group, shared).items():
            if levels in bases:
                pairs.append(UnitPair(bases[levels], others))
    return tuple(pairs)


def _grouped(units: Sequence[Unit], names: Sequence[str]) -> dict[tuple[str, ...], tuple[Unit, ...]]:
    groups: dict[tuple[str, ...], list[Unit]] = {}
    for levels, unit in zip(joint_levels(units, names), units, strict=True):
        groups.setdefault(levels, []).append(unit)
    return {levels: tuple(own) for levels, own in groups.items()}


def pairs_of_cells(
    pairs: Iterable[UnitPair], cells: Mapping[Key, Sequence[Unit]], bases: Mapping[Key, Key]
) -> dict[Key, tuple[UnitPair, ...]]:
    """Return of each cell that has a base the pairs that lie in the two; none where they have no configuration in
    common."""
    pair_of: dict[Unit, list[UnitPair]] = {}
    for pair in pairs:
        for unit in pair.others:
            pair_of.setdefault(unit, []).append(pair)
    pairs_of: dict[Key, tuple[UnitPair, ...]] = {}
    for key, base in bases.items():
        if key != base:
            own = dict.fromkeys(pair for unit in cells[key] for pair in pair_of.get(unit, ()))
            within = (pair.within(cells[base], cells[key]) for pair in own)
            pairs_of[key] = tuple(pair for pair in within if pair is not None)
    return pairs_of


def left_out(
    pairs: Collection[UnitPair], bases: Sequence[Unit], others: Sequence[Unit]
) -> tuple[list[Unit], list[Unit]]:
    """Return the units of either side that no pair has; none where the sides have nothing in common, which are then
    compared as a whole.

    pairs: of the two sides, as by `pairs_of_cells`."""
    if not pairs:
        return [], []
    paired = {unit for pair in pairs for unit in (*pair.bases, *pair.others)}
    return [unit for unit in bases if unit not in paired], [unit for unit in others if unit not in paired]
