"""Published tables: where the figures that were not measured here come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results import models, sql
from results.domain.messages import gettext_lazy as _
from results.queries.shared.ids import NotFound
from results.queries.shared.words import as_messages, disagreement, stored


@dataclass(frozen=True)
class PublicationRow:
    """One table of a report; fields as of `results.models.Publication`.

    run_id: the run that holds its figures."""

    slug: str
    title: str
    publisher: str
    year: int
    place: str
    caption: str
    licence: str
    file: str
    sha256: str
    derived: tuple[Mapping[str, Any], ...]
    remarks: tuple[Mapping[str, Any], ...]
    run_id: int
    workload: str
    trials: int

    def __post_init__(self) -> None:
        as_messages(self, "title", "publisher", "place", "caption", "licence")
        wrong = [
            disagreement(one["words"], one["column"], one["published"], one["recomputed"])
            for one in self.derived
            if not one["agrees"]
        ]
        messages = {str(text): text for text in wrong}
        remarks = [{**one, "text": messages.get(one["text"], stored(one["text"]))} for one in self.remarks]
        object.__setattr__(self, "remarks", tuple(remarks))
        object.__setattr__(self, "derived", tuple({**one, "words": stored(one["words"])} for one in self.derived))

    @property
    def agreeing(self) -> int:
        """How many of the figures that the report derived come out the same."""
        return sum(bool(one["agrees"]) for one in self.derived)


@dataclass(frozen=True)
class Place:
    """Where one figure of a trial stands in its file."""

    trial_id: int
    metric: str
    node: str
    label: str
    line: int
    column: str


def list_publications(
    *, after: str = "", slugs: Sequence[str] | None = None, limit: int | None = None
) -> list[PublicationRow]:
    """Report by report, in the order in which their tables were loaded. One query.

    after: slug of the last one of the page before; what is no table's begins with the first.
    slugs: only these.
    limit: None for all."""
    chosen = None if slugs is None else list(slugs)
    return sql.rows(PublicationRow, _PUBLICATIONS, {"after": after, "slugs": chosen, "limit": limit})


def any_published() -> bool:
    """Return whether there is a published table at all. One query."""
    return models.Publication.objects.filter(program="").exists()


def publication(slug: str) -> PublicationRow:
    """Return one publication. One query. Raises NotFound."""
    rows = list_publications(slugs=[slug])
    if not rows:
        raise NotFound(_("There is no published table {slug!r}.", slug=slug))
    return rows[0]


def places(run_id: int) -> list[Place]:
    """Of every figure of a run of published ones, by line. One query."""
    return sql.rows(Place, _PLACES, {"run_id": run_id})


_PUBLICATIONS = """
SELECT publication.slug, publication.title, publication.publisher, publication.year, publication.place,
    publication.caption, publication.licence, publication.file, publication.sha256,
    publication.derived::json AS derived, publication.remarks::json AS remarks, run.id AS run_id, run.workload,
    (SELECT count(*) FROM results_trial WHERE run_id = run.id) AS trials
FROM results_publication AS publication JOIN results_run AS run ON run.publication_id = publication.id
WHERE publication.program = ''
    AND (%(slugs)s::text[] IS NULL OR publication.slug = ANY(%(slugs)s))
    AND (
        NOT EXISTS (SELECT FROM results_publication WHERE slug = %(after)s)
        OR (publication.year, publication.id) > (SELECT year, id FROM results_publication WHERE slug = %(after)s)
    )
ORDER BY publication.year, publication.id
LIMIT %(limit)s
"""
_PLACES = """
SELECT attempt.trial_id, place ->> 'metric' AS metric, place ->> 'node' AS node, place ->> 'label' AS label,
    (place ->> 'line')::integer AS line, place ->> 'column' AS column
FROM results_attempt AS attempt CROSS JOIN LATERAL jsonb_array_elements(attempt.notes -> 'published') AS place
WHERE attempt.run_id = %(run_id)s
ORDER BY line, attempt.trial_id
"""
