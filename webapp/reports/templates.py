"""What a new report begins with: the sections of the working group's reports, with what can be generated filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.reports.source import block

_SECTIONS = ("Purpose", "Configuration", "Method", "Results", "Discussion", "Summary")
_HEADINGS = {"ja": dict(zip(_SECTIONS, ("目的", "構成", "方法", "結果", "考察", "まとめ"), strict=True))}


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
        "Fixed-point observation",
        "How does the new PostgreSQL compare with those before it, under the same load, on the same machine?",
        (("Throughput", ""), ("Ratio to the baseline", "view=ratio")),
        versions=True,
    ),
    "access-methods": Kind(
        "Access methods",
        "What does another table access method cost or save: time, space, and what it can do?",
        (("Each operation", ""), ("Ratio to heap", "view=ratio")),
    ),
    "topology": Kind(
        "Topology study",
        "What does an arrangement of servers cost or gain, and what happens when one of them fails?",
        (("Throughput", ""), ("Ratio to the baseline", "view=ratio")),
        topology=True,
    ),
    "parallel": Kind(
        "Parallel query",
        "How much faster are long queries with more workers, and which of them are not?",
        (("Duration", ""), ("Speed-up", "view=speedup")),
    ),
    "storage": Kind(
        "Storage study",
        "How do file system, cache and device change what the database can do?",
        (("Throughput", ""), ("Ratio to the baseline", "view=ratio")),
    ),
}


def begin(kind: str, runs: Sequence[int], language: str = "en", findings: str = "") -> str:
    """Return the text that a report of this kind begins with.

    findings: Markdown, where the summary begins with some"""
    chosen = KINDS[kind]
    query = f"run={','.join(map(str, runs))}"
    heading = _HEADINGS.get(language, {})

    def section(name: str, *texts: str) -> str:
        return "\n\n".join([f"## {heading.get(name, name)}", *filter(None, texts)])

    results = [f"### {title}\n\n{block('comparison', query=_with(query, more))}" for title, more in chosen.views[:1]]
    results += [f"### {title}\n\n{block('figure', query=_with(query, more))}" for title, more in chosen.views[1:]]
    if chosen.versions:
        results.append(f"### All versions\n\n{block('grid')}")
    return "\n\n".join(
        (
            section("Purpose", chosen.purpose),
            section(
                "Configuration",
                block("topology", run=runs[0]) if chosen.topology and runs else "",
                block("environment", query=query) if runs else "",
                block("settings", query=query) if runs else "",
            ),
            section("Method", *(block("method", run=run) for run in runs)),
            section("Results", *(results if runs else ())),
            section("Discussion", block("differences", query=query) if runs else ""),
            section("Summary", findings),
        )
    )


def _with(query: str, more: str) -> str:
    return f"{query}&{more}" if more else query
