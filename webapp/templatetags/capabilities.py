"""Cells of tables of capabilities. Functions, and no template: a page has hundreds of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from django import template
from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from results.queries.agents.capabilities import OUTCOMES
from webapp.language import active_language
from webapp.links import trial_urls
from webapp.templatetags.teiten import answer_words, duration, moment

register = template.Library()
_GLYPHS = {"yes": "✓", "partly": "◐", "chose-not-to": "↷", "fails-differently": "≠", "unknown": "?"}


@register.simple_tag
def capability_cell(cell: Any) -> SafeString:
    """The cell of an answer (`CapabilityRow`, or `Answer` on its own trial's page), None where nothing was checked: the
    outcome, and what it rests on to be opened."""
    return capability_cells([cell])


@register.simple_tag
def capability_cells(cells: Iterable[Any]) -> SafeString:
    """The cells of a line, as of `capability_cell`."""
    words, address = _words(active_language()), trial_urls()
    return mark_safe("".join(_cell(cell, words, address) if cell else words.nothing for cell in cells))  # noqa: S308


@dataclass(frozen=True)
class _Words:
    """What cells have in common, as HTML in one language; what ends in _form has a place for a text.

    heads: outcome → how its cell begins."""

    language: str
    heads: Mapping[str, str]
    nothing: str
    decided: str
    decided_form: str
    compared_form: str
    trial_form: str
    published: str


@lru_cache
def _words(language: str) -> _Words:
    """Return the words in the language, which is the active one."""
    return _Words(
        language=language,
        heads={outcome: _head(outcome) for outcome in OUTCOMES},
        nothing=f'<td class="faint">– {escape(gettext("not checked"))}</td>',
        decided=escape(gettext("Decided by this statement:")),
        decided_form=escape(gettext("Decided by this statement, SQLSTATE %(state)s:")),
        compared_form=escape(gettext("Compared: %(things)s.")),
        trial_form=escape(gettext("trial %(id)s")),
        published=escape(gettext("published, not tried here")),
    )


def _head(outcome: str) -> str:
    glyph, words = _GLYPHS.get(outcome, "✕"), escape(answer_words(outcome))
    return (
        f'<td><details class="answer {escape(outcome)}"><summary><span aria-hidden="true">{glyph}</span> {words}'
        "</summary><div>"
    )


def _cell(cell: Any, words: _Words, address: Callable[[int], str]) -> str:
    head = words.heads.get(cell.outcome) or _head(cell.outcome)
    message = f'<p class="said">{conditional_escape(cell.message)}</p>' if cell.message else ""
    decided = _decided(cell, words) if cell.statement else ""
    compared = _compared(cell, words) if cell.compared else ""
    return f"{head}{message}{decided}{compared}<p>{_origin(cell, words, address)}</p></div></details></td>"


def _decided(cell: Any, words: _Words) -> str:
    by = words.decided_form % {"state": escape(cell.sqlstate)} if cell.sqlstate else words.decided
    return f'<p class="decided">{by}</p><pre class="statement">{escape(cell.statement)}</pre>'


def _compared(cell: Any, words: _Words) -> str:
    return f'<p class="compared">{words.compared_form % {"things": conditional_escape(cell.compared)}}</p>'


def _origin(cell: Any, words: _Words, address: Callable[[int], str]) -> str:
    """Return the trial, and when and for how long it was checked."""
    trial_id = getattr(cell, "trial_id", None)
    took = f'<span class="faint">{_when(cell, words)}</span>'
    if not trial_id:
        return took
    return f'<a href="{escape(address(trial_id))}">{words.trial_form % {"id": trial_id}}</a> {took}'


def _when(cell: Any, words: _Words) -> str:
    if getattr(cell, "published", False):
        return words.published
    took = _took(cell.seconds, words.language)
    measured_at = getattr(cell, "measured_at", None)
    return f"{_moment(measured_at)} · {took}" if measured_at else took


@lru_cache(1_000)
def _moment(at: datetime) -> str:
    """Return a time, which all checks of an attempt share."""
    return moment(at)


@lru_cache(1_000)
def _took(seconds: float, language: str) -> str:
    """Return how long a check took, in the language, which is the active one: many take as long."""
    return escape(duration(seconds))
