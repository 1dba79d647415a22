"""Which runs a page or an answer is made of: the parameters plan, agent, tag, since and until of its address. Pure, but
for what there is to choose from.

plan=nightly&agent=db1&tag=paper&since=2026-01-01&until=2026-06-30
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol
from urllib.parse import quote_plus

from django.utils.translation import gettext, pgettext

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.queries.shared.run_filter import RunFilter, RunFilterChoices
from webapp.chooser import Chip, Chips
from webapp.language import joined

PLAN, AGENT, TAG, SINCE, UNTIL = "plan", "agent", "tag", "since", "until"
NAMES = (PLAN, AGENT, TAG, SINCE, UNTIL)
DESCRIPTIONS = {
    PLAN: "Only kept runs of these plans, by name.",
    AGENT: "Only kept runs on these agents, by name.",
    TAG: "Only kept runs with one of these tags.",
    SINCE: "Only kept runs that started on this day (UTC) or later: 2026-01-31.",
    UNTIL: "Only kept runs that started on this day (UTC) or before.",
}
_MOST_CHIPS = 12


class Query(Protocol):
    """What a QueryDict offers."""

    def get(self, name: str, default: str, /) -> str | None: ...
    def getlist(self, name: str, /) -> Sequence[str]: ...


@dataclass(frozen=True)
class RunFilterForm:
    """The fields by which runs are chosen (`parts/_run_filter.html`).

    chips: of plans, agents and tags, those with something to choose.
    dates: (name, label, value) of the two dates.
    words: what is let through, '' where everything is.
    any_runs: whether there is a run to choose."""

    chips: tuple[Chips, ...]
    dates: tuple[tuple[str, str, str], ...]
    words: str
    any_runs: bool

    def __bool__(self) -> bool:
        return self.any_runs or bool(self.words)


def read(query: Query) -> RunFilter:
    """Query parameters → RunFilter. Raises TeitenError for what is no date."""
    return RunFilter(
        plans=_texts(query, PLAN),
        agents=_texts(query, AGENT),
        tags=_texts(query, TAG),
        since=_day(query, SINCE),
        until=_day(query, UNTIL),
    )


def pairs(chosen: RunFilter) -> list[tuple[str, str]]:
    """RunFilter → the parameters that `read` makes the same of; those that are not set are left out."""
    several = ((PLAN, chosen.plans), (AGENT, chosen.agents), (TAG, chosen.tags))
    days = ((SINCE, chosen.since), (UNTIL, chosen.until))
    texts = [(name, text) for name, texts in several for text in texts]
    return texts + [(name, day.isoformat()) for name, day in days if day]


def write(chosen: RunFilter) -> str:
    """RunFilter → the shortest query string that `read` makes the same of."""
    return "&".join(f"{name}={quote_plus(text, safe='/:@')}" for name, text in pairs(chosen))


def form(chosen: RunFilter, choices: RunFilterChoices, leave_out: Sequence[str] = ()) -> RunFilterForm:
    """Return the fields of a filter.

    leave_out: parameters that the page chooses by otherwise."""
    several = (
        (PLAN, gettext("plan"), chosen.plans, choices.plans),
        (AGENT, gettext("agent"), chosen.agents, choices.agents),
        (TAG, gettext("tag"), chosen.tags, choices.tags),
    )
    chips = (
        counted_chips(name, title, texts, counts)
        for name, title, texts, counts in several
        if name not in leave_out and (texts or len(counts) > 1 or (name == TAG and counts))
    )
    days = ((SINCE, pgettext("a date", "from"), chosen.since), (UNTIL, pgettext("a date", "to"), chosen.until))
    return RunFilterForm(
        chips=tuple(chips),
        dates=tuple((name, label, day.isoformat() if day else "") for name, label, day in days),
        words=words(chosen),
        any_runs=bool(choices.plans),
    )


def words(chosen: RunFilter) -> str:
    """'plan nightly, tag paper, since 2026-01-31'; '' where everything is let through."""
    return joined(_words(chosen))


def _words(chosen: RunFilter) -> Iterator[str]:
    if chosen.plans:
        yield gettext("plan {names}").format(names=any_of(chosen.plans))
    if chosen.agents:
        yield gettext("agent {names}").format(names=any_of(chosen.agents))
    if chosen.tags:
        yield gettext("tag {names}").format(names=any_of(chosen.tags))
    if chosen.since:
        yield gettext("since {day}").format(day=chosen.since)
    if chosen.until:
        yield gettext("until {day}").format(day=chosen.until)


def any_of(texts: Sequence[str]) -> str:
    """'nightly or weekly'"""
    return pgettext("between what any will do of", " or ").join(texts)


def counted_chips(name: str, title: str, texts: Sequence[str], counts: Sequence[tuple[str, int]]) -> Chips:
    """Return the chips of one parameter; what is chosen is among them though no run has it."""
    known = dict.fromkeys(texts, 0) | dict(counts)
    chips = tuple(Chip(text, text in texts, runs, empty=not runs) for text, runs in known.items())
    return Chips(name, title, chips, many=len(chips) > _MOST_CHIPS)


def _texts(query: Query, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in query.getlist(name) if text))


def _day(query: Query, name: str) -> date | None:
    text = query.get(name, "")
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise TeitenError(_("{text!r} is not a date.", text=text), where=name, todo=_("As 2026-01-31.")) from error
