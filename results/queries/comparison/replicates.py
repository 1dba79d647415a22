"""The cells of a view: which values fall together in it, by panel, x and series. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.difference import Sample
from results.queries.comparison.cells import Key, Replicate, fields_of, sample_of
from results.queries.comparison.units import RUN, WHEN, Unit, joint_levels
from results.queries.shared.composites import Parts
from results.queries.shared.facets import passing
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.selection import JOINT, LABEL, NODE, Selection, dimensions
from results.queries.shared.words import name_of

OWN = (LABEL, NODE)


@dataclass(frozen=True)
class Cells:
    """The units of each cell, and their replicates in the order in which they were measured.

    mixed: dimensions that vary within a cell."""

    units: Mapping[Key, tuple[Unit, ...]]
    mixed: tuple[str, ...]

    def renamed(self, series: str) -> Cells:
        """Return the same cells under another name of their series."""
        return Cells({(panel, x, series): own for (panel, x, _), own in self.units.items()}, self.mixed)

    def joined(self, other: Cells) -> Cells:
        """Return the cells of both, which have no key in common."""
        return Cells({**self.units, **other.units}, tuple(sorted({*self.mixed, *other.mixed})))

    def axes(self, chosen: Selection, labels: Sequence[str] = ()) -> tuple[tuple[str, ...], ...]:
        """Return the levels of panel, x and series, in reading order.

        labels: in the order of an axis of labels."""
        names = (chosen.panel, chosen.x, chosen.series or "")
        axes = []
        for part, name in enumerate(names):
            there = {key[part]: None for key in self.units}
            ordered = [text for text in labels if text in there] if name == LABEL else []
            axes.append((*ordered, *sorted_levels([text for text in there if text not in ordered], name)))
        return tuple(axes)

    def ordered(self, panels: Sequence[str], xs: Sequence[str], series: Sequence[str]) -> Cells:
        """Return the cells by panel, series and x, each in the order given."""
        panel_of, x_of, series_of = (
            {text: number for number, text in enumerate(texts)} for texts in (panels, xs, series)
        )
        keys = sorted(self.units, key=lambda key: (panel_of[key[0]], series_of[key[2]], x_of[key[1]]))
        return Cells({key: self.units[key] for key in keys}, self.mixed)

    @cached_property
    def replicates(self) -> Mapping[Key, tuple[Replicate, ...]]:
        return {key: replicates_of(own) for key, own in self.units.items()}

    @cached_property
    def fields(self) -> Mapping[Key, Any]:
        """Of each cell the fields of its replicates, see `fields_of`."""
        return {key: replicate_fields_of(own) for key, own in self.units.items()}

    @cached_property
    def samples(self) -> Mapping[Key, Sample]:
        return {
            key: own[0].sample if len(own) == 1 else sample_of(self.fields[key], own[0].part)
            for key, own in self.units.items()
        }


def replicates_of(units: Sequence[Unit]) -> tuple[Replicate, ...]:
    """Return the replicates of all of them, in the order in which they were measured."""
    if len(units) == 1:
        return units[0].replicates
    return tuple(sorted((replicate for unit in units for replicate in unit.replicates), key=WHEN))


def replicate_fields_of(units: Sequence[Unit]) -> Any:
    """Return the fields of the replicates of all of them, see `fields_of`, in the order in which they were measured."""
    return units[0].fields if len(units) == 1 else fields_of(replicates_of(units))


def cells_of(chosen: Selection, units: Sequence[Unit], parts: Parts) -> Cells:
    """Return the cells of what the filters let through. Raises TeitenError for several nodes or labels in one cell."""
    axes = [dimensions(names or "") for names in (chosen.panel, chosen.x, chosen.series)]
    units_of: dict[Key, list[Unit]] = {}
    through = list(_passing(units, chosen))
    keys = zip(*(map(JOINT.join, joint_levels(through, names)) for names in axes), strict=True)
    for key, unit in zip(keys, through, strict=True):
        units_of.setdefault(key, []).append(unit)
    cells = {key: tuple(own) for key, own in units_of.items()}
    return Cells(cells, _mixed(cells, chosen.axes, parts))


def _passing(units: Sequence[Unit], chosen: Selection) -> Iterator[Unit]:
    nodes, labels = _filtered(chosen, NODE, chosen.node), _filtered(chosen, LABEL, chosen.label)
    filters = {name: texts for name, texts in chosen.filters.items() if name not in OWN}
    through = {row.id for row in passing([unit.rows[0] for unit in units], filters)}
    for unit in units:
        of_metric = (nodes is None or unit.node in nodes) and (labels is None or unit.label in labels)
        if of_metric and unit.rows[0].id in through:
            yield unit


def _filtered(chosen: Selection, name: str, one: str) -> list[str] | None:
    """Return which nodes, or labels, count; None for all of them.

    one: that which is chosen where no filter is."""
    if several := chosen.filters.get(name):
        if len(several) > 1 and name not in chosen.axes:
            raise TeitenError(
                _("A trial's values of {names} are not replicates of one another.", names=", ".join(several)),
                where=f"filter.{name}",
                todo=_("Choose one {name}, or {name} as x, series or panel.", name=name_of(name)),
            )
        return list(several)
    return None if name in chosen.axes else [one]


def _mixed(cells: Mapping[Key, Sequence[Unit]], axes: Sequence[str], parts: Parts) -> tuple[str, ...]:
    """Return the dimensions besides the axes and the run in which configurations of one cell differ; of a composite
    factor that does not what it sets."""
    mixed = set[str]()
    for units in cells.values():
        if len(units) > 1:
            rows = [unit.rows[0] for unit in units]
            names = {name for row in rows for name in row.texts} - {RUN, *axes} - mixed
            mixed |= {name for name in names if len({row.level(name) for row in rows}) > 1}
    return tuple(sorted(mixed.difference(*(parts[name] for name in mixed & parts.keys()))))
