"""Runs: the list, one run with its matrix, its medians."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from results import models, sql
from results.domain.failure_cause import cause
from results.domain.measurement.activity import ActivitySample
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_toml
from results.domain.states import ENDED_RUNS, RunState
from results.queries.runs.time_left import time_left
from results.queries.runs.waits import Wait, waits
from results.queries.shared.ids import NotFound, known_id
from results.queries.shared.metrics import MetricRow, unknown
from results.queries.shared.run_filter import Archived, RunSearch, conditioned, parameters
from results.queries.shared.words import name_of, name_of_run, publication_texts

DELETE_RUN = "delete run"  # the audit log's verb
_ARCHIVED = {None: Archived.TOO, True: Archived.ONLY, False: Archived.NO}


@dataclass(frozen=True)
class RunRow:
    """One run in a list.

    agents: names.
    configurations: how many.
    trials_to_make: waiting trials (of a cancelled run: cancelled ones) that a worker has still to make.
    due_at: the time of its plan's schedule that it was made for; None of a run that a person started.
    makes_up_for: how many runs that its schedule missed it stands for.
    headline: name of its first metric.
    publication: slug, title, publisher, year, place, caption and program of the published table, or of the import of
        another program's results ('' of a published table), that its figures come from; None where Teiten measured.
    standing: what it counts for; tags: short words.
    archived: off the lists.
    private: there for its author and for administrators only.
    from_teiten: version and address of the Teiten that measured it, its number and agents there, the one that exported
        it where that is a third, the archive's name and checksum, when it was read and by whom; None for a run of this
        one."""

    id: int
    name: str
    workload: str
    state: str
    blocks: int
    seed: int
    plan_id: int | None
    created_by: str
    created_at: datetime
    start_at: datetime | None
    due_at: datetime | None
    makes_up_for: int
    started_at: datetime | None
    ended_at: datetime | None
    headline: str
    configurations: int
    trials_total: int
    trials_done: int
    trials_failed: int
    trials_running: int
    trials_waiting: int
    trials_cancelled: int
    trials_to_make: int
    agents: tuple[str, ...]
    publication: Mapping[str, Any] | None
    standing: str
    tags: tuple[str, ...]
    archived: bool
    private: bool
    from_teiten: Mapping[str, Any] | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", name_of_run(self.name, self.publication))
        object.__setattr__(self, "publication", publication_texts(self.publication))

    @property
    def trials_ended(self) -> int:
        return self.trials_done + self.trials_failed + self.trials_cancelled

    @property
    def all_wait(self) -> bool:
        """Whether it may go on, but none of its trials has begun."""
        return self.state == RunState.RUNNING and 0 < self.trials_total == self.trials_waiting


@dataclass(frozen=True)
class Cell:
    """One trial's place in the matrix.

    configuration: index.
    column: its place in the row, counted from 1; the block, of what was measured here.
    value: headline metric, only of a done trial.
    attempts: how many were made.
    error: why it failed, in one line.
    started_at, ended_at: of the latest attempt.
    look: at what sessions wait for, where the trial runs and its phase takes longer than it should."""

    trial_id: int
    configuration: int
    column: int
    block: int
    position: int
    state: str
    phase: str
    phase_at: datetime | None
    expected_s: float | None
    left_s: float | None
    attempts: int
    value: float | None
    error: str
    started_at: datetime | None
    ended_at: datetime | None
    look: ActivitySample | None


@dataclass(frozen=True)
class ConfigurationRow:
    """One row of the matrix. Summary of the headline metric.

    spread: (maximum - minimum) / median.
    trials: how many there are; `cells` has those that were asked for.
    minimum_trial, maximum_trial: whose value that is."""

    id: int
    index: int
    name: str
    levels: Mapping[str, str]
    dimensions: Mapping[str, Any]
    cells: tuple[Cell, ...]
    median: float | None
    n: int
    minimum: float | None
    maximum: float | None
    spread: float | None
    trials: int
    minimum_trial: int | None
    maximum_trial: int | None


@dataclass(frozen=True)
class RunDetail:
    """One run with its matrix.

    factors: [{name, levels: [label]}] in the plan's order.
    mark: id of the oldest transaction that was open when this began to be read: what changes later, later ones write.
    whole: whether every trial has a cell.
    latest_block: the last one of which a trial has begun; None before the first.
    left_s: estimated rest; None when nothing is left or nobody can know.
    waits: why waiting trials do not go on, of a run that is running.
    raw_files_removed: [{at, by, attempts, size_bytes}] where raw files were removed and the numbers kept."""

    run: RunRow
    toml: str
    factors: tuple[Mapping[str, Any], ...]
    metric: MetricRow
    configurations: tuple[ConfigurationRow, ...]
    whole: bool
    latest_block: int | None
    left_s: float | None
    waits: tuple[Wait, ...]
    raw_files_removed: tuple[Mapping[str, Any], ...]
    now: datetime
    mark: int


@dataclass(frozen=True)
class Chosen:
    """Which trials of a run are asked for, besides those that run now.

    rows, columns: first and last of a part of the matrix, counted from 1; `rows` as places in `configurations`.
    failed: of those that failed the first so many.
    trials: by their ids.
    extremes: of each configuration the one with the smallest and the one with the largest value."""

    rows: tuple[int, int] = (1, 0)
    columns: tuple[int, int] = (1, 0)
    failed: int = 0
    trials: tuple[int, ...] = ()
    extremes: bool = False


@dataclass(frozen=True)
class ChangedCell:
    """A trial that has changed.

    configuration: index."""

    configuration: int
    trial_id: int


class MedianKey(NamedTuple):
    """What tells the medians of a run apart, and sorts them."""

    configuration: int
    metric: str
    node: str
    label: str


@dataclass(frozen=True)
class MedianRow:
    """One number of a run: the median over the replicates of a configuration, in the metric's unit.

    configuration: index in the run.
    values: of each replicate, in the order of blocks; trial_ids: the trials that they are of."""

    configuration_id: int
    configuration: int
    name: str
    levels: Mapping[str, str]
    metric: str
    unit: str
    node: str
    label: str
    median: float
    minimum: float
    maximum: float
    n: int
    values: tuple[float, ...]
    trial_ids: tuple[int, ...]

    @property
    def key(self) -> MedianKey:
        return MedianKey(self.configuration, self.metric, self.node, self.label)


def list_runs(
    *,
    state: str = "",
    plan_id: int | None = None,
    before_id: int | None = None,
    ids: Sequence[int] | None = None,
    published: bool | None = None,
    archived: bool | None = None,
    search: RunSearch | None = None,
    limit: int | None = 50,
) -> list[RunRow]:
    """Newest first. One query.

    before_id: the last id of the page before.
    ids: only these.
    published: only published figures, or only measured ones.
    archived: only those off the lists, or only the others.
    search: only those that it finds; state and archived are its own then.
    limit: None for all."""
    chosen = None if ids is None else list(ids)
    found = RunSearch(state=state, archived=_ARCHIVED[archived]) if search is None else search
    return _run_rows(found, plan_id=plan_id, before_id=before_id, ids=chosen, published=published, limit=limit)


def run_row(run_id: int) -> RunRow:
    """Return one run. One query. Raises NotFound, which says when it was deleted."""
    rows = _run_rows(RunSearch(archived=Archived.TOO), ids=[known_id(run_id, "run")])
    if not rows:
        deletion = models.AuditEntry.objects.filter(object=f"run {run_id}", verb=DELETE_RUN).first()
        shown = deletion is not None and not deletion.detail.get("private")
        if deletion and shown:
            at = f"{deletion.at:%Y-%m-%d %H:%M} UTC"
            raise NotFound(_("There is no run {run}. It was deleted on {moment}.", run=run_id, moment=at))
        raise NotFound(_("There is no {kind} {number}.", kind=name_of("run"), number=run_id))
    return rows[0]


def run_detail(run_id: int, now: datetime) -> RunDetail:
    """A run with every cell of its matrix. Raises NotFound. Four queries, two more while it goes on."""
    return with_cells(run_outline(run_row(run_id), now))


def run_outline(run: RunRow, now: datetime, *, summaries: bool = True) -> RunDetail:
    """A run with the summaries of its configurations, without a cell. Two queries, two more while it goes on.

    summaries: without, the configurations have no values."""
    head = sql.rows(_Head, _HEAD, {"run_id": run.id})[0]
    rows = (
        _summaries(run.id) if summaries else sql.rows(_Summary, sql.load(__file__, "run_outline"), {"run_id": run.id})
    )
    lasts = run.state not in ENDED_RUNS and not run.trials_to_make
    return RunDetail(
        run=run,
        toml=masked_toml(head.toml),
        factors=tuple(head.factors),
        metric=head.metric(),
        configurations=tuple(row.row(head.factors) for row in rows),
        whole=False,
        latest_block=head.latest_block,
        left_s=time_left(run.id, {one.index: one.planned_s for one in rows}, now) if lasts else None,
        waits=tuple(waits([run.id]) if run.state == RunState.RUNNING else ()),
        raw_files_removed=tuple(head.raw_files_removed),
        now=now,
        mark=head.mark,
    )


def with_summaries(detail: RunDetail, indexes: Collection[int]) -> RunDetail:
    """The same run with the summaries of some configurations, by index. One query, none without any."""
    rows = _summaries(detail.run.id, indexes) if indexes else []
    summaries = {row.index: row.row(detail.factors) for row in rows}
    return replace(detail, configurations=tuple(summaries.get(row.index, row) for row in detail.configurations))


def with_cells(detail: RunDetail, chosen: Chosen | None = None) -> RunDetail:
    """The same run with its cells: all, or those that are chosen. One query."""
    trials = sql.rows(_Trial, sql.load(__file__, "run_cells"), _which(detail, chosen))
    cells: dict[int, list[Cell]] = {}
    for trial in trials:
        cells.setdefault(trial.configuration, []).append(trial.cell(detail.now))
    rows = tuple(replace(row, cells=tuple(cells.get(row.index, ()))) for row in detail.configurations)
    return replace(detail, configurations=rows, whole=chosen is None)


def _which(detail: RunDetail, chosen: Chosen | None) -> dict[str, Any]:
    """Return the parameters of the query for cells."""
    asked = chosen or Chosen()
    rows = [row.index for row in detail.configurations[asked.rows[0] - 1 : asked.rows[1]]]
    trials = list(asked.trials)
    if asked.extremes:
        trials += [one for row in detail.configurations for one in (row.minimum_trial, row.maximum_trial) if one]
    return {
        "run_id": detail.run.id,
        "every": chosen is None,
        "first": min(rows, default=0),
        "last": max(rows, default=-1),
        "left": asked.columns[0],
        "right": asked.columns[1],
        "failed": asked.failed,
        "trials": sql.array(trials),
    }


def changed_cells(run_id: int, indexes: Collection[int], since: int) -> list[ChangedCell]:
    """Return the trials of some configurations that may have changed since a run was read with that mark: all that
    have, and perhaps some that have not. One query, none without configurations.

    Marks are ids of transactions and no times: what is committed late is no earlier change."""
    params = {"run_id": run_id, "configurations": sql.array(indexes), "since": str(since)}
    return sql.rows(ChangedCell, sql.load(__file__, "changed_cells"), params) if indexes else []


def run_medians(
    run_id: int, metrics: Sequence[str] = (), *, after: MedianKey | None = None, limit: int | None = None
) -> list[MedianRow]:
    """Medians over the replicates, of the metrics named or of all. Empty for an unknown run. One query.

    after: the last row of the page before.
    limit: None for all."""
    key = after or MedianKey(-1, "", "", "")
    params = {"run_id": run_id, "metrics": list(metrics), "limit": limit} | key._asdict()
    return sql.rows(MedianRow, sql.load(__file__, "run_medians"), params)


def _configurations(run_id: int) -> list[_Summary]:
    return sql.rows(_Summary, sql.load(__file__, "run_outline"), {"run_id": run_id})


def _summaries(run_id: int, indexes: Collection[int] | None = None) -> list[_Summary]:
    params = {"run_id": run_id, "configurations": None if indexes is None else list(indexes)}
    return sql.rows(_Summary, sql.load(__file__, "run_configurations"), params)


def _run_rows(search: RunSearch, **filters: Any) -> list[RunRow]:
    nothing = {"ids": None, "plan_id": None, "before_id": None, "published": None, "limit": 1}
    return sql.rows(RunRow, conditioned(sql.load(__file__)), nothing | parameters(search) | filters)


_HEAD = """
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS mark,
    run.toml, run.factors::json AS factors, run.headline AS name, metric.unit, metric.better, metric.label,
    metric.help, metric.minimum_effect,
    (SELECT max(block) FROM results_trial WHERE run_id = run.id AND state <> 'waiting') AS latest_block,
    ARRAY(
        SELECT json_build_object(
            'at', to_char(bundle_removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'by', bundle_removed_by,
            'attempts', count(*), 'size_bytes', sum(bundle_bytes)
        )
        FROM results_attempt
        WHERE run_id = run.id AND bundle_removed_at IS NOT NULL
        GROUP BY bundle_removed_at, bundle_removed_by
        ORDER BY bundle_removed_at
    ) AS raw_files_removed
FROM results_run AS run LEFT JOIN results_metric AS metric ON metric.name = run.headline
WHERE run.id = %(run_id)s
"""


@dataclass(frozen=True)
class _Head:
    toml: str
    factors: tuple[Mapping[str, Any], ...]
    name: str
    unit: str | None
    better: str | None
    label: str | None
    help: str | None
    minimum_effect: float | None
    latest_block: int | None
    raw_files_removed: tuple[Mapping[str, Any], ...]
    mark: int

    def metric(self) -> MetricRow:
        if self.unit is None:
            return unknown(self.name)
        return MetricRow(
            self.name, self.unit, self.better or "", self.label or "", self.help or "", self.minimum_effect or 0.0
        )


@dataclass(frozen=True)
class _Trial:
    configuration: int
    column: int
    trial_id: int
    block: int
    position: int
    state: str
    phase: str
    phase_at: datetime | None
    expected_s: float | None
    attempts: int
    value: float | None
    error: Mapping[str, Any] | None
    started_at: datetime | None
    ended_at: datetime | None
    look: Mapping[str, Any] | None

    def cell(self, now: datetime) -> Cell:
        fields = {name: value for name, value in vars(self).items() if name not in ("look", "error")}
        look = ActivitySample.from_json(self.look) if self.look else None
        return Cell(**fields, error=cause(self.error), left_s=self.phase_left(now), look=look)

    def phase_left(self, now: datetime) -> float | None:
        """Seconds left of what goes on now; None where nothing does or nobody knows."""
        if self.state != "running" or self.phase_at is None or self.expected_s is None:
            return None
        return max(0.0, self.expected_s - (now - self.phase_at).total_seconds())


@dataclass(frozen=True)
class _Summary:
    id: int
    index: int
    name: str
    levels: Mapping[str, str]
    dimensions: Mapping[str, Any]
    trials: int
    median: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    n: int = 0
    spread: float | None = None
    minimum_trial: int | None = None
    maximum_trial: int | None = None

    @property
    def planned_s(self) -> float | None:
        """None where the trials last until their work is done."""
        duration_s = self.dimensions.get("duration_s")
        return None if duration_s is None else float(self.dimensions.get("warmup_s", 0)) + float(duration_s)

    def row(self, factors: Sequence[Mapping[str, Any]]) -> ConfigurationRow:
        """Return it with its levels in the order of the run's factors."""
        levels = {factor["name"]: self.levels.get(factor["name"]) for factor in factors}
        return ConfigurationRow(**vars(self) | {"levels": levels}, cells=())
