"""In which language a command speaks, and how its help is set in one whose words have no space between them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from django.conf import settings
from django.core.management.base import DjangoHelpFormatter
from rich.cells import cell_len

from results.domain.messages import LANGUAGES, ORIGINAL

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first one that is set counts, as for gettext
# A line does not end after an opening bracket, nor begin with a mark that ends something.
_PIECE = re.compile(r"\s+|[「『（]*(?:[!-~]+|[^\s!-~])[、。：」』）…ー々っゃゅょッャュョ]*")


def of_terminal(environ: Mapping[str, str], encoding: str | None) -> str:
    """Return the language of a terminal's locale, TEITEN_LANGUAGE where that names none that Teiten has; English where
    the terminal cannot show it.

    encoding: of standard output; None where that takes any text
    """
    locale = next((environ[name] for name in _VARIABLES if environ.get(name)), "")
    language = re.split(r"[_.@]", locale)[0]
    if language in ("C", "POSIX"):
        return ORIGINAL
    language = language if language in LANGUAGES else settings.LANGUAGE_CODE
    return language if encoding is None or _can_show(encoding, LANGUAGES[language]) else ORIGINAL


def _can_show(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class HelpFormatter(DjangoHelpFormatter):
    """Django's, which wraps wide characters by the columns that they take."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return super()._split_lines(text, width) if cell_len(text) == len(text) else wrapped(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if cell_len(text) == len(text):
            return super()._fill_text(text, width, indent)
        return "\n".join(indent + line for line in wrapped(text, width - len(indent)))


def wrapped(text: str, columns: int) -> list[str]:
    """Return the lines of a text that may break between any two wide characters."""
    lines = [""]
    for piece in _PIECE.findall(text):
        if lines[-1] and cell_len(lines[-1] + piece) > columns:
            lines.append("")
        lines[-1] = (lines[-1] + piece).lstrip()
    return [line.rstrip() for line in lines]
