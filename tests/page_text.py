"""A page's HTML as tests read it: white space only where a reader of the page sees some."""

from __future__ import annotations

import re

from django.http import HttpResponseBase

BLOCKS = frozenset(
    """
    html head body title meta link script style header nav main section article aside footer div p h1 h2 h3 h4 h5 h6
    ul ol li dl dt dd table thead tbody tfoot tr th td caption colgroup col form fieldset legend details summary
    figure figcaption blockquote hr br select option optgroup label input button template progress
    svg g line rect path circle text title desc
    """.split()  # noqa: SIM905 - a list would take a line a name
)
VERBATIM = ("pre", "textarea", "script", "style")
_TAG = re.compile(r"""(<!--.*?-->|<!doctype[^>]*>|</?[a-z](?:"[^"]*"|'[^']*'|[^>"'])*>)""", re.S | re.I)


def page_text(response: HttpResponseBase) -> str:
    """The page of a response: see `as_read`."""
    return as_read(response.content.decode())  # type: ignore[attr-defined]


def as_read(html: str) -> str:
    """HTML with white space as a browser shows it: none beside a block, one space elsewhere, before an opening tag
    and behind a closing one; attributes on one line; what stands in <pre>, <textarea> and <script> unchanged."""
    parts: list[str] = []
    at_start, pending, verbatim = True, False, 0
    for part in _TAG.split(html):
        if not _TAG.fullmatch(part):
            if verbatim:
                parts.append(part)
                continue
            words = part.split()
            if not words:
                pending = pending or bool(part)
                continue
            if (pending or part[0].isspace()) and not at_start:
                parts.append(" ")
            parts.append(" ".join(words))
            at_start, pending = False, part[-1].isspace()
            continue
        name = re.sub(r"[^a-z0-9].*", "", part.lstrip("</").lower(), flags=re.S)
        closing = part.startswith("</")
        if name in VERBATIM:
            verbatim += -1 if closing else 1
        if name in BLOCKS or not name:
            at_start, pending = True, False
        elif pending and not at_start and not closing:
            parts.append(" ")
            at_start, pending = True, False
        parts.append(_one_line(part))
    return "".join(parts)


def _one_line(tag: str) -> str:
    """A tag whose attributes stand on one line, values as they are."""
    pieces = re.split(r"""("[^"]*"|'[^']*')""", tag)
    pieces[::2] = [re.sub(r"\s+", " ", piece) for piece in pieces[::2]]
    return re.sub(r" >$", ">", "".join(pieces))
