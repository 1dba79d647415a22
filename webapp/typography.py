"""How Japanese is set: beside its punctuation there is no blank, also where a template ends a line."""

from __future__ import annotations

import re

from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin

_RAW = re.compile(r"(<(pre|textarea|script|style|title|option)\b.*?</\2>)", re.DOTALL)  # no sentences of a page
_INLINE = r"(?:</?(?:a|abbr|b|code|em|i|mark|small|span|strong|sub|sup|time)\b[^>]*+>)*+"
# Possessive, and from the first blank on: a long text takes as many steps as it has letters.
_BLANK = re.compile(rf"([、。：）」]{_INLINE})\s++(?={_INLINE}[^\s<])|(?<!\s)\s++(?=[（「])")


class JapaneseMiddleware(MiddlewareMixin):
    """Closes up the sentences and lists of pages in Japanese, of which templates have a line each."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_page = response.get("Content-Type", "").startswith("text/html")
        if is_page and isinstance(response, HttpResponse) and translation.get_language() == "ja":
            response.content = closed_up(response.content.decode()).encode()
        return response


def closed_up(html: str) -> str:
    """Return HTML without blanks beside Japanese punctuation, also where inline elements begin or end there. Attributes
    and raw text are left alone. Pure."""
    parts = _RAW.split(html)  # text, a raw element, its name, text, …
    parts[::3] = map(_without_blanks, parts[::3])
    del parts[2::3]
    return "".join(parts)


def _without_blanks(text: str) -> str:
    pieces: list[str] = []
    done = seen = 0
    in_tag = False  # whether what was seen last is within a tag, whose attributes have no '>'
    for found in _BLANK.finditer(text):
        opened, closed = (text.rfind(sign, seen, found.start()) for sign in "<>")
        in_tag = opened > closed if opened != closed else in_tag
        seen = found.start()
        if not in_tag:
            pieces += [text[done : found.start()], found[1] or ""]
            done = found.end()
    return "".join([*pieces, text[done:]])
