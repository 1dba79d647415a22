"""A report as a document, made in the report's language: while it is written, and once it is published."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext

from results import models, reports, snapshots
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.verdict import RULE
from results.queries.comparison.provenance import provenance_of
from results.reports import Published, Text
from webapp import urlstate
from webapp.documents.parts import Document
from webapp.documents.words import in_language
from webapp.reports.blocks import Shelf, Trouble, resolve
from webapp.reports.freezing import frozen, thawed


def text_of(stored: models.Draft | models.Edition) -> Text:
    return Text(stored.title, stored.authors, stored.language, stored.source)


def names(authors: str) -> list[str]:
    return [name.strip() for name in authors.splitlines() if name.strip()]


def preview(text: Text, shelf: Shelf) -> tuple[Document, list[Trouble]]:
    """Return the report as it would be published now, and the blocks of it that cannot be shown."""
    with in_language(text.language):
        parts, troubles = resolve(text.source, shelf)
        subtitle = gettext("Draft")
    return Document(text.title, parts, names(text.authors), subtitle, language=text.language), troubles


@transaction.atomic
def publish(draft: models.Draft, shelf: Shelf, *, user: User | None, actor: str) -> models.Edition:
    """Publish a draft: its comparisons become citations, its figures SVG, its numbers stay as they are. Raises
    TeitenError where a block cannot be shown or no author is named, StateError as `results.reports.publish`."""
    if not names(draft.authors):
        raise TeitenError(
            _("A published report names its authors."), where="authors", todo=_("Write a name a line, and save.")
        )
    with in_language(draft.language):
        parts, troubles = resolve(draft.source, shelf)
    if troubles:
        raise TeitenError(
            _("{number} of its blocks cannot be shown.", number=len(troubles)),
            where=_("line {line}", line=troubles[0].line),
            why=troubles[0].error.words,
            todo=_("Mend them, or remove them."),
        )
    citations = [
        snapshots.cite(urlstate.write(one.selection), one, user=user, actor=actor).pk for one in shelf.used.values()
    ]
    facts = provenance_of(shelf.attempts) | {"title": draft.title, "published_at": shelf.now.isoformat()}
    published = Published(frozen(parts), facts, sorted(shelf.attempts), sorted(set(citations)), RULE)
    return reports.publish(draft, published, shelf.now, user=user, actor=actor)


def document_of(edition: models.Edition, address: str) -> Document:
    """Return an edition as it was published."""
    facts: dict[str, Any] = edition.facts | {"address": address, "sha256": edition.hash, "edition": edition.number}
    with in_language(edition.language):
        text = gettext("Edition {number}, {day:%Y-%m-%d}")
        if edition.withdrawn_at:
            text = gettext("Edition {number}, {day:%Y-%m-%d}, withdrawn on {withdrawn:%Y-%m-%d}")
    subtitle = text.format(number=edition.number, day=edition.published_at, withdrawn=edition.withdrawn_at)
    parts, authors = thawed(edition.content, facts), names(edition.authors)
    return Document(edition.title, parts, authors, subtitle, address, edition.language, facts)
