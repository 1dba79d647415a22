"""Published tables: the list, one table beside its trials, and the file that the figures were taken from."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from django.http import HttpResponse
from django.http.request import HttpRequest
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.published.tables import content, rows
from results.queries.presets.publications import PublicationRow, list_publications, places, publication
from webapp.pages.common import PAGE, page_of
from webapp.problems import missing_is_404


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The tables of the oldest report first, or those after one."""
    after = request.GET.get("after", "")
    rows = list_publications(after=after, limit=PAGE + 1)
    return render(request, "published/index.html", {"page": page_of(rows, PAGE, attrgetter("slug"), "after", at=after)})


@dataclass(frozen=True)
class Cell:
    """One cell of a published table.

    trial_id: the trial that has this number; 0 where it is none's.
    recomputed: what follows from the other figures; None for a figure that does not follow from others.
    agrees: whether that is what was published."""

    text: str
    trial_id: int
    recomputed: float | None
    agrees: bool


@require_safe
@missing_is_404()
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    shown_publication = publication(slug)
    table = _table(shown_publication)
    context = {
        "publication": shown_publication,
        "columns": list(table[0][1]) if table else [],
        "rows": [(line, list(cells.values())) for line, cells in table],
        "below": [one for one in shown_publication.derived if not one["line"]],
    }
    return render(request, "published/detail.html", context)


def _table(published: PublicationRow) -> list[tuple[int, dict[str, Cell]]]:
    trials = {(place.line, place.column): place.trial_id for place in places(published.run_id)}
    derived = {(one["line"], one["column"]): one for one in published.derived}
    table = []
    for row in rows(published.slug):
        cells = {}
        for column, text in row.cells.items():
            key = (row.line, column)
            again = derived.get(key)
            cells[column] = Cell(
                text, trials.get(key, 0), again["recomputed"] if again else None, bool(again and again["agrees"])
            )
        table.append((row.line, cells))
    return table


@require_safe
@missing_is_404()
def file(request: HttpRequest, slug: str) -> HttpResponse:
    """The CSV file as it came with Teiten."""
    table = publication(slug)
    headers = {"Content-Disposition": f'attachment; filename="{table.file}"'}
    return HttpResponse(content(table.file), content_type="text/csv; charset=utf-8", headers=headers)
