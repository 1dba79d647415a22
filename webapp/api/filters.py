"""Filters by factors and dimensions, in the words of a comparison: `filter.clients=1,4`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from results.domain.errors import TeitenError
from results.queries.shared.configurations import configurations
from results.queries.shared.facets import passing
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.selection import LABEL, NODE, unknown_choice
from webapp import urlstate

FILTERS = OpenApiParameter(
    f"{urlstate.FILTER}<dimension>",
    OpenApiTypes.STR,
    description="Values of a factor or dimension let through, with commas between them. Needs a run.",
)
Filters = Mapping[str, Collection[str]]


def filters_of(request: Request) -> Filters:
    """Return dimension → values let through, of a request whose parameters are all known."""
    return urlstate.read(request.META.get("QUERY_STRING", ""), list(request.query_params)).filters


def of_measurements(filters: Filters, known: Callable[[], Mapping[str, Collection[str]]]) -> Filters:
    """Return the filters by node and label, which are the measurement's own. Raises TeitenError for what is not there.

    known: returns the nodes and the labels that there are; called where something is filtered by."""
    own = {name: texts for name, texts in filters.items() if name in (NODE, LABEL)}
    there = known() if own else {}
    return {name: _levels(name, texts, sorted(there[name])) for name, texts in own.items()}


def configurations_passing(run_ids: Sequence[int], filters: Filters) -> list[int] | None:
    """Return the ids of the runs' configurations that the filters let through; None where nothing is filtered by. One
    query, none without filters. Raises TeitenError for a dimension, or a level of it, that the runs do not have."""
    own: dict[str, tuple[str, ...]] = {n: tuple(texts) for n, texts in filters.items() if n not in (NODE, LABEL)}
    if not own:
        return None
    require_run(own, run_ids)
    rows = configurations(run_ids)
    known = sorted(set[str]().union(*(row.texts for row in rows)))
    for name, texts in own.items():
        if name not in known:
            raise unknown_choice(f"{urlstate.FILTER}{name}", "dimension", name, known)
        own[name] = _levels(name, texts, sorted_levels(list({row.level(name) for row in rows}), name))
    return [row.id for row in passing(rows, own)]


def require_run(filters: Filters, run_ids: Sequence[int]) -> None:
    """Raise TeitenError where something is filtered by and no run says what there is."""
    if filters and not run_ids:
        name = next(iter(filters))
        raise TeitenError(
            f"{urlstate.FILTER}{name} needs a run.", where="run", todo="Add run=41, or several with commas."
        )


def _levels(name: str, texts: Collection[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the levels that are asked for. Libraries write the commas between them as %2C, which would be part of a
    level: a text that is none is read as several. Raises TeitenError for what is no level."""
    levels = [one for text in texts for one in ([text] if text in known else text.split(","))]
    for level in levels:
        if level not in known:
            raise unknown_choice(f"{urlstate.FILTER}{name}", name, level, known)
    return tuple(levels)
