"""Which runs a view over everything is made of: the kept ones, by plan, agent, tag and date; and which the list of runs
shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from results import sql
from results.domain.states import Standing


@dataclass(frozen=True)
class RunFilter:
    """What runs are let through. What is empty lets all through; of several plans, agents or tags any will do.

    plans: names; of a run that no stored plan began, its own.
    since, until: the days (UTC) on which a run may have started, both included."""

    plans: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None

    def __bool__(self) -> bool:
        """Whether it can leave out any run."""
        return self != NO_FILTER


NO_FILTER = RunFilter()


class Archived(StrEnum):
    """Whether runs are listed that are off the lists."""

    NO = ""
    ONLY = "yes"
    TOO = "any"


@dataclass(frozen=True)
class RunSearch:
    """What runs are listed. What is empty lets all through, but for archived ones; of several workloads any will do.

    name: a part of the run's name, in capital or small letters."""

    runs: RunFilter = NO_FILTER
    state: str = ""
    standing: str = ""
    archived: Archived = Archived.NO
    workloads: tuple[str, ...] = ()
    name: str = ""

    def __bool__(self) -> bool:
        """Whether it can leave out any run."""
        return self != RunSearch()


@dataclass(frozen=True)
class KeptRuns:
    """The runs that stand for what is known.

    ids: of kept ones, published figures among them, the newest first.
    exploratory: how many more there would be, were all kept that are exploratory."""

    ids: tuple[int, ...]
    exploratory: int


@dataclass(frozen=True)
class RunCounts:
    """How many runs stand for what is known.

    kept: published figures among them.
    exploratory: how many more there would be, were all kept that are exploratory."""

    kept: int
    exploratory: int


@dataclass(frozen=True)
class RunFilterChoices:
    """What runs can be filtered by: (text, how many runs have it), in order."""

    plans: tuple[tuple[str, int], ...]
    agents: tuple[tuple[str, int], ...]
    tags: tuple[tuple[str, int], ...]
    workloads: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class _Run:
    id: int
    standing: str


def matching_runs(search: RunSearch) -> tuple[int, ...]:
    """Return the ids of all runs that are searched for, the newest first. One query."""
    return tuple(run.id for run in sql.rows(_Run, conditioned(sql.load(__file__)), parameters(search)))


def conditioned(text: str) -> str:
    """Return a query with the conditions of a search, of its table `run`, in the place of {conditions}. It takes the
    `parameters` of the search."""
    return text.replace("{conditions}", sql.load(__file__, "run_filter_conditions"))


def parameters(search: RunSearch) -> dict[str, Any]:
    """Return the parameters of the conditions of a search."""
    fields = {name: value for name, value in (vars(search) | vars(search.runs)).items() if name != "runs"}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def kept_runs(chosen: RunFilter = NO_FILTER, workloads: Sequence[str] = (), *, published: bool = True) -> KeptRuns:
    """Return the kept runs that the filter lets through, of these workloads or of all, with published figures or
    without; none that is archived or private, and none of imported results, which no view mixes with others. One
    query."""
    query = conditioned(sql.load(__file__, "run_filter_kept"))
    search = RunSearch(chosen, workloads=tuple(workloads))
    found = sql.rows(_Run, query, parameters(search) | {"published": published})
    kept = tuple(run.id for run in found if run.standing == Standing.KEPT)
    return KeptRuns(kept, sum(run.standing == Standing.EXPLORATORY for run in found))


def count_runs(chosen: RunFilter = NO_FILTER, workloads: Sequence[str] = (), *, published: bool = True) -> RunCounts:
    """Return how many runs `kept_runs` would name. One query, which reads all runs only where days are chosen."""
    by_day = bool(chosen.since or chosen.until)
    query = conditioned(sql.load(__file__, "run_filter_counts_between" if by_day else "run_filter_counts"))
    search = RunSearch(chosen, workloads=tuple(workloads))
    return sql.rows(RunCounts, query, parameters(search) | {"published": published})[0]


def run_filter_choices(
    standings: Sequence[str] = (Standing.KEPT,), workload: str = "", archived: Archived = Archived.NO
) -> RunFilterChoices:
    """Return what the runs of these standings (none: any) and this workload ('': any) can be filtered by, of those that
    were measured here. One query."""
    parameters = {"standings": list(standings), "workload": workload, "archived": archived}
    row = sql.rows(_Choices, sql.load(__file__, "run_filter_choices"), parameters)[0]
    return RunFilterChoices(_pairs(row.plans), _pairs(row.agents), _pairs(row.tags), _pairs(row.workloads))


@dataclass(frozen=True)
class _Choices:
    plans: dict[str, int]
    agents: dict[str, int]
    tags: dict[str, int]
    workloads: dict[str, int]


def _pairs(counts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda pair: pair[0].lower()))
