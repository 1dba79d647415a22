"""A report as a document, made in the report's language: while it is written, and once it is published."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext

from results import models, reports, snapshots
from results.domain.errors import TeitenError
from results.domain.messages import LANGUAGES, ORIGINAL
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.verdict import RULE
from results.queries.comparison.provenance import provenance_of
from results.reports import Published, Text, text_of
from webapp import urlstate
from webapp.documents.parts import Document
from webapp.documents.words import in_language
from webapp.reports.blocks import Shelf, Trouble, resolve
from webapp.reports.freezing import frozen, thawed
from webapp.reports.source import first_difference


def names(authors: str) -> list[str]:
    return [name.strip() for name in authors.splitlines() if name.strip()]


def preview(text: Text, language: str, shelf: Shelf) -> tuple[Document, list[Trouble]]:
    """Return the report in one of its languages as it would be published now, and the blocks of it that cannot be
    shown."""
    with in_language(language):
        parts, troubles = resolve(text.source_in(language), shelf)
        subtitle = gettext("Draft")
    known = language if language in LANGUAGES else ORIGINAL  # of what cannot be saved there is a preview too
    return Document(text.title_in(language), parts, names(text.authors), subtitle, language=known), troubles


@transaction.atomic
def publish(draft: models.Draft, shelf: Shelf, *, user: User | None, actor: str) -> models.Edition:
    """Publish a draft in all its languages: its comparisons become citations, its figures SVG, its numbers stay as they
    are, the same in all of them. Raises TeitenError where a block cannot be shown, two languages show different blocks
    or no author is named, StateError as `results.reports.publish`."""
    if not names(draft.authors):
        raise TeitenError(
            _("A published report names its authors."), where="authors", todo=_("Write a name a line, and save.")
        )
    text = text_of(draft)
    content = {language: _frozen(text, language, shelf) for language in text.languages}
    for language in text.languages[1:]:
        _require_same_blocks(text, language)
    citations = [
        snapshots.cite(urlstate.write(one.selection), one, user=user, actor=actor).pk for one in shelf.used.values()
    ]
    facts = provenance_of(shelf.attempts) | {"title": draft.title, "published_at": shelf.now.isoformat()}
    parts = content.pop(text.language)
    published = Published(parts, facts, sorted(shelf.attempts), sorted(set(citations)), RULE, content)
    return reports.publish(draft, published, shelf.now, user=user, actor=actor)


def _frozen(text: Text, language: str, shelf: Shelf) -> str:
    """Return what is kept of the text in one language. Raises TeitenError where a block cannot be shown."""
    with in_language(language):
        parts, troubles = resolve(text.source_in(language), shelf)
        if troubles:
            raise TeitenError(
                _("{number} of its blocks cannot be shown.", number=len(troubles)),
                where=_line_of(text, language, troubles[0].line),
                why=troubles[0].error.words,
                todo=_("Mend them, or remove them."),
            )
        return frozen(parts)


def _line_of(text: Text, language: str, line: int) -> str:
    """Return where a line is, with its language where there are several."""
    if len(text.languages) == 1:
        return _("line {line}", line=line)
    return _("line {line} of the text in {language}", line=line, language=LANGUAGES[language])


def _require_same_blocks(text: Text, language: str) -> None:
    """Raise TeitenError where the text in a further language shows other numbers than the first, or orders them
    otherwise."""
    different = first_difference(text.source, text.source_in(language))
    if different is None:
        return
    ours, theirs = different
    where = _line_of(text, language, theirs.line) if theirs else _line_of(text, text.language, ours.line if ours else 1)
    raise TeitenError(
        _(
            "The texts in {first} and {other} do not show the same blocks.",
            first=LANGUAGES[text.language],
            other=LANGUAGES[language],
        ),
        where=where,
        why=_("A reader of either language is to see the same numbers; captions alone may differ."),
        todo=_("Make the blocks the same, in the same order."),
    )


def document_of(edition: models.Edition, address: str, reader: str = "") -> Document:
    """Return an edition as it was published.

    reader: the language of who reads it, in which it is where it was published in that; without, as it was begun"""
    facts: dict[str, Any] = edition.facts | {"address": address, "sha256": edition.hash, "edition": edition.number}
    language = edition.language_for(reader)
    with in_language(language):
        text = gettext("Edition {number}, {day:%Y-%m-%d}")
        if edition.withdrawn_at:
            text = gettext("Edition {number}, {day:%Y-%m-%d}, withdrawn on {withdrawn:%Y-%m-%d}")
    subtitle = text.format(number=edition.number, day=edition.published_at, withdrawn=edition.withdrawn_at)
    parts, authors = thawed(edition.contents.get(language, edition.content), facts), names(edition.authors)
    return Document(edition.title_in(language), parts, authors, subtitle, address, language, facts)
