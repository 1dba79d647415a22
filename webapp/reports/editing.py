"""What the editor of a report changes: the text in one of its languages at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from results.domain.errors import TeitenError
from results.reports import Text
from webapp.documents.words import in_language
from webapp.reports import findings, templates
from webapp.reports.source import Block, pieces


def sent(form: Mapping[str, Any]) -> Text:
    """Return the text that stands in the editor, as one of a single language."""
    language = _field(form, "language") or _field(form, "text") or "en"  # the first is asked of the original alone
    return Text(_field(form, "title").strip(), _field(form, "authors").strip(), language, _field(form, "source"))


def changed(stored: Text, language: str, form: Mapping[str, Any]) -> Text:
    """Return the stored text with what was typed for one of its languages, or without that language."""
    new = sent(form)
    if language == stored.language:
        return replace(new, titles=stored.titles, sources=stored.sources)
    titles, sources = dict(stored.titles), dict(stored.sources)
    if "remove" in form:
        titles.pop(language, None)
        sources.pop(language, None)
    else:
        titles[language], sources[language] = new.title, new.source
    return replace(stored, authors=new.authors, titles=titles, sources=sources)


def _field(form: Mapping[str, Any], name: str) -> str:
    return str(form.get(name, "")).replace("\r\n", "\n")


def with_language(stored: Text, language: str, comparison_page: str) -> Text:
    """Return the text with one in this language. A new one begins with the other's, in which Teiten translates what it
    has written itself. Some queries for each comparison of that.

    comparison_page: address of the page, for links"""
    if language in stored.languages:
        return stored
    source = templates.translated(stored.source, stored.language, language)
    for query in dict.fromkeys(_queries(stored.source)):
        source = _with_findings(source, query, (stored.language, language), comparison_page)
    titles, sources = {**stored.titles, language: stored.title}, {**stored.sources, language: source}
    return replace(stored, titles=titles, sources=sources)


def _queries(source: str) -> Iterator[str]:
    """Give what the comparisons of a text ask; of a block that cannot be read, nothing: the preview says what is
    wrong with it."""
    for piece in pieces(source):
        if isinstance(piece, Block) and piece.name == "comparison":
            try:
                query = piece.options({"query": str, "citation": str, "caption": str}).get("query")
            except TeitenError:
                continue
            if query:
                yield query


def _with_findings(source: str, query: str, languages: tuple[str, str], comparison_page: str) -> str:
    """Return the text with each finding that Teiten proposed for the query in the second language, where it stands as
    proposed in the first."""
    first, second = languages
    with suppress(TeitenError):  # of what is not there any more nothing was proposed
        proposed = _proposed(query, first, comparison_page)
        if not set(proposed).isdisjoint(source.split("\n")):
            other = _proposed(query, second, comparison_page)
            return templates.replaced(source, dict(zip(proposed, other, strict=True)))
    return source


def _proposed(query: str, language: str, comparison_page: str) -> list[str]:
    with in_language(language):
        return findings.propose(query, comparison_page).split("\n")
