"""How Japanese is set: beside its punctuation there is no blank, also where a template ends a line."""

from __future__ import annotations

import re

from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin

_RAW = re.compile(r"(<(pre|textarea|script|style|title|option)\b.*?</\2>)", re.DOTALL)  # no sentences of a page
_INLINE = r"(?:</?(?:a|abbr|b|code|em|i|mark|small|span|strong|sub|sup|time)\b[^>]*>)*"
_BLANK = re.compile(rf"([、。：）」]{_INLINE})\s+(?={_INLINE}[^\s<])|\s+(?=[（「])")


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
    parts[::3] = [_BLANK.sub(lambda found: found[0] if _in_tag(found) else found[1] or "", text) for text in parts[::3]]
    del parts[2::3]
    return "".join(parts)


def _in_tag(found: re.Match[str]) -> bool:
    """Whether a match begins within a tag, whose attributes have no '>'."""
    return found.string.rfind("<", 0, found.start()) > found.string.rfind(">", 0, found.start())
