"""Which cell of a comparison the page of why, and the API, are asked about."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.queries.comparison.compare import Comparison, Point

PLACE = ("at", "of", "in")  # a cell: its x, its series, its panel


def requested_cell(query: Mapping[str, str]) -> dict[str, str]:
    """What the URL says of the cell."""
    return {name: text for name in PLACE if (text := query.get(name, ""))}


def chosen_point(comparison: Comparison, place: Mapping[str, str]) -> Point | None:
    """The cell that is asked for; what is left open is the first that fits and has another one as its baseline. None
    without any cell. Raises TeitenError for a cell that is not there."""
    wanted = [place.get("in"), place.get("at"), place.get("of")]
    fitting = [
        point
        for point in comparison.points
        if all(text is None or text == have for text, have in zip(wanted, point.key, strict=True))
    ]
    if comparison.points and not fitting:
        raise TeitenError(
            _(
                "The comparison has no cell {cell}.",
                cell=", ".join(f"{name} {text!r}" for name, text in place.items()),
            ),
            where=", ".join(place),
            todo=f"at: {', '.join(comparison.xs)}; of: {', '.join(comparison.series)}"
            + (f"; in: {', '.join(comparison.panels)}" if comparison.selection.panel else "")
            + ".",
        )
    return next((point for point in fitting if point.base not in (None, point.key)), next(iter(fitting), None))


def base_of(comparison: Comparison, point: Point) -> Point | None:
    """The cell that it is held against; None where there is none but itself."""
    return next((one for one in comparison.points if one.key == point.base and one.key != point.key), None)
