"""What the page of trends calls its points and its changes. Pure."""

from __future__ import annotations

from django.utils.translation import gettext, ngettext, pgettext

from results.domain.statistics.verdict import Kind
from results.queries.trends.families import COMMIT, VERSION
from results.queries.trends.trends import Shift


def points_words(x: str, count: int) -> str:
    """Return how many points a line has: '12 runs'."""
    if x == VERSION:
        text = ngettext("{n} version", "{n} versions", count)
    elif x == COMMIT:
        text = ngettext("{n} commit", "{n} commits", count)
    else:
        text = ngettext("{n} run", "{n} runs", count)
    return text.format(n=count)


def change_words(shift: Shift) -> str:
    """Return how far the level went: '12.3 % higher'."""
    if shift.ratio is None:
        return gettext("from nothing")
    percent = f"{abs(shift.ratio - 1) * 100:.1f} %"
    text = gettext("{percent} higher") if shift.ratio > 1 else gettext("{percent} lower")
    return text.format(percent=percent)


def kind_words(kind: Kind) -> str:
    """Return what a change of level was, as opposed to what a verdict says of two configurations."""
    words = {
        Kind.BETTER: pgettext("change of level", "better"),
        Kind.WORSE: pgettext("change of level", "worse"),
        Kind.HIGHER: pgettext("change of level", "higher"),
        Kind.LOWER: pgettext("change of level", "lower"),
    }
    return words.get(kind, kind)
