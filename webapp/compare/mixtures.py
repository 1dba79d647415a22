"""What a cell mixes, and how it is told apart: in words and addresses. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from django.utils.translation import gettext, ngettext

from results.queries.comparison.compare import Comparison
from results.queries.shared.facets import RUN, Facet
from results.queries.shared.selection import Selection
from webapp import urlstate
from webapp.chooser import MOST_CHIPS, title
from webapp.compare.confounders import listed

MOST_BY_RUN = 3  # dimensions that tell whole runs apart and are still offered one by one

Way = tuple[str, str]  # what is let through, in words; the query that does it


def between_runs(comparison: Comparison) -> tuple[Facet, ...]:
    """Return the dimensions that cells mix only because runs of different plans are in them, where these are many:
    then it is the runs that are chosen from."""
    facets = tuple(facet for facet in comparison.facets if facet.by_run and facet.name in comparison.mixed)
    return facets if len(facets) > MOST_BY_RUN else ()


def mixtures(comparison: Comparison, selection: Selection) -> list[tuple[str, list[Way]]]:
    """Return of what varies within a cell its title, and the ways to let one of its values through.

    selection: of the page's address."""
    apart = between_runs(comparison)
    left = {run for facet in comparison.facets if facet.name == RUN for run in _with_trials(facet)}
    several = [(gettext("plans"), list(_ways_by_run(apart, left, selection)))] if apart else []
    return several + [
        (title(facet.name), [(text, _only(selection, facet.name, text)) for text in _with_trials(facet)[:MOST_CHIPS]])
        for facet in comparison.facets
        if facet.name in comparison.mixed and facet not in apart
    ]


def _with_trials(facet: Facet) -> list[str]:
    """Return the values that the other filters leave trials of."""
    return [text for text, trials in facet.values if trials]


def _ways_by_run(facets: Sequence[Facet], left: Set[str], selection: Selection) -> Iterator[Way]:
    """Give a way for the runs that are alike in all of these, of those that have trials left."""
    runs_of: dict[tuple[str, ...], list[str]] = {}
    for run in filter(left.__contains__, dict(facets[0].by_run)):
        levels = tuple(dict(facet.by_run).get(run, "") for facet in facets)
        runs_of.setdefault(levels, []).append(run)
    for runs in runs_of.values():
        text = ngettext("run {runs}", "runs {runs}", len(runs)).format(runs=listed(runs))
        yield text, _only(selection, RUN, *runs)


def _only(selection: Selection, name: str, *texts: str) -> str:
    """Return the query that lets only these values through."""
    return urlstate.write(replace(selection, filters={**selection.filters, name: texts}))
