"""Markdown of docs/ → HTML with anchors and a table of contents. HTML in the text is shown as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import east_asian_width

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.deflist import deflist_plugin

_OF_DOCS = re.compile(r"(?:\.{0,2}/)?([a-z-]+)\.md(#.*)?")


@dataclass(frozen=True)
class Heading:
    """A heading, or a word that is explained.

    level: 2, 3; words count as 2
    """

    anchor: str
    text: str
    level: int


@dataclass(frozen=True)
class Chapter:
    """A file of docs/.

    title: its first heading
    html: what stands below that
    anchors: of all its headings and words, in their order
    """

    slug: str
    language: str
    title: str
    html: SafeString
    contents: tuple[Heading, ...]
    anchors: tuple[str, ...]


def rendered(
    slug: str, language: str, text: str, addresses: Mapping[str, str], original: Chapter | None = None
) -> Chapter:
    """Return a file as a page.

    addresses: chapter → address; a link to any other file is its text alone, as a reader of the pages has no files.
    original: what it is a translation of: links to a heading there lead to the same heading here
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(deflist_plugin).use(anchors_plugin, min_level=1, max_level=4)
    tokens = parser.parse(text)
    for token in tokens:
        _readdress(token.children or [], addresses)
        join_lines(token.children or [])
    _anchor_words(tokens)
    title_at = next(index for index, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h1")
    title, contents, anchors = _plain(tokens[title_at + 1]), tuple(_contents(tokens)), tuple(_anchors(tokens))
    if original:
        _add_anchors(tokens, original.anchors)
    body = tokens[:title_at] + tokens[title_at + 3 :]
    # Of the chapters that come with Teiten.
    html = mark_safe(parser.renderer.render(body, parser.options, {}))  # noqa: S308
    return Chapter(slug, language, title, html, contents, anchors)


def _anchors(tokens: Sequence[Token]) -> Iterator[str]:
    return (str(token.attrs["id"]) for token in tokens if "id" in token.attrs)


def _add_anchors(tokens: Sequence[Token], anchors: Sequence[str]) -> None:
    """Give each heading and word the anchor besides that it has in another language, in place."""
    anchored = [(token, inline) for token, inline in pairwise(tokens) if "id" in token.attrs]
    for (token, inline), other in zip(anchored, anchors, strict=True):
        if other != token.attrs["id"] and inline.children is not None:
            inline.children.insert(0, Token("html_inline", "", 0, content=f'<a id="{other}"></a>'))


def _readdress(tokens: Sequence[Token], addresses: Mapping[str, str]) -> None:
    """Lead links between files to their pages, in place."""
    for token in tokens:
        target = str(token.attrs.get("href", ""))
        if token.type != "link_open" or target.startswith(("#", "https://", "http://")):
            continue
        match = _OF_DOCS.fullmatch(target)
        if match and match[1] in addresses:
            token.attrs["href"] = addresses[match[1]] + (match[2] or "")
        else:
            del token.attrs["href"]


def join_lines(tokens: Sequence[Token]) -> None:
    """Take the end of a line beside Japanese for nothing, in place: a browser would show a space."""
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token.type == "softbreak" and (_is_wide(before.content[-1:]) or _is_wide(after.content[:1])):
            token.type, token.content = "text", ""


def _is_wide(character: str) -> bool:
    return bool(character) and east_asian_width(character) in "WF"


def _anchor_words(tokens: Sequence[Token]) -> None:
    """Give each word of a list of words an anchor, in place: the first of 'series, histogram' stands for both."""
    for token, inline in pairwise(tokens):
        if token.type == "dt_open":
            token.attrs["id"] = anchor(_plain(inline).partition(",")[0])


def anchor(text: str) -> str:
    """'Noise, and planning by it' → 'noise-and-planning-by-it', as GitHub does."""
    return re.sub(r"[^\w-]", "", text.strip().lower().replace(" ", "-"))


def _contents(tokens: Sequence[Token]) -> Iterator[Heading]:
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.tag in ("h2", "h3"):
            yield Heading(str(token.attrs["id"]), _plain(inline), int(token.tag[1]))
        elif token.type == "dt_open":
            yield Heading(str(token.attrs["id"]), _plain(inline), 2)


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])
