"""The line under a headline that says what its numbers rest on, each fact with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext

from results.domain.messages import localized
from results.domain.statistics.trust import Fact, Trust
from results.queries.comparison.cells import Comparison
from results.queries.comparison.trust import trust_in

_IN_TABLE = ("replicates", "spread", "detectable")
_NOISE = "noise"


@dataclass(frozen=True)
class TrustLine:
    """What a page shows of the facts.

    basis: what the headline says of them.
    facts: each with the address of what it comes from."""

    basis: str
    is_weak: bool
    facts: tuple[tuple[Fact, str], ...]


def trust_line(trust: Trust, comparison: Comparison, address: str = "") -> TrustLine:
    """Return the line. Pure.

    address: of the comparison, where the line stands on another page."""
    facts = tuple((fact, next(_sources(fact, comparison, address))) for fact in trust.facts)
    return TrustLine(trust.basis, trust.is_weak, facts)


def _sources(fact: Fact, comparison: Comparison, address: str) -> Iterator[str]:
    """Give where a fact comes from, the nearest first."""
    if fact.name in _IN_TABLE:
        yield f"{address}#table"
    if fact.trial_id is not None:
        yield reverse("trials:detail", args=[fact.trial_id])
    if fact.name == _NOISE and fact.run_id is None:  # nothing measured it: how it is measured
        yield reverse("manual:page", args=["method"]) + "#noise-and-planning-by-it"
    run = fact.run_id or comparison.selection.runs[0]
    yield reverse("runs:detail", args=[run])


def trust_text(comparison: Comparison) -> str:
    """Return the facts as one line of plain text, those that are not fine with their grade; two queries."""
    return " · ".join(map(_fact_text, trust_in(comparison).facts))


def _fact_text(fact: Fact) -> str:
    words, grade = localized(fact.words), localized(fact.grade.words)
    return gettext("{fact} ({grade})").format(fact=words, grade=grade) if grade else words
