"""How Japanese is set: beside its punctuation there is no blank, also where a template ends a line."""

from __future__ import annotations

import re
from itertools import chain, zip_longest

from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from webapp.language import active_language

_RAW = re.compile(  # what is no sentence of a page, or whose lines are kept (.pre and .finds in static/css)
    r"(<(pre|textarea|script|style|title|option)\b.*?</\2>"
    r'|<(td|p)\b[^>]*? class="(?:[\w-]+ )*(?:pre|finds)[ "].*?</\3>)',
    re.DOTALL,
)
_INLINE = r"(?:</?(?:a|abbr|b|code|em|i|mark|small|span|strong|sub|sup|time)\b[^>]*+>)*+"
# Possessive, and from the first blank on: a long text takes as many steps as it has letters.
_BLANK = re.compile(rf"([、。：）」]{_INLINE})\s++(?={_INLINE}[^\s<])|(?<!\s)\s++(?=[（「])")


class JapaneseMiddleware(MiddlewareMixin):
    """Closes up the sentences and lists of pages in Japanese, of which templates have a line each."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_page = response.get("Content-Type", "").startswith("text/html") and "Content-Disposition" not in response
        if is_page and isinstance(response, HttpResponse) and active_language() == "ja":
            response.content = closed_up(response.content.decode()).encode()
        return response


def closed_up(html: str) -> str:
    """Return HTML without blanks beside Japanese punctuation, also where inline elements begin or end there.
    Attributes, code and raw text are left alone. Pure."""
    parts = _RAW.split(html)  # text, a raw element, the two groups of its name, text, …
    return "".join(chain.from_iterable(zip_longest(map(_without_blanks, parts[::4]), parts[1::4], fillvalue="")))


def _without_blanks(text: str) -> str:
    pieces: list[str] = []
    done = seen = 0
    in_tag = in_code = False  # whether what was seen last is within a tag, whose attributes have no '>', or in code
    for found in _BLANK.finditer(text):
        in_tag = _is_within("<", ">", text, seen, found.start(), before=in_tag)
        in_code = _is_within("<code", "</code", text, seen, found.start(), before=in_code)
        seen = found.start()
        if not in_tag and not in_code:
            pieces += [text[done : found.start()], found[1] or ""]
            done = found.end()
    return "".join([*pieces, text[done:]])


def _is_within(opening: str, closing: str, text: str, start: int, end: int, *, before: bool) -> bool:
    """Whether the end of a piece of text is between the two.

    before: whether its start is"""
    opened, closed = text.rfind(opening, start, end), text.rfind(closing, start, end)
    return opened > closed if opened != closed else before
