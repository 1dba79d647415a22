"""Cells of the tables of access methods. Functions, and no template: a page has hundreds of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from results.domain.statistics.verdict import Verdict
from results.domain.units import format_quantity
from results.queries.comparison.compare import Point
from results.queries.presets.access_method_summary import SummaryCell
from webapp.language import active_language
from webapp.links import trial_urls
from webapp.templatetags.teiten import interval, ratio, verdict_words

register = template.Library()
_NOTHING = '<span class="faint">–</span>'


@register.simple_tag
def number_cells(points: Iterable[Point | None], unit: str) -> SafeString:
    """The cells of a line of a metric's table: value, ratio to the heap, replicates and verdict."""
    common = _Common.of_page()
    cells = (f'<td class="num nowrap">{_number(point, unit, common) if point else _NOTHING}</td>' for point in points)
    return mark_safe("".join(cells))  # noqa: S308


@register.simple_tag
def summary_cells(cells: Iterable[SummaryCell | None]) -> SafeString:
    """The cells of an access method in the table of questions: a number with its verdict, or what several reach."""
    common = _Common.of_page()
    summed_up = (_summed_up(cell, common) if cell else _NOTHING for cell in cells)
    return mark_safe("".join(f'<td class="num">{text}</td>' for text in summed_up))  # noqa: S308


@dataclass(frozen=True)
class _Common:
    """What the cells of a page have in common.

    address: of a trial, by its id.
    language: the active one."""

    address: Callable[[int], str]
    language: str

    @classmethod
    def of_page(cls) -> _Common:
        return cls(trial_urls(), active_language())


def _number(point: Point, unit: str, common: _Common) -> str:
    compared = f' <span class="soft">{ratio(point.ratio)}</span>' if point.verdict and point.ratio is not None else ""
    verdict = f" · {_verdict(point.verdict, common)}" if point.verdict else ""
    return f'{_value(point, unit, common)}{compared} <br> <small class="faint">n = {point.n}{verdict}</small>'


def _value(point: Point, unit: str, common: _Common, classes: str = "") -> str:
    address = escape(common.address(point.values[0].trial_id))
    return f'<a{classes} href="{address}">{escape(format_quantity(point.value, unit))}</a>'


def _verdict(verdict: Verdict, common: _Common) -> str:
    words = _words(verdict.kind, common.language)
    return f'<span class="verdict {verdict.kind}" title="{escape(interval(verdict))}">{words}</span>'


@lru_cache
def _words(kind: str, language: str) -> str:
    """Return a verdict in the language, which is the active one."""
    return escape(verdict_words(kind))


def _summed_up(cell: SummaryCell, common: _Common) -> str:
    if cell.only:
        return _only(cell.only, cell.metric.unit, common)
    if cell.reach:
        return _reach(cell, *cell.reach, common)
    text = escape(gettext("%(n)s values") % {"n": len(cell.points)})
    return f'<small class="faint">{text}</small>'


def _only(point: Point, unit: str, common: _Common) -> str:
    value = _value(point, unit, common, ' class="nowrap"')
    if point.verdict is None or point.ratio is None:
        return value
    return f"{value} <b>{ratio(point.ratio)}</b> {_verdict(point.verdict, common)}"


def _reach(cell: SummaryCell, least: float, most: float, common: _Common) -> str:
    several = f" … {ratio(most)}" if len(cell.compared) > 1 else ""
    counts = []
    for kind, count in cell.kinds.items():
        words = {"n": count, "verdict": _words(kind, common.language), "kind": kind}
        text = gettext('%(n)s <span class="verdict %(kind)s">%(verdict)s</span>') % words
        counts.append(f'<span class="nowrap">{text}</span>')
    return f"<b>{ratio(least)}{several}</b> <small>{' '.join(counts)}</small>"
