"""The forms in which an edition can be had, the static site among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.utils.translation import gettext

from results import models
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from results.queries.comparison.citations import cited
from results.queries.shared.ids import NotFound
from results.reports import hashed_of
from webapp.bibliography import Entry
from webapp.documents import files
from webapp.documents.page import alone
from webapp.documents.parts import Document, file_name
from webapp.documents.turn import turn
from webapp.documents.words import in_language
from webapp.drawing.files import draw
from webapp.drawing.style import SHAPES
from webapp.exports.forms import BIBLIOGRAPHIES, File, bibliography
from webapp.exports.rows import as_csv
from webapp.reports.publishing import document_of, names

_Written = Callable[[models.Edition, Document, str], bytes]


def _written(form: files.Form) -> _Written:
    return lambda _edition, document, name: form.written(document, name)


def _site(edition: models.Edition, document: Document, name: str) -> bytes:
    """Return the report as a folder of files that needs no server: its page, every figure in every shape, the rows of
    every comparison, and its provenance."""
    content = {
        "index.html": alone(document).encode(),
        files.PROVENANCE: files.provenance_file(document.facts),
        "published.json": hashed_of(edition).encode(),  # whose SHA-256 is the edition's
        f"{name}.md": edition.source_in(document.language).encode(),
    }
    for number, plate in enumerate(document.plates, 1):
        for shape in SHAPES.values():
            file = f"figures/{shape.name}/figure-{number}-{plate.name}"
            content |= {f"{file}.{form}": draw(plate.picture, form, shape) for form in ("svg", "png")}
    for hash_ in edition.citations:
        content[f"data/citation-{hash_}.csv"] = as_csv(cited(hash_).comparison).encode()
    return files.packed(content)


FORMS: Mapping[str, tuple[str, _Written]] = {
    **{suffix: (form.label, _written(form)) for suffix, form in files.FORMS.items()},
    "provenance.json": (_("Provenance"), lambda _edition, document, _name: files.provenance_file(document.facts)),
    "site.zip": (_("Site without a server"), _site),
}
_TYPES = {"provenance.json": "application/json", "site.zip": "application/zip"}


def file_of(edition: models.Edition, form: str, address: str, reader: str) -> File:
    """Return an edition in a form, under a name that says what it holds. Raises TeitenError.

    reader: the language of who reads it, in which it is where it was published in that"""
    if form in BIBLIOGRAPHIES:
        return bibliography(entry(edition, address, reader), form)
    if form not in FORMS:
        known = (*FORMS, *BIBLIOGRAPHIES)
        what = _("There is no export as {form!r}: there are {names}.", form=form, names=linked(COMMA, known))
        raise NotFound(what)
    document = document_of(edition, address, reader)
    several = document.language if edition.titles else ""
    name = file_name(f"{document.title} edition {edition.number} {several}")
    content_type = _TYPES[form] if form in _TYPES else files.FORMS[form].content_type
    with turn():
        return File(f"{name}.{form}", content_type, FORMS[form][1](edition, document, name))


def entry(edition: models.Edition, address: str, reader: str) -> Entry:
    """Return what a bibliography says of it, in the report's language.

    reader: the language of who reads it, in which it is where it was published in that"""
    with in_language(edition.language_for(reader)):
        text = gettext("Edition {number}, {trials} trials, verdict rule {rule}, SHA-256 {hash}.")
    trials = len(edition.facts["trials"])
    note = text.format(number=edition.number, trials=trials, rule=edition.rule, hash=edition.hash)
    key = f"teiten-report-{edition.report_id}-{edition.number}"
    return Entry(key, edition.title_in(reader), names(edition.authors), edition.published_at.date(), address, note)
