"""Cells of tables of capabilities. Functions, and no template: a page has hundreds of them."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from webapp.links import trial_url
from webapp.templatetags.teiten import answer_words, duration, moment

register = template.Library()
_GLYPHS = {"yes": "✓", "partly": "◐", "chose-not-to": "↷", "fails-differently": "≠", "unknown": "?"}
_NOTHING = SafeString("")


@register.simple_tag
def capability_cell(cell: Any) -> SafeString:
    """The cell of an answer (`CapabilityRow`, or `Answer` on its own trial's page), None where nothing was checked: the
    outcome, and what it rests on to be opened."""
    if not cell:
        return format_html('<td class="faint">– {}</td>', gettext("not checked"))
    return format_html(
        '<td><details class="answer {}"><summary><span aria-hidden="true">{}</span> {}</summary>'
        "<div>{}{}{}<p>{}</p></div></details></td>",
        cell.outcome,
        _GLYPHS.get(cell.outcome, "✕"),
        answer_words(cell.outcome),
        format_html('<p class="said">{}</p>', cell.message) if cell.message else _NOTHING,
        _decided(cell) if cell.statement else _NOTHING,
        _compared(cell) if cell.compared else _NOTHING,
        _origin(cell),
    )


def _decided(cell: Any) -> SafeString:
    by = gettext("Decided by this statement:")
    if cell.sqlstate:
        by = gettext("Decided by this statement, SQLSTATE %(state)s:") % {"state": cell.sqlstate}
    return format_html('<p class="decided">{}</p><pre class="statement">{}</pre>', by, cell.statement)


def _compared(cell: Any) -> SafeString:
    return format_html('<p class="compared">{}</p>', gettext("Compared: %(things)s.") % {"things": cell.compared})


def _origin(cell: Any) -> SafeString:
    """Return the trial, and when and for how long it was checked."""
    trial_id = getattr(cell, "trial_id", None)
    took = format_html('<span class="faint">{}</span>', _when(cell, duration(cell.seconds)))
    if not trial_id:
        return took
    text = gettext("trial %(id)s") % {"id": trial_id}
    return format_html('<a href="{}">{}</a> {}', trial_url(trial_id), text, took)


def _when(cell: Any, took: str) -> SafeString | str:
    if getattr(cell, "published", False):
        return gettext("published, not tried here")
    measured_at = getattr(cell, "measured_at", None)
    return format_html("{} · {}", moment(measured_at), took) if measured_at else took
