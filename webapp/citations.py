"""What pages and API make of a citation: its parts, and the words to cite it by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from results.errors import TeitenError
from results.models import Run
from results.queries.comparison import Comparison, compare
from results.queries.snapshots import Citation, SnapshotRow, Standing, standing
from webapp import urlstate
from webapp.explorer import words
from webapp.explorer.controls import title as dimension_title


def asked(query: str) -> tuple[str, Comparison]:
    """The comparison of a query, and the complete query that it answers: a default that changes later changes nothing
    of it. Raises TeitenError."""
    found = compare(urlstate.read(query.removeprefix("?")))
    return urlstate.write(found.selection), found


def standing_of(citation: Citation) -> Standing:
    """Whether the same question has the same answer today."""
    try:
        today = compare(urlstate.read(citation.row.query))
    except TeitenError as error:
        return Standing(why=str(error))
    if not today.points:
        return replace(standing(citation.comparison, today), why="None of its trials is in the warehouse any more.")
    return standing(citation.comparison, today)


def title(comparison: Comparison) -> str:
    """'Transactions per second per client by clients, for each installation, only scale 10, against 16.9'."""
    chosen = comparison.selection
    per = f" per {chosen.per}" if chosen.per else ""
    lines = f", for each {dimension_title(chosen.series)}" if chosen.series else ""
    panels = f", a panel a {dimension_title(chosen.panel)}" if chosen.panel else ""
    only = "".join(f", only {dimension_title(name)} {' or '.join(texts)}" for name, texts in chosen.filters.items())
    base = f", against {chosen.baseline}" if any(point.verdict for point in comparison.points) else ""
    return f"{comparison.metric.label}{per} by {dimension_title(chosen.x)}{lines}{panels}{only}{base}"


def published_in(row: SnapshotRow) -> list[str]:
    """Titles of the tables of published figures among what was cited, as far as they are loaded. One query."""
    runs = Run.objects.filter(pk__in=[int(run) for run in row.runs], publication__isnull=False)
    return list(runs.order_by("pk").values_list("publication__title", flat=True))


def remarks(comparison: Comparison, published: Sequence[str]) -> list[str]:
    """What a reader of the numbers must know besides, a sentence each. published: tables that figures are from."""
    said = [f"Published figures, not measured here: {title}." for title in published]
    if comparison.mixed:
        said.append(f"Cells mix different {words.listed([dimension_title(name) for name in comparison.mixed])}.")
    said += [
        f"No verdict in {one.withheld} of {one.cells} cells of {one.series} against {one.base}: "
        "something else that matters differs."
        for one in comparison.environment
        if one.withheld
    ]
    said += [f"Values of run {run} {text}." for run, text in words.warnings(comparison)]
    return said + [f"{text}." for text in words.unmatched(comparison)]


def plain_text(citation: Citation, url: str, published: Sequence[str]) -> str:
    row = citation.row
    runs = f"run{'' if len(row.runs) == 1 else 's'} {', '.join(row.runs)}"
    said = f"{title(citation.comparison)}. Teiten, {runs}, {row.trials} trials, verdict rule {row.rule}"
    return " ".join([f"{said}, {row.created_at:%d %B %Y}.", *remarks(citation.comparison, published), url])


def bibtex(citation: Citation, url: str, published: Sequence[str]) -> str:
    row = citation.row
    note = f"Teiten citation {row.hash}, {row.trials} trials, verdict rule {row.rule}."
    return "\n".join(
        (
            f"@misc{{teiten-{row.hash},",
            f"  title = {{{_tex(title(citation.comparison))}}},",
            f"  howpublished = {{\\url{{{url}}}}},",
            f"  year = {{{row.created_at:%Y}}},",
            f"  month = {{{row.created_at:%m}}},",
            f"  note = {{{_tex(' '.join([note, *remarks(citation.comparison, published)]))}}}",
            "}",
        )
    )


def _tex(text: str) -> str:
    return "".join(f"\\{c}" if c in "&%$#_{}" else c for c in text)
