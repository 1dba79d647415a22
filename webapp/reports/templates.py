"""What a new report begins with: the sections of the working group's reports, with what can be generated filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, pgettext

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized, pgettext_lazy
from webapp.reports.source import block

_THROUGHPUT = (_("Throughput"), "")
_RATIO = (_("Ratio to the baseline"), "view=ratio")


@dataclass(frozen=True)
class Kind:
    """A kind of report.

    purpose: what an author replaces by what was asked.
    views: what the results show: (heading, what follows the runs in a comparison's query), in this order.
    versions: whether the table of versions is among them.
    topology: whether the servers are drawn."""

    title: str
    purpose: str
    views: tuple[tuple[str, str], ...]
    versions: bool = False
    topology: bool = False


KINDS = {
    "observation": Kind(
        _("Fixed-point observation"),
        _("How does the new PostgreSQL compare with those before it, under the same load, on the same machine?"),
        (_THROUGHPUT, _RATIO),
        versions=True,
    ),
    "access-methods": Kind(
        _("Access methods"),
        _("What does another table access method cost or save: time, space, and what it can do?"),
        ((_("Each operation"), ""), (_("Ratio to heap"), "view=ratio")),
    ),
    "topology": Kind(
        _("Topology study"),
        _("What does an arrangement of servers cost or gain, and what happens when one of them fails?"),
        (_THROUGHPUT, _RATIO),
        topology=True,
    ),
    "parallel": Kind(
        _("Parallel query"),
        _("How much faster are long queries with more workers, and which of them are not?"),
        ((pgettext_lazy("of queries", "Duration"), ""), (_("Speed-up"), "view=speedup")),
    ),
    "storage": Kind(
        _("Storage study"),
        _("How do file system, cache and device change what the database can do?"),
        (_THROUGHPUT, _RATIO),
    ),
}


def begin(kind: str, runs: Sequence[int], findings: str = "") -> str:
    """Return the text that a report of this kind begins with, in the language that is active.

    findings: Markdown, where the summary begins with some"""
    chosen = KINDS[kind]
    query = f"run={','.join(map(str, runs))}"
    blocks = ["comparison", *("figure" for _view in chosen.views[1:])]
    results = [
        f"### {localized(title)}\n\n{block(name, query=_with(query, more))}"
        for name, (title, more) in zip(blocks, chosen.views, strict=True)
    ]
    if chosen.versions:
        heading = gettext("All versions")
        results.append(f"### {heading}\n\n{block('grid')}")
    return "\n\n".join(
        (
            _section(pgettext("section of a report", "Purpose"), localized(chosen.purpose)),
            _section(
                pgettext("section of a report", "Configuration"),
                block("topology", run=runs[0]) if chosen.topology and runs else "",
                block("environment", query=query) if runs else "",
                block("settings", query=query) if runs else "",
            ),
            _section(pgettext("section of a report", "Method"), *(block("method", run=run) for run in runs)),
            _section(pgettext("section of a report", "Results"), *(results if runs else ())),
            _section(pgettext("section of a report", "Discussion"), block("differences", query=query) if runs else ""),
            _section(pgettext("section of a report", "Summary"), findings),
        )
    )


def _section(heading: str, *texts: str) -> str:
    return "\n\n".join([f"## {heading}", *filter(None, texts)])


def _with(query: str, more: str) -> str:
    return f"{query}&{more}" if more else query
