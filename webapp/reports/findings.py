"""The findings of a comparison's runs in words, for an author to change: what the verdicts of the main metrics say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from django.utils.translation import gettext

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.queries.comparison.compare import compare
from results.queries.presets.versions import METRICS
from results.queries.shared.selection import Selection
from webapp import urlstate
from webapp.compare import words
from webapp.documents.parts import escaped
from webapp.exports.comparison import lead

NOTHING = _("No verdict can be proposed: nothing is compared with a baseline, or cells mix different configurations.")


def propose(query: str, comparison_page: str) -> str:
    """Return a Markdown list with an item for each of the main metrics that the runs have: the first one of the
    comparison, then those that explain it. Some ten queries a metric. Raises TeitenError.

    query: of a comparison.
    comparison_page: address of the page, for links"""
    return "\n".join(_items(urlstate.read(query.removeprefix("?")), comparison_page)) or localized(NOTHING)


def _items(selection: Selection, page: str) -> Iterator[str]:
    first = compare(selection)
    there = {choice.name for choice in first.metrics}
    chosen = first.metric.name
    for metric in (chosen, *(name for name in METRICS if name in there and name != chosen)):
        asked = selection if metric == chosen else replace(selection, metric=metric, node="", label="")
        comparison = first if metric == chosen else compare(asked)
        if text := lead(comparison):
            item = gettext("- {finding} ([{comparison}]({address}))")
            heading, address = escaped(words.heading(comparison)), f"{page}?{urlstate.write(asked)}"
            yield item.format(finding=text, comparison=heading, address=address)
