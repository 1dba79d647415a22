"""Citations for pages and API: their title, their remarks, and the text to cite them by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from results.domain.errors import TeitenError
from results.models import Run
from results.queries.comparison.citations import Citation, Standing, standing
from results.queries.comparison.compare import Comparison, compare
from webapp import urlstate
from webapp.bibliography import Entry
from webapp.chooser import title as dimension_title
from webapp.compare import words
from webapp.compare.confounders import confounders, listed


def compare_query(query: str) -> tuple[str, Comparison]:
    """Return the complete query, and the comparison that it describes. Raises TeitenError.

    The complete query names every choice, so that a default that changes later changes nothing of a citation.
    """
    comparison = compare(urlstate.read(query.removeprefix("?")))
    return urlstate.write(comparison.selection), comparison


def compare_with_today(citation: Citation) -> Standing:
    """Return what the cited query would show otherwise today."""
    try:
        today = compare(urlstate.read(citation.row.query))
    except TeitenError as error:
        return Standing(why=str(error))
    if not today.points:
        return replace(standing(citation.comparison, today), why="None of its trials is in the warehouse any more.")
    return standing(citation.comparison, today)


def title(comparison: Comparison) -> str:
    """Return the title of a comparison.

    As 'Transactions per second per client by clients, for each installation, only scale 10, against 16.9'.
    """
    selection = comparison.selection
    per = f" per {selection.per}" if selection.per else ""
    lines = f", for each {dimension_title(selection.series)}" if selection.series else ""
    panels = f", a panel a {dimension_title(selection.panel)}" if selection.panel else ""
    only = "".join(f", only {dimension_title(name)} {' or '.join(texts)}" for name, texts in selection.filters.items())
    base = f", against {selection.baseline}" if any(point.verdict for point in comparison.points) else ""
    return f"{comparison.metric.label}{per} by {dimension_title(selection.x)}{lines}{panels}{only}{base}"


def published_in(runs: Iterable[int | str]) -> list[str]:
    """Return of each run of figures that were not measured here what they are, as far as they are loaded: 'Published
    figures, not measured here: TITLE'. One query."""
    published = Run.objects.filter(pk__in=[int(run) for run in runs], publication__isnull=False)
    sources = published.order_by("pk").values_list("publication__title", "publication__program")
    return [_not_measured_here(title, program) for title, program in sources]


def _not_measured_here(title: str, program: str) -> str:
    kind = f"Results imported from {program}" if program else "Published figures"
    return f"{kind}, not measured here: {title}"


def remarks(comparison: Comparison, published: Sequence[str]) -> list[str]:
    """Return what a reader of the measurements must know besides, a sentence each.

    published: as of `published_in`
    """
    sentences = [f"{source}." for source in published]
    if comparison.mixed:
        dimensions = [dimension_title(name) for name in comparison.mixed]
        sentences.append(f"Cells mix different {listed(dimensions)}.")
    for environment in comparison.environment:
        if environment.withheld:
            cells = f"{environment.withheld} of {environment.cells} cells of {environment.series}"
            sentences.append(f"No verdict in {cells} against {environment.base}: {confounders([environment])}.")
    sentences += [f"Values of run {run} {text}." for run, text in words.warnings(comparison)]
    return sentences + [f"{text}." for text in words.unmatched(comparison)]


def plain_text(citation: Citation, url: str, published: Sequence[str]) -> str:
    row = citation.row
    runs = f"run{'' if len(row.runs) == 1 else 's'} {', '.join(row.runs)}"
    source = f"Teiten, {runs}, {row.trials} trials, verdict rule {row.rule}, {row.created_at:%d %B %Y}."
    return " ".join([f"{title(citation.comparison)}. {source}", *remarks(citation.comparison, published), url])


def entry(citation: Citation, url: str, published: Sequence[str]) -> Entry:
    """Return what a bibliography says of it."""
    row = citation.row
    note = f"Teiten citation {row.hash}, {row.trials} trials, verdict rule {row.rule}."
    return Entry(
        key=f"teiten-{row.hash}",
        title=title(citation.comparison),
        authors=[row.created_by] if row.created_by else [],
        published=row.created_at.date(),
        address=url,
        note=" ".join([note, *remarks(citation.comparison, published)]),
    )
