"""What a published table is called in another language: its description translated, as its TOML file says. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from results.domain.errors import ParseError
from results.domain.messages import LANGUAGES, ORIGINAL
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion
from results.published.description import Description, Quotient, Translation
from results.published.tables import PublishedRow, Table
from results.published.toml_lines import line_of

_TRANSLATIONS = tuple(language for language in LANGUAGES if language != ORIGINAL)


def check(description: Description, rows: Sequence[PublishedRow], file: str, text: str) -> None:
    """Raise ParseError where a description has other notes or words than its translations.

    file, text: what it was read of"""
    for language in _TRANSLATIONS:
        translation = translation_of(description, language)
        if translation is None:
            continue
        if len(translation.notes) != len(description.notes):
            what = _(
                "{path}: {count} notes have {translated} translations.",
                path=f"{language}.notes",
                count=len(description.notes),
                translated=len(translation.notes),
            )
            raise ParseError(what, file=file, line=line_of(f"{language}.notes", text))
        known = set(_words(description, rows))
        for words in translation.words:
            if words not in known:
                path = f"{language}.words.{words}"
                what = _(
                    "{path}: the table has no such words. {todo}", path=path, todo=suggestion(words, sorted(known))
                )
                raise ParseError(what, file=file, line=line_of(path, text))


def translation_of(description: Description, language: str) -> Translation | None:
    """Return what the description says in a language, None for nothing."""
    translation: Translation | None = getattr(description, language, None)
    return translation


def translated(description: Description, translation: Translation) -> Description:
    """Return the description of the same table in the translation's language."""
    words = translation.words
    return replace(
        description,
        place=translation.place,
        caption=translation.caption,
        quotients=tuple(_translated_quotient(one, words) for one in description.quotients),
        changes=tuple(replace(one, words=words.get(one.words, one.words)) for one in description.changes),
        averages=tuple(replace(one, words=words.get(one.words, one.words)) for one in description.averages),
        notes=tuple(replace(note, text=text) for note, text in zip(description.notes, translation.notes, strict=True)),
    )


def pairs(table: Table, other: Table, words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each text of a table that pages show, and what the same table has for it in another language; of what
    answers add, where it has anything.

    words: as of `Translation`"""
    yield table.place, other.place
    yield table.caption, other.caption
    for note, other_note in zip(table.notes, other.notes, strict=True):
        yield note.text, other_note.text
    for derived, other_derived in zip(table.derived, other.derived, strict=True):
        yield derived.words, other_derived.words
    for trial in table.trials:
        for answer in trial.answers:
            if answer.message in words:
                yield answer.message, words[answer.message]


def _translated_quotient(quotient: Quotient, words: Mapping[str, str]) -> Quotient:
    cells = {
        name: replace(cell, values={text: words.get(str(value), value) for text, value in cell.values.items()})
        for name, cell in quotient.cells.items()
    }
    return replace(quotient, words=words.get(quotient.words, quotient.words), cells=cells)


def _words(description: Description, rows: Sequence[PublishedRow]) -> Iterator[str]:
    """Yield the words of derived figures, the texts in them, and what answers add."""
    yield from (one.words for one in description.quotients)
    yield from (one.words for one in description.changes)
    yield from (one.words for one in description.averages)
    for quotient in description.quotients:
        for cell in quotient.cells.values():
            yield from (str(value) for value in cell.values.values())
    for trial in description.trials:
        if trial.answers:
            yield from (row[trial.answers.message_column] for row in rows)
