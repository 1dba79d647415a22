"""Which runs a view over everything is made of: the kept ones, by plan, agent, tag and date; and which the list of runs
shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

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
    private: bool
    published: bool
    imported: bool


def matching_runs(search: RunSearch) -> tuple[int, ...]:
    """Return the ids of all runs that are searched for, the newest first. One query."""
    return tuple(run.id for run in _matching(search))


def kept_runs(chosen: RunFilter = NO_FILTER, workloads: Sequence[str] = (), *, published: bool = True) -> KeptRuns:
    """Return the kept runs that the filter lets through, of these workloads or of all, with published figures or
    without; none that is archived or private, and none of imported results, which no view mixes with others. One
    query."""
    found = [
        run for run in _matching(RunSearch(chosen, workloads=tuple(workloads))) if not run.imported and not run.private
    ]
    runs = [run for run in found if published or not run.published]
    kept = tuple(run.id for run in runs if run.standing == Standing.KEPT)
    return KeptRuns(kept, sum(run.standing == Standing.EXPLORATORY for run in runs))


def run_filter_choices(
    standings: Sequence[str] = (Standing.KEPT,), workload: str = "", archived: Archived = Archived.NO
) -> RunFilterChoices:
    """Return what the runs of these standings (none: any) and this workload ('': any) can be filtered by, of those that
    were measured here. One query."""
    parameters = {"standings": list(standings), "workload": workload, "archived": archived}
    row = sql.rows(_Choices, sql.load(__file__, "run_filter_choices"), parameters)[0]
    return RunFilterChoices(_pairs(row.plans), _pairs(row.agents), _pairs(row.tags), _pairs(row.workloads))


def _matching(search: RunSearch) -> list[_Run]:
    fields = vars(search) | vars(search.runs)
    parameters = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
    del parameters["runs"]
    return sql.rows(_Run, sql.load(__file__), parameters)


@dataclass(frozen=True)
class _Choices:
    plans: dict[str, int]
    agents: dict[str, int]
    tags: dict[str, int]
    workloads: dict[str, int]


def _pairs(counts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda pair: pair[0].lower()))
