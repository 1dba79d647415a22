"""What table access methods can do: the newest answer to each check, of every build, access method and agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from heapq import nlargest
from typing import Any

from results import sql
from results.domain.stored_texts import in_english
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.run_filter import NO_FILTER, RunFilter, RunSearch, conditioned, parameters
from results.queries.shared.words import as_messages

OUTCOMES = ("yes", "partly", "chose-not-to", "fails-differently", "cannot", "no", "unknown")
"""no: of trials from before cannot, chose-not-to and fails-differently were told apart."""
_PUBLISHED = datetime.min.replace(tzinfo=UTC)  # what was tried here is newer than what others say
WORKLOAD = "capabilities"
MOST_BUILDS = 16  # that a page shows
_TEXTS = ("title", "group", "message", "compared")
FILTERS = ("installation", "access_method", "agent", "capability")


@dataclass(frozen=True)
class CapabilityRow:
    """One answer.

    outcome: one of OUTCOMES; unknown where it could not be tried.
    message: the server's words, or what was found.
    compared: what was held against what.
    statement, sqlstate: the SQL (or the command) that decided, and the server's code, '' where there is none.
    order: place among the checks of its trial.
    published: said in a report, not tried; measured_at is None then."""

    id: int
    capability: str
    title: str
    group: str
    order: int
    outcome: str
    message: str
    compared: str
    statement: str
    sqlstate: str
    seconds: float
    installation: str
    version: str
    access_method: str
    agent: str
    run_id: int
    trial_id: int
    measured_at: datetime | None
    published: bool

    def __post_init__(self) -> None:
        as_messages(self, *_TEXTS)


@dataclass(frozen=True)
class Answer:
    """One answer within its attempt; fields as of CapabilityRow."""

    capability: str
    title: str
    group: str
    outcome: str
    message: str
    compared: str
    statement: str
    sqlstate: str
    seconds: float

    def __post_init__(self) -> None:
        as_messages(self, *_TEXTS)


@dataclass(frozen=True)
class _StoredRow(CapabilityRow):
    """messages: what its texts were made of; None of older answers."""

    messages: Any


@dataclass(frozen=True)
class _StoredAnswer(Answer):
    messages: Any


@dataclass(frozen=True)
class Build:
    """A column: one access method in one installation on one agent.

    counts: outcome → how many, of the rows chosen.
    measured_at: of its newest answer; None where all are published."""

    installation: str
    access_method: str
    agent: str
    counts: Mapping[str, int]
    measured_at: datetime | None


@dataclass(frozen=True)
class Line:
    """A row: one capability.

    cells: one a build, None where it was never checked.
    alike: yes everywhere."""

    capability: str
    title: str
    cells: tuple[CapabilityRow | None, ...]

    @property
    def alike(self) -> bool:
        return all(cell is not None and cell.outcome == "yes" for cell in self.cells)


@dataclass(frozen=True)
class CapabilityMatrix:
    """Which access method of which build can do what.

    groups: (name, lines) in the order of the checks.
    choices: filter → every value that there is.
    hidden: builds that are left out."""

    builds: tuple[Build, ...]
    groups: tuple[tuple[str, tuple[Line, ...]], ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hidden: int = 0

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(line for _, lines in self.groups for line in lines)

    def of_newest(self, most: int) -> CapabilityMatrix:
        """The same with no more builds than this, those that were checked last, and what was checked of them."""
        if len(self.builds) <= most:
            return self

        def newest_first(place: int) -> tuple[datetime, int]:
            return self.builds[place].measured_at or _PUBLISHED, -place

        places = sorted(nlargest(most, range(len(self.builds)), newest_first))
        groups = ((name, tuple(_narrowed(lines, places))) for name, lines in self.groups)
        return replace(
            self,
            builds=tuple(self.builds[place] for place in places),
            groups=tuple((name, lines) for name, lines in groups if lines),
            hidden=len(self.builds) - most,
        )


def _narrowed(lines: Iterable[Line], places: Sequence[int]) -> Iterator[Line]:
    """Yield lines with the cells at these places, where any of them was checked."""
    for line in lines:
        cells = tuple(line.cells[place] for place in places)
        if any(cells):
            yield replace(line, cells=cells)


def newest_answers(
    chosen: Mapping[str, Sequence[str]] | None = None, runs: RunFilter = NO_FILTER
) -> list[CapabilityRow]:
    """The newest counted answer of each (installation, access method, agent, capability). One query.

    chosen: filter → the values let through, none for all.
    runs: those that answers are taken from."""
    return _chosen(_newest(runs), chosen)


def _newest(runs: RunFilter) -> list[CapabilityRow]:
    newest = sql.load(__file__, "capabilities_of_runs" if runs else "capabilities_newest")
    query = conditioned(sql.load(__file__).replace("{newest}", newest))
    search = parameters(RunSearch(runs, workloads=(WORKLOAD,))) if runs else {}
    rows = sql.rows(_StoredRow, query, search)
    return [CapabilityRow(**in_english(vars(row))) for row in rows]


def answers_of(attempt_id: int) -> tuple[Answer, ...]:
    """The answers of one attempt, in the order of its checks. One query."""
    rows = sql.rows(_StoredAnswer, _OF_ATTEMPT, {"attempt_id": attempt_id})
    return tuple(Answer(**in_english(vars(row))) for row in rows)


def capability_matrix(
    chosen: Mapping[str, Sequence[str]] | None = None, runs: RunFilter = NO_FILTER
) -> CapabilityMatrix:
    """The answers as a table; chosen and runs as of `newest_answers`. One query."""
    rows = _newest(runs)
    shown = _chosen(rows, chosen)
    choices = {name: sorted_levels([getattr(row, name) for row in rows], name) for name in FILTERS}
    builds = _builds(shown, choices)
    return CapabilityMatrix(builds, tuple(_groups(shown, builds)), choices)


def _chosen(rows: list[CapabilityRow], chosen: Mapping[str, Sequence[str]] | None) -> list[CapabilityRow]:
    filters = {name: values for name, values in (chosen or {}).items() if values}
    return [row for row in rows if all(getattr(row, name) in values for name, values in filters.items())]


def _builds(rows: Sequence[CapabilityRow], choices: Mapping[str, tuple[str, ...]]) -> tuple[Build, ...]:
    """By installation, then access method with heap first, then agent."""
    counts: dict[tuple[str, str, str], dict[str, int]] = {}
    newest: dict[tuple[str, str, str], datetime | None] = {}
    for row in rows:
        build = counts.setdefault(_build_of(row), dict.fromkeys(OUTCOMES, 0))
        build[row.outcome] += 1
        times = [at for at in (row.measured_at, newest.get(_build_of(row))) if at]
        newest[_build_of(row)] = max(times, default=None)

    def place(build: tuple[str, str, str]) -> tuple[int, bool, str, int]:
        installation, method, agent = build
        return choices["installation"].index(installation), method != "heap", method, choices["agent"].index(agent)

    return tuple(Build(*build, counts[build], newest[build]) for build in sorted(counts, key=place))


def _groups(rows: Sequence[CapabilityRow], builds: Sequence[Build]) -> list[tuple[str, tuple[Line, ...]]]:
    """In the order that the checks had in the newest trial of each: a group stands where its first check does."""
    columns = [(build.installation, build.access_method, build.agent) for build in builds]
    cells = {(row.capability, _build_of(row)): row for row in rows}
    newest = {row.capability: row for row in sorted(rows, key=lambda row: row.measured_at or _PUBLISHED)}
    firsts: dict[str, int] = {}
    for row in newest.values():
        firsts[row.group] = min(firsts.get(row.group, row.order), row.order)
    heads = sorted(newest.values(), key=lambda row: (firsts[row.group], row.group, row.order, row.capability))
    groups: dict[str, list[Line]] = {}
    for head in heads:
        of_line = tuple(cells.get((head.capability, column)) for column in columns)
        groups.setdefault(head.group, []).append(Line(head.capability, head.title, of_line))
    return [(name, tuple(lines)) for name, lines in groups.items()]


def _build_of(row: CapabilityRow) -> tuple[str, str, str]:
    return row.installation, row.access_method, row.agent


_OF_ATTEMPT = """
SELECT label AS capability, content ->> 'title' AS title, content ->> 'group' AS "group",
    content ->> 'outcome' AS outcome, content ->> 'message' AS message, content ->> 'compared' AS compared,
    coalesce(content ->> 'statement', '') AS statement, coalesce(content ->> 'sqlstate', '') AS sqlstate,
    (content ->> 'seconds')::float8 AS seconds, (content -> 'messages')::json AS messages
FROM results_document WHERE attempt_id = %(attempt_id)s AND kind = 'capability'
ORDER BY (content ->> 'order')::integer, label
"""
