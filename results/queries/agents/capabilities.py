"""What table access methods can do: the newest answer to each check, of every build, access method and agent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from heapq import nlargest
from typing import Any, NamedTuple

from results import sql
from results.domain.stored_texts import MESSAGES, in_english, with_texts
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.run_filter import NO_FILTER, RunFilter, RunSearch, conditioned, parameters
from results.queries.shared.words import as_messages

OUTCOMES = ("yes", "partly", "chose-not-to", "fails-differently", "cannot", "no", "unknown")
"""no: of trials from before cannot, chose-not-to and fails-differently were told apart."""
_PUBLISHED = datetime.min.replace(tzinfo=UTC)  # what was tried here is newer than what others say
WORKLOAD = "capabilities"
MOST_BUILDS = 16  # that a page shows
_TEXTS = ("title", "group", "message", "compared")
CAPABILITY = "capability"
FILTERS = ("installation", "access_method", "agent", CAPABILITY)


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
    choices: filter → every value that there is; without the capabilities.
    hidden: builds that are left out."""

    builds: tuple[Build, ...]
    groups: tuple[tuple[str, tuple[Line, ...]], ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hidden: int = 0

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(line for _, lines in self.groups for line in lines)


class BuildKey(NamedTuple):
    """What tells builds apart."""

    installation: str
    access_method: str
    agent: str


@dataclass(frozen=True)
class CheckedAttempt:
    """The newest attempt that counts at a group of checks of one build.

    measured_at: None of published figures.
    matching: whether it has an answer to one of the capabilities that are asked for."""

    installation: str
    access_method: str
    agent: str
    version: str
    run_id: int
    trial_id: int
    attempt_id: int
    measured_at: datetime | None
    published: bool
    matching: bool

    @property
    def build(self) -> BuildKey:
        return BuildKey(self.installation, self.access_method, self.agent)

    @property
    def age(self) -> tuple[datetime, int]:
        """What sorts attempts, the oldest first."""
        return self.measured_at or _PUBLISHED, self.attempt_id


def checked_attempts(
    chosen: Mapping[str, Sequence[str]] | None = None, runs: RunFilter = NO_FILTER
) -> list[CheckedAttempt]:
    """Return the attempts that have the newest answers, those of a build the newest first. One query.

    chosen: filter → the values let through, none for all.
    runs: those that answers are taken from."""
    return _matching(_checked(chosen or {}, runs), chosen or {})


def answer_ids(attempts: Sequence[CheckedAttempt], capabilities: Sequence[str] = ()) -> list[int]:
    """Return the ids of what `answers` returns. One query."""
    query = sql.load(__file__, "capabilities_answers").replace("{columns}", "document.id")
    return [row.id for row in sql.tuples(_Id, query, _parameters(attempts, capabilities, None))]


def answers(
    attempts: Sequence[CheckedAttempt], capabilities: Sequence[str] = (), ids: Collection[int] | None = None
) -> list[CapabilityRow]:
    """Return the answers that these attempts have, of attempts at one build the first one's, by build and capability.
    One query.

    capabilities: those that are asked for, none for all.
    ids: of the answers that are asked for; None for all."""
    query = sql.load(__file__, "capabilities_answers").replace("{columns}", _COLUMNS)
    rows = sql.tuples(_Stored, query, _parameters(attempts, capabilities, ids))
    return [_row(attempts[row.place - 1], row) for row in rows]


def _row(attempt: CheckedAttempt, row: _Stored) -> CapabilityRow:
    texts = with_texts({name: getattr(row, name) for name in (*_TEXTS, MESSAGES)}, _TEXTS)
    return CapabilityRow(
        id=row.id,
        capability=row.capability,
        title=texts["title"],
        group=texts["group"],
        order=row.order,
        outcome=row.outcome,
        message=texts["message"],
        compared=texts["compared"],
        statement=row.statement,
        sqlstate=row.sqlstate,
        seconds=row.seconds,
        installation=attempt.installation,
        version=attempt.version,
        access_method=attempt.access_method,
        agent=attempt.agent,
        run_id=attempt.run_id,
        trial_id=attempt.trial_id,
        measured_at=attempt.measured_at,
        published=attempt.published,
    )


class _Id(NamedTuple):
    id: int


class _Stored(NamedTuple):
    """place: of its attempt, counted from 1.
    messages: what its texts were made of; None of older answers. The rest as of a CapabilityRow."""

    place: int
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
    messages: Any


def _parameters(
    attempts: Sequence[CheckedAttempt], capabilities: Sequence[str], ids: Collection[int] | None
) -> dict[str, Any]:
    return _builds_of(attempts) | {
        "capabilities": list(capabilities),
        "ids": None if ids is None else sql.array(list(ids)),
    }


def _builds_of(attempts: Sequence[CheckedAttempt]) -> dict[str, Any]:
    """Return the attempts with their builds, which are counted from 0 in their order."""
    numbers: dict[BuildKey, int] = {}
    return {
        "attempts": sql.array([attempt.attempt_id for attempt in attempts]),
        "access_methods": [attempt.access_method for attempt in attempts],
        "builds": sql.array([numbers.setdefault(attempt.build, len(numbers)) for attempt in attempts]),
    }


def _checked(chosen: Mapping[str, Sequence[str]], runs: RunFilter) -> list[CheckedAttempt]:
    """Return the attempts that have the newest answers of all builds."""
    search = parameters(RunSearch(runs, workloads=(WORKLOAD,))) if runs else {}
    search |= {"capabilities": list(chosen.get(CAPABILITY, ()))}
    rows = sql.rows(CheckedAttempt, _of_newest(sql.load(__file__), runs), search)
    return sorted(rows, key=lambda row: row.age, reverse=True)


def _of_newest(query: str, runs: RunFilter) -> str:
    newest = sql.load(__file__, "capabilities_of_runs" if runs else "capabilities_newest")
    return conditioned(query.replace("{newest}", newest))


def _matching(attempts: Sequence[CheckedAttempt], chosen: Mapping[str, Sequence[str]]) -> list[CheckedAttempt]:
    filters = {name: values for name, values in chosen.items() if values and name != CAPABILITY}
    return [
        attempt
        for attempt in attempts
        if attempt.matching and all(getattr(attempt, name) in values for name, values in filters.items())
    ]


class _Held(NamedTuple):
    """number: of the build."""

    number: int
    yes: int
    checked: int


class HeldCapabilities(NamedTuple):
    """How many capabilities a build has, of how many that were checked. agent: '' of published figures."""

    holding: int
    checked: int
    agent: str


def held_capabilities(attempts: Sequence[CheckedAttempt]) -> dict[tuple[str, str], HeldCapabilities]:
    """Return (access method, installation) → what it has by the answers of these attempts, on the agent where it has
    most. One query."""
    builds = list(dict.fromkeys(attempt.build for attempt in attempts))
    held: dict[tuple[str, str], HeldCapabilities] = {}
    for row in sql.tuples(_Held, sql.load(__file__, "capabilities_held"), _builds_of(attempts)):
        build = builds[row.number]
        key, found = (build.access_method, build.installation), HeldCapabilities(row.yes, row.checked, build.agent)
        held[key] = max(held.get(key, found), found)
    return held


def answers_of(attempt_id: int) -> tuple[Answer, ...]:
    """The answers of one attempt, in the order of its checks. One query."""
    rows = sql.rows(_StoredAnswer, _OF_ATTEMPT, {"attempt_id": attempt_id})
    return tuple(Answer(**in_english(vars(row))) for row in rows)


def capability_matrix(
    chosen: Mapping[str, Sequence[str]] | None = None, runs: RunFilter = NO_FILTER, most: int | None = None
) -> CapabilityMatrix:
    """The answers as a table; chosen and runs as of `checked_attempts`. Two queries.

    most: of so many builds, those that were checked last; None for all."""
    every = _checked(chosen or {}, runs)
    choices = {
        name: sorted_levels([getattr(one, name) for one in every], name) for name in FILTERS if name != CAPABILITY
    }
    attempts = _matching(every, chosen or {})
    keys = _ordered(attempts, choices)
    shown = _newest(keys, attempts, most)
    rows = answers([one for one in attempts if one.build in shown], (chosen or {}).get(CAPABILITY, ()))
    builds = _builds(rows, [key for key in keys if key in shown])
    return CapabilityMatrix(builds, tuple(_groups(rows, builds)), choices, len(keys) - len(shown))


def _ordered(attempts: Sequence[CheckedAttempt], choices: Mapping[str, tuple[str, ...]]) -> list[BuildKey]:
    """Return their builds by installation, then access method with heap first, then agent."""

    def place(build: BuildKey) -> tuple[int, bool, str, int]:
        installation, method, agent = build
        return choices["installation"].index(installation), method != "heap", method, choices["agent"].index(agent)

    return sorted({attempt.build for attempt in attempts}, key=place)


def _newest(keys: Sequence[BuildKey], attempts: Sequence[CheckedAttempt], most: int | None) -> set[BuildKey]:
    """Return no more builds than this, those that were checked last, of such at one time the first ones."""
    if most is None or len(keys) <= most:
        return set(keys)
    newest = {attempt.build: attempt.measured_at or _PUBLISHED for attempt in reversed(attempts)}
    place = {key: -number for number, key in enumerate(keys)}
    return set(nlargest(most, keys, key=lambda key: (newest[key], place[key])))


def _builds(rows: Sequence[CapabilityRow], keys: Sequence[BuildKey]) -> tuple[Build, ...]:
    """Return the columns, in the order of their keys."""
    counts = {key: dict.fromkeys(OUTCOMES, 0) for key in keys}
    newest: dict[BuildKey, datetime | None] = {}
    for row in rows:
        build = _build_of(row)
        counts[build][row.outcome] += 1
        newest[build] = max((at for at in (row.measured_at, newest.get(build)) if at), default=None)
    return tuple(Build(*key, counts[key], newest.get(key)) for key in keys)


def _groups(rows: Sequence[CapabilityRow], builds: Sequence[Build]) -> list[tuple[str, tuple[Line, ...]]]:
    """In the order that the checks had in the newest trial of each: a group stands where its first check does."""
    columns = [BuildKey(build.installation, build.access_method, build.agent) for build in builds]
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


def _build_of(row: CapabilityRow) -> BuildKey:
    return BuildKey(row.installation, row.access_method, row.agent)


_COLUMNS = """
    build.place, document.id, document.label AS capability,
    document.content ->> 'title' AS title,
    document.content ->> 'group' AS "group",
    (document.content ->> 'order')::integer AS "order",
    document.content ->> 'outcome' AS outcome,
    document.content ->> 'message' AS message,
    document.content ->> 'compared' AS compared,
    coalesce(document.content ->> 'statement', '') AS statement,
    coalesce(document.content ->> 'sqlstate', '') AS sqlstate,
    (document.content ->> 'seconds')::float8 AS seconds, (document.content -> 'messages')::json AS messages
"""
_OF_ATTEMPT = """
SELECT label AS capability, content ->> 'title' AS title, content ->> 'group' AS "group",
    content ->> 'outcome' AS outcome, content ->> 'message' AS message, content ->> 'compared' AS compared,
    coalesce(content ->> 'statement', '') AS statement, coalesce(content ->> 'sqlstate', '') AS sqlstate,
    (content ->> 'seconds')::float8 AS seconds, (content -> 'messages')::json AS messages
FROM results_document WHERE attempt_id = %(attempt_id)s AND kind = 'capability'
ORDER BY (content ->> 'order')::integer, label
"""
