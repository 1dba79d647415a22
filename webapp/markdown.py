"""Markdown of docs/ → HTML with anchors and a table of contents. HTML in the text is shown as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.deflist import deflist_plugin

_OF_DOCS = re.compile(r"(?:\.?/)?([a-z-]+)\.md(#.*)?")


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
    """

    slug: str
    title: str
    html: SafeString
    contents: tuple[Heading, ...]


def rendered(slug: str, text: str, addresses: Mapping[str, str]) -> Chapter:
    """Return a file as a page.

    addresses: chapter → address; a link to any other file is its text alone, as a reader of the pages has no files.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(deflist_plugin).use(anchors_plugin, min_level=1, max_level=4)
    tokens = parser.parse(text)
    for token in tokens:
        _readdress(token.children or [], addresses)
    _anchor_words(tokens)
    title_at = next(index for index, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h1")
    body = tokens[:title_at] + tokens[title_at + 3 :]
    # Of the chapters that come with Teiten.
    html = mark_safe(parser.renderer.render(body, parser.options, {}))  # noqa: S308
    return Chapter(slug, _plain(tokens[title_at + 1]), html, tuple(_contents(tokens)))


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
