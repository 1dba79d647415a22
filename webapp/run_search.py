"""Which runs are listed: the parameters of the list's address. Pure.

state=failed&workload=pgbench&name=wal&plan=nightly&agent=db1&tag=paper&since=2026-01-01
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import quote_plus

from django.utils.translation import gettext, pgettext

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.states import RunState, Standing
from results.queries.shared.run_filter import Archived, RunFilterChoices, RunSearch
from webapp import run_filter
from webapp.chooser import Chip, Chips
from webapp.language import joined
from webapp.run_filter import any_of
from webapp.templatetags.teiten import state_words

STATE, STANDING, ARCHIVED, WORKLOAD, NAME = "state", "standing", "archived", "workload", "name"
SEVERAL = (WORKLOAD, run_filter.PLAN, run_filter.AGENT, run_filter.TAG)
DESCRIPTIONS = {
    STATE: f"Only runs of this state: {', '.join(RunState)}.",
    STANDING: f"Only runs of this standing: {', '.join(Standing)}.",
    ARCHIVED: "'yes': only archived runs; 'any': these too. Without it they are left out.",
    WORKLOAD: "Only runs of these workloads.",
    NAME: "Only runs with this text in their name, in capital or small letters.",
    run_filter.PLAN: "Only runs of these plans, by name.",
    run_filter.AGENT: "Only runs on these agents, by name.",
    run_filter.TAG: "Only runs with one of these tags.",
    run_filter.SINCE: "Only runs that started on this day (UTC) or later: 2026-01-31.",
    run_filter.UNTIL: "Only runs that started on this day (UTC) or before.",
}


def read(query: run_filter.Query) -> RunSearch:
    """Query parameters → RunSearch. Raises TeitenError for what is no date, and for another word than yes or any."""
    return RunSearch(
        runs=run_filter.read(query),
        state=query.get(STATE, "") or "",
        standing=query.get(STANDING, "") or "",
        archived=_read_archived(query.get(ARCHIVED, "") or ""),
        workloads=tuple(dict.fromkeys(text for text in query.getlist(WORKLOAD) if text)),
        name=(query.get(NAME, "") or "").strip(),
    )


def _read_archived(text: str) -> Archived:
    try:
        return Archived(text)
    except ValueError as error:
        todo = _("Say yes for only these, any for these too, or leave it out.")
        raise TeitenError(_("{text!r} is neither yes nor any.", text=text), where=ARCHIVED, todo=todo) from error


def write(search: RunSearch) -> str:
    """RunSearch → the shortest query string that `read` makes the same of."""
    own = [(STATE, search.state), (STANDING, search.standing), (ARCHIVED, search.archived.value)]
    own += [(WORKLOAD, text) for text in search.workloads]
    own += [(NAME, search.name)]
    parts = [f"{name}={quote_plus(text, safe='/:@')}" for name, text in own if text]
    return "&".join(part for part in (*parts, run_filter.write(search.runs)) if part)


def words(search: RunSearch) -> str:
    """'failed, of plan nightly, tagged paper'; '' where all runs are listed."""
    return joined(text for text, _rest in conditions(search))


def conditions(search: RunSearch) -> Iterator[tuple[str, RunSearch]]:
    """Yield each condition in words, and the search without it."""
    runs = search.runs
    if search.state:
        yield state_words(search.state), replace(search, state="")
    if search.standing:
        yield state_words(search.standing), replace(search, standing="")
    if search.archived:
        text = gettext("archived") if search.archived is Archived.ONLY else gettext("archived or not")
        yield text, replace(search, archived=Archived.NO)
    if search.workloads:
        yield gettext("of workload {names}").format(names=any_of(search.workloads)), replace(search, workloads=())
    if search.name:
        yield gettext("named like {name}").format(name=search.name), replace(search, name="")
    if runs.plans:
        yield gettext("of plan {names}").format(names=any_of(runs.plans)), replace(search, runs=replace(runs, plans=()))
    if runs.agents:
        yield (
            gettext("on agent {names}").format(names=any_of(runs.agents)),
            replace(search, runs=replace(runs, agents=())),
        )
    if runs.tags:
        yield gettext("tagged {names}").format(names=any_of(runs.tags)), replace(search, runs=replace(runs, tags=()))
    if runs.since:
        yield gettext("started since {day}").format(day=runs.since), replace(search, runs=replace(runs, since=None))
    if runs.until:
        yield gettext("started until {day}").format(day=runs.until), replace(search, runs=replace(runs, until=None))


def chips(search: RunSearch, choices: RunFilterChoices) -> tuple[Chips, ...]:
    """Return the chips of state, standing and workload; those of the rest are `run_filter.form`'s."""
    one_of = (
        _one_of(STATE, gettext("state"), list(RunState), search.state),
        _one_of(STANDING, gettext("standing"), list(Standing), search.standing),
        _archived(search.archived),
    )
    if len(choices.workloads) < 2 and not search.workloads:
        return one_of
    return (*one_of, run_filter.counted_chips(WORKLOAD, gettext("workload"), search.workloads, choices.workloads))


def _archived(chosen: Archived) -> Chips:
    words = {
        Archived.NO: pgettext("archived", "no"),
        Archived.ONLY: pgettext("archived", "only"),
        Archived.TOO: pgettext("archived", "shown too"),
    }
    every = tuple(Chip(value, value is chosen, text=text) for value, text in words.items())
    return Chips(ARCHIVED, gettext("archived"), every, single=True)


def _one_of(name: str, title: str, values: Sequence[str], chosen: str) -> Chips:
    every = Chip("", not chosen, text=gettext("all"))
    chips = (Chip(value, value == chosen, text=state_words(value)) for value in values)
    return Chips(name, title, (every, *chips), single=True)
