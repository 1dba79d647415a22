"""A document as HTML: the one form that all others are made from."""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape, unescape
from typing import Any

import nh3
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin

from webapp.documents.parts import Document, Plate, Prose, Table, numbered
from webapp.documents.words import in_language, sentences
from webapp.drawing.files import draw
from webapp.drawing.style import IN_TEXT, LETTERS_OF_JAPANESE, Shape
from webapp.markdown import anchor, join_lines

_HEADING = re.compile(r'<h([2-3])[^>]*? id="([^"]+)"[^>]*>(.*?)</h\1>', re.DOTALL)
_ALIGNED = re.compile(r'(<t[dh]) style="text-align: ?(\w+);?"')  # pages take no style but that of their style sheet
RIGHT = 'class="num"'
_TAG = re.compile(r"<[^>]+>")
_WORD = re.compile(rf"[^\s{LETTERS_OF_JAPANESE}]+")  # what a line cannot be broken in
_LETTER = re.compile(f"[{LETTERS_OF_JAPANESE}]")
_MOST_LETTERS, _GAP = 85, 2  # of a line of a table on paper, and between its columns
_ALLOWED: dict[str, Any] = {
    "tags": {
        *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "em", "strong", "code", "pre", "blockquote", "a", "img"),
        *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "s", "sup", "sub"),
    },
    "attributes": {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "ol": {"start"}, "th": {"style"}}
    | {"td": {"style"}, "code": {"class"}, **{f"h{level}": {"id"} for level in range(1, 7)}},
    "filter_style_properties": {"text-align"},
    "url_schemes": {"http", "https", "mailto", "data"},
    "link_rel": "noopener noreferrer",
}
_Source = Callable[[Plate], str]


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents."""

    anchor: str
    text: str
    level: int


def html_of(markdown: str) -> SafeString:
    """Markdown → HTML in which nothing can run. Raw HTML in it is shown as text."""
    parser = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable(["table", "strikethrough"])
    parser.use(anchors_plugin, min_level=1, max_level=4, slug_func=_anchor)
    tokens = parser.parse(markdown)
    for token in tokens:
        join_lines(token.children or [])
    html = parser.renderer.render(tokens, parser.options, {})
    clean = nh3.clean(html, attribute_filter=_only_safe, **_ALLOWED)
    # Sanitised by nh3 in the line before.
    return mark_safe(_ALIGNED.sub(lambda found: found[1] + (f" {RIGHT}" if found[2] == "right" else ""), clean))  # noqa: S308


def _anchor(heading: str) -> str:
    """An id of a heading that no part of the page has: figure-1, table-1."""
    return f"s-{anchor(heading)}"


def _only_safe(element: str, attribute: str, value: str) -> str | None:
    """An image may stand in the text itself or in Teiten; one from elsewhere would tell its server who reads."""
    if attribute == "src":
        return value if re.match(r"/(?!/)|data:image/(png|jpeg|gif|webp);", value) else None
    return None if attribute == "href" and value.startswith("data:") else value


def contents(body: str) -> list[Entry]:
    found = _HEADING.findall(body)
    return [Entry(anchor, unescape(_TAG.sub("", text)).strip(), int(level)) for level, anchor, text in found]


def body(document: Document, source: _Source | None = None, *, numbers: bool = True) -> SafeString:
    """Return what stands below the title.

    source: of a figure, the address of its file; without, the figure itself stands in the text.
    numbers: whether captions begin with 'Figure 1.' and 'Table 1.'."""
    with in_language(document.language):
        return _body(document, source, numbers=numbers)


def _body(document: Document, source: _Source | None, *, numbers: bool) -> SafeString:
    place = f"@{secrets.token_hex(8)}@"  # that no text has: all of them are one text, whose headings are told apart
    text: list[str] = []
    drawn_parts: list[str] = []
    for part, number in numbered(document.parts):
        if isinstance(part, Prose):
            text.append(part.markdown)
            continue
        text.append(f"{place}{len(drawn_parts)}{place}")
        if isinstance(part, Table):
            table = _table(part, number if numbers else None)
            look = "scroll whole" if _words_fit(part) else "scroll"
            drawn_parts.append(table if source else f'<div class="{look}" id="table-{number}">{table}</div>')
        else:
            drawn_parts.append(_figure(part, number, source, numbered=numbers))
    html = str(html_of("\n\n".join(text)))
    for number, part_html in enumerate(drawn_parts):
        html = html.replace(f"<p>{place}{number}{place}</p>", part_html)
    # Of sanitised text, and of figures that Teiten draws.
    return mark_safe(html)  # noqa: S308


def _table(table: Table, number: int | None) -> str:
    def cell(tag: str, text: str, column: int, more: str = "") -> str:
        numeric = table.is_numeric(column)
        align = f" {RIGHT}" if numeric else ""
        return f"<{tag}{more}{align}>{_together(text) if numeric and tag == 'td' else escape(text)}</{tag}>"

    heading = "".join(cell("th", text, column, ' scope="col"') for column, text in enumerate(table.heading))
    rows = ["<tr>" + "".join(cell("td", text, n) for n, text in enumerate(row)) + "</tr>" for row in table.rows]
    caption = table.caption
    if number is not None:
        caption = gettext("Table {number}. {caption}").format(number=number, caption=caption)
    body_of_table = f"<thead><tr>{heading}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f"<table><caption>{escape(caption)}</caption>{body_of_table}</table>"


def _together(text: str) -> str:
    """Return a number's text, in which Japanese between blanks is not broken where all words have room."""
    return " ".join(f"<span>{escape(word)}</span>" if _LETTER.search(word) else escape(word) for word in text.split())


def _words_fit(table: Table) -> bool:
    """Whether the longest words of all columns have room beside each other, so that none need be broken."""
    columns = zip(table.heading, *table.rows, strict=False)
    widest = (max(map(_width, _words(" ".join(texts), table.is_numeric(n)))) for n, texts in enumerate(columns))
    return sum(width + _GAP for width in widest) <= _MOST_LETTERS


def _words(text: str, numeric: bool) -> list[str]:
    """What stays together: in a column of numbers Japanese does as well."""
    return [*(text.split() if numeric else _WORD.findall(text)), ""]


def _width(word: str) -> int:
    return len(word) + len(_LETTER.findall(word))


def _figure(plate: Plate, number: int, source: _Source | None, *, numbered: bool) -> str:
    picture = plate.picture
    title = escape(picture.title)
    address = source(plate) if source else f"data:image/svg+xml;base64,{base64.b64encode(drawn(plate, 'svg')).decode()}"
    text = gettext("Figure {number}. {title}.") if numbered else gettext("{title}.")
    caption = escape(sentences([text.format(number=number, title=picture.title), picture.caption]))
    image = f'<img src="{escape(address)}" alt="{title}">'
    return f'<figure id="figure-{number}">{image}<figcaption>{caption}</figcaption></figure>'


def drawn(plate: Plate, form: str, shape: Shape = IN_TEXT) -> bytes:
    """Return a figure as it stands in a document, whose text has its title and caption."""
    if plate.svg and form == "svg" and shape == IN_TEXT:
        return plate.svg
    return draw(replace(plate.picture, title="", caption=""), form, shape)


def alone(document: Document) -> str:
    """Return a page that needs no server: its style, figures and provenance are in it."""
    text = body(document)
    context = {"document": document, "body": text, "contents": contents(text)}
    with in_language(document.language):
        return render_to_string("documents/document.html", context)
