"""What a new report begins with: the sections of the working group's reports, with what can be generated filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized, pgettext_lazy
from webapp.documents.words import in_language
from webapp.reports.findings import NOTHING
from webapp.reports.source import block

_LINE = re.compile(r"^(#* *)(.*)$", re.MULTILINE)
_THROUGHPUT = (_("Throughput"), "")
_RATIO = (_("Ratio to the baseline"), "view=ratio")
_ALL_VERSIONS = _("All versions")
_PURPOSE = pgettext_lazy("section of a report", "Purpose")
_CONFIGURATION = pgettext_lazy("section of a report", "Configuration")
_METHOD = pgettext_lazy("section of a report", "Method")
_RESULTS = pgettext_lazy("section of a report", "Results")
_DISCUSSION = pgettext_lazy("section of a report", "Discussion")
_SUMMARY = pgettext_lazy("section of a report", "Summary")
_SECTIONS = (_PURPOSE, _CONFIGURATION, _METHOD, _RESULTS, _DISCUSSION, _SUMMARY)


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
        results.append(f"### {localized(_ALL_VERSIONS)}\n\n{block('grid')}")
    return "\n\n".join(
        (
            _section(_PURPOSE, localized(chosen.purpose)),
            _section(
                _CONFIGURATION,
                block("topology", run=runs[0]) if chosen.topology and runs else "",
                block("environment", query=query) if runs else "",
                block("settings", query=query) if runs else "",
            ),
            _section(_METHOD, *(block("method", run=run) for run in runs)),
            _section(_RESULTS, *(results if runs else ())),
            _section(_DISCUSSION, block("differences", query=query) if runs else ""),
            _section(_SUMMARY, findings),
        )
    )


def _section(heading: str, *texts: str) -> str:
    return "\n\n".join([f"## {localized(heading)}", *filter(None, texts)])


def _with(query: str, more: str) -> str:
    return f"{query}&{more}" if more else query


def translated(source: str, language: str, other: str) -> str:
    """Return a text with what `begin` wrote in one language in another, where it still stands so."""
    with in_language(language):
        own = [localized(line) for line in _lines()]
    with in_language(other):
        return replaced(source, dict(zip(own, map(localized, _lines()), strict=True)))


def replaced(source: str, lines: Mapping[str, str]) -> str:
    """Return a text with other words in its lines, whatever heading they are.

    lines: of a whole line, what it becomes"""
    return _LINE.sub(lambda found: found[1] + lines.get(found[2], found[2]), source)


def _lines() -> Iterator[str]:
    """Give all that `begin` writes between blocks."""
    yield from (*_SECTIONS, _ALL_VERSIONS, NOTHING)
    for kind in KINDS.values():
        yield kind.purpose
        yield from (title for title, _more in kind.views)
