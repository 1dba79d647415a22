"""Citations for pages and API: their title, their remarks, and the text to cite them by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from django.utils.translation import gettext, ngettext, pgettext

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.models import Run
from results.queries.comparison.citations import Citation, Standing, standing
from results.queries.comparison.compare import Comparison, compare
from results.queries.shared.words import stored
from webapp import urlstate
from webapp.bibliography import Entry
from webapp.charts.comparison import per_name
from webapp.chooser import title as dimension_title
from webapp.compare import words
from webapp.compare.confounders import confounders, listed
from webapp.documents.words import sentences
from webapp.language import joined


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
        return Standing(why=error.words)
    if not today.points:
        return replace(standing(citation.comparison, today), why=_("None of its trials is in the warehouse any more."))
    return standing(citation.comparison, today)


def title(comparison: Comparison) -> str:
    """Return the title of a comparison.

    As 'Transactions per second per client by clients, for each installation, only scale 10, against 16.9'.
    """
    return joined(_parts_of_title(comparison))


def _parts_of_title(comparison: Comparison) -> Iterator[str]:
    selection, metric = comparison.selection, localized(comparison.metric.label)
    if selection.per:
        metric = gettext("{metric} per {per}").format(metric=metric, per=per_name(comparison))
    yield gettext("{metric} by {x}").format(metric=metric, x=dimension_title(selection.x))
    if selection.series:
        yield gettext("for each {dimension}").format(dimension=dimension_title(selection.series))
    if selection.panel:
        yield gettext("a panel a {dimension}").format(dimension=dimension_title(selection.panel))
    for name, texts in selection.filters.items():
        levels = pgettext("between alternatives", " or ").join(texts)
        yield gettext("only {dimension} {levels}").format(dimension=dimension_title(name), levels=levels)
    if any(point.verdict for point in comparison.points):
        yield gettext("against {base}").format(base=selection.baseline)


def published_in(runs: Iterable[int | str]) -> list[str]:
    """Return of each run of figures that were not measured here what they are, as far as they are loaded: 'Published
    figures, not measured here: TITLE'. One query."""
    published = Run.objects.filter(pk__in=[int(run) for run in runs], publication__isnull=False)
    sources = published.order_by("pk").values_list("publication__title", "publication__program")
    return [_not_measured_here(title, program) for title, program in sources]


def _not_measured_here(title: str, program: str) -> str:
    """Return it of an import, whose title its user wrote, or of a report."""
    if program:
        text = gettext("Results imported from {program}, not measured here: {title}")
        return text.format(program=program, title=title)
    return gettext("Published figures, not measured here: {title}").format(title=localized(stored(title)))


def remarks(comparison: Comparison, published: Sequence[str]) -> list[str]:
    """Return what a reader of the measurements must know besides, a sentence each.

    published: as of `published_in`
    """
    every = [_sentence(source) for source in published]
    if comparison.mixed:
        dimensions = [dimension_title(name) for name in comparison.mixed]
        every.append(gettext("Cells mix different {dimensions}.").format(dimensions=listed(dimensions)))
    without = gettext("No verdict in {withheld} of {cells} cells of {series} against {base}: {differences}.")
    for one in comparison.environment:
        if one.withheld:
            cells = {"withheld": one.withheld, "cells": one.cells, "series": one.series, "base": one.base}
            every.append(without.format(**cells, differences=confounders([one])))
    changed = gettext("Values of run {run} {change}.")
    every += [changed.format(run=run, change=text) for run, text in words.warnings(comparison)]
    return every + [_sentence(text) for text in words.unmatched(comparison)]


def _sentence(text: str) -> str:
    return gettext("{parts}.").format(parts=text)


def plain_text(citation: Citation, url: str, published: Sequence[str]) -> str:
    row = citation.row
    # xgettext:no-python-format
    day = pgettext("strftime's form of a day", "%d %B %Y")
    parts = (
        "Teiten",
        ngettext("run {runs}", "runs {runs}", len(row.runs)).format(runs=joined(row.runs)),
        gettext("{n} trials").format(n=row.trials),
        gettext("verdict rule {rule}").format(rule=row.rule),
        row.created_at.strftime(day),
    )
    said_of_it = (title(citation.comparison), joined(parts))
    return f"{sentences([*map(_sentence, said_of_it), *remarks(citation.comparison, published)])} {url}"


def entry(citation: Citation, url: str, published: Sequence[str]) -> Entry:
    """Return what a bibliography says of it."""
    row = citation.row
    note = gettext("Teiten citation {hash}, {trials} trials, verdict rule {rule}.")
    note = note.format(hash=row.hash, trials=row.trials, rule=row.rule)
    return Entry(
        key=f"teiten-{row.hash}",
        title=title(citation.comparison),
        authors=[row.created_by] if row.created_by else [],
        published=row.created_at.date(),
        address=url,
        note=sentences([note, *remarks(citation.comparison, published)]),
    )
