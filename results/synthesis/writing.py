"""Fills an empty warehouse with made-up plans, runs and trials by COPY."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from numpy.random import default_rng

from results import ingest, models, sql
from results.agents import Contact, DiscoveredInstallation, record_contact, store_layers
from results.checked_builds import store_checked_builds
from results.domain import plan as plans
from results.domain.environment.layers import Layer, LayerKind, environment_hash
from results.domain.errors import StateError
from results.domain.matrix import TrialSpec
from results.domain.measurement.metrics import Metric
from results.domain.measurement.parsed_trial import CommandRun, PhaseTiming
from results.domain.measurement.record_texts import to_json
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds
from results.domain.states import Standing
from results.environments import store_environments
from results.measured_values import Key, store_values
from results.plan_check import resolve_plan
from results.runs import stored_dimensions
from results.stored_plans import save_plan
from results.synthesis import binary, shapes, values

ACTOR = "command synthesize"
WATCHED = ("sar", "pg_stat", "latency_log")  # collectors whose metrics are made up too
_AT_ONCE = 5_000  # trials of one transaction
_EXCLUDED, _EXPLORATORY, _FAILED = 0.02, 0.2, 0.01  # shares of the runs, of the runs, of the trials
_TRIAL = timedelta(seconds=90)
_OVERHEAD = timedelta(seconds=20)
_WINDOW = timedelta(seconds=values.SECONDS)


@dataclass(frozen=True)
class Size:
    """How much to make up.

    trials: about so many, in whole runs
    measured: values of a trial, at most
    detailed: the share of trials that have series and histograms as well
    """

    trials: int
    measured: int = 12
    detailed: float = 1.0

    @property
    def plans(self) -> int:
        """A farm that lives ten times as long has three times as many plans."""
        return max(len(shapes.SHAPES), int(self.trials**0.5 / 20))


@dataclass(frozen=True)
class Made:
    runs: int
    trials: int
    measurements: int


@dataclass(frozen=True)
class _Configuration:
    """A configuration of a plan in an era, ready for COPY.

    uses: of its environment, (role, hash of a layer)
    documents: what each row has after its ids, in COPY's binary format
    """

    name: str
    levels: str
    spec: str
    dimensions: str
    layers: tuple[Layer, ...]
    uses: tuple[tuple[str, str], ...]
    environment: str
    speed: values.Speed
    documents: tuple[bytes, ...]


@dataclass(frozen=True)
class _PlanOfEra:
    plan: plans.Plan
    stored: models.Plan
    headline: str
    factors: str
    toml: str
    agent: int
    blocks: int
    metrics: tuple[Metric, ...]
    measured: values.Measured
    configurations: tuple[_Configuration, ...]


@dataclass(frozen=True)
class _Trial:
    """A trial of a run, before its numbers are computed."""

    attempt_id: int
    index: int  # of its configuration
    chance: values.Chance


@dataclass
class _Batch:
    """What one transaction stores: whole runs.

    rows: of each table, columns in the order of _COLUMNS
    values: (run, attempt, its values)
    binary: rows of the tables of `binary.COLUMNS`, many together
    checking: attempts that have documents
    last_ids: of each table of _NUMBERED, after these rows
    """

    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=lambda: {table: [] for table in _COLUMNS})
    values: list[tuple[int, int, Mapping[Key, float]]] = field(default_factory=list)
    binary: dict[str, list[bytes]] = field(default_factory=lambda: {table: [] for table in binary.COLUMNS})
    checking: list[int] = field(default_factory=list)
    last_ids: Mapping[str, int] = field(default_factory=dict)


# of every attempt
_PHASES = (PhaseTiming("load", 0, 15.0), PhaseTiming("measure", 20.0, 60.0))
_COMMANDS = (CommandRun("client", "measure", "pgbench --client 1 --time 60 bench", 0, 60.1),)
_RECORD = {
    "phases": json.dumps(to_json("phases", _PHASES)),
    "commands": json.dumps(to_json("commands", _COMMANDS)),
    **dict.fromkeys(("checks", "files", "events", "gaps"), "[]"),
}
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "run": (
        *("id", "plan_id", "name", "workload", "headline", "toml", "factors", "plan_hash", "seed", "blocks", "state"),
        *("standing", "agents", "created_at", "started_at", "ended_at"),
    ),
    "configuration": ("id", "run_id", "index", "name", "levels", "spec", "dimensions"),
    "trial": (
        *("id", "run_id", "configuration_id", "block", "position", "agents", "state", "state_at", "attempts_made"),
        *("attempt_id", "phase", "error"),
    ),
    "attempt": (
        *("id", "run_id", "trial_id", "number", "state", "worker", "started_at", "ended_at", "measured_from"),
        *("measured_to", "error", "bundle", "bundle_sha256", "ingested_at", "environment", *_RECORD, "notes"),
    ),
    "packedhistogram": (
        *("run_id", "attempt_id", "node", "label", "latencies_us", "counts", "heat_seconds", "heat_buckets"),
        "heat_counts",
    ),
}
_NUMBERED = ("run", "configuration", "trial", "attempt")  # tables whose ids are given here
_ERROR = json.dumps(
    {
        "kind": "trial",
        "what": "pgbench ended with status 1.",
        "where": "measure",
        "why": "made up",
        "todo": "",
        "retryable": False,
    }
)


def synthesize(size: Size, kinds: Kinds, now: datetime, done: Callable[[int], None] = lambda trials: None) -> Made:
    """Fill an empty warehouse. The same size makes the same numbers. Raises StateError where the warehouse has runs:
    made-up numbers beside measured ones would be taken for these.

    done: called with the number of trials after each transaction
    """
    _require_empty()
    writer = _Writer(size, kinds, now)
    _require_empty()  # trials of a run made since then could have the ids that were chosen now
    return writer.write(done)


def _require_empty() -> None:
    if models.Run.objects.exists():
        raise StateError(
            _("This warehouse has runs."),
            why=_("Made-up numbers beside measured ones would be taken for these."),
            todo=_("Name an empty one in TEITEN_DATABASE_URL, and migrate it first."),
        )


class _Writer:
    def __init__(self, size: Size, kinds: Kinds, now: datetime) -> None:
        self.size, self.kinds = size, kinds
        self.chance = default_rng(size.trials)
        self.agents = _agents(max(2, size.plans // 3))
        self.plans = self._plans(now)
        a_round = sum(len(each.configurations) * each.blocks for each in self.plans[0])
        self.rounds = max(1, round(size.trials / a_round))
        # the farm is busy all the time: the last run has just ended
        self.at = now - self.rounds * a_round * _TRIAL / len(self.agents)
        self.last_ids = {table: _next_id(table) - 1 for table in _NUMBERED}
        self.runs = self.trials = self.measurements = 0

    def _plans(self, now: datetime) -> list[list[_PlanOfEra]]:
        """Return the plans of each era, as they resolve to what the agents had then."""
        eras = []
        stored: dict[str, models.Plan] = {}
        for era, majors in enumerate(shapes.ERAS):
            for agent in self.agents:
                record_contact(agent.pk, _contact(era, majors), now)
            eras.append([self._plan(number, era, stored) for number in range(self.size.plans)])
        return eras

    def _plan(self, number: int, era: int, stored: dict[str, models.Plan]) -> _PlanOfEra:
        shape = shapes.SHAPES[number % len(shapes.SHAPES)]
        agent = self.agents[number % len(self.agents)]
        name = f"made up {number + 1}: {shape.workload}"
        plan = plans.from_mapping(shape.mapping(name, agent.name, sorted(shapes.ERAS[era])), self.kinds)
        stored[name] = save_plan(plan, self.kinds, user=None, actor=ACTOR, stored=stored.get(name), as_admin=True)
        workload = self.kinds.workloads[shape.workload]
        watched = [metric for collector in WATCHED for metric in self.kinds.collectors[collector].metrics]
        chosen = values.chosen(workload.metrics, watched, self.size.measured)
        configurations = tuple(
            _configuration(era, one.name, dict(one.levels), stored_dimensions(spec, self.kinds), spec)
            for one, spec in zip(*resolve_plan(plan, self.kinds), strict=True)
        )
        factors = [{"name": each.name, "levels": [level.label for level in each.levels]} for each in plan.factors]
        return _PlanOfEra(
            plan,
            stored[name],
            workload.headline_for(plan.parameters),
            json.dumps(factors),
            plans.to_toml(plan),
            agent.pk,
            shape.blocks,
            tuple(metric for metric, _, _ in chosen),
            values.Measured.of(chosen, [one.speed.clients for one in configurations]),
            configurations,
        )

    def write(self, done: Callable[[int], None]) -> Made:
        ingest.store_metrics(
            {metric.name: metric for plan in self._all() for metric in plan.metrics}.values(),
            private=False,
        )
        used = {layer.hash: layer for plan in self._all() for one in plan.configurations for layer in one.layers}
        store_layers(list(used.values()))
        store_environments({one.uses for plan in self._all() for one in plan.configurations})
        batches = self._batches()
        with ThreadPoolExecutor(1) as pool:
            batch = next(batches, None)
            while batch:
                with transaction.atomic():
                    self._store(batch)
                    # made while the server checks foreign keys, which is at the transaction's end
                    following = pool.submit(next, batches, None)
                self.runs += len(batch.rows["run"])
                self.trials += len(batch.rows["trial"])
                self.measurements += sum(len(measured) for _, _, measured in batch.values)
                done(self.trials)
                batch = following.result()
        return Made(self.runs, self.trials, self.measurements)

    def _batches(self) -> Iterator[_Batch]:
        """Yield all rows. Asks the database nothing."""
        batch = _Batch()
        for number in range(self.rounds):
            era = number * len(self.plans) // self.rounds
            for plan in self.plans[era]:
                self._run(plan, batch)
                if len(batch.rows["trial"]) >= _AT_ONCE:
                    batch.last_ids = dict(self.last_ids)
                    yield batch
                    batch = _Batch()
        if batch.rows["run"]:
            batch.last_ids = dict(self.last_ids)
            yield batch

    def _all(self) -> Iterator[_PlanOfEra]:
        return (plan for of_era in self.plans for plan in of_era)

    def _next(self, table: str) -> int:
        self.last_ids[table] += 1
        return self.last_ids[table]

    def _run(self, plan: _PlanOfEra, batch: _Batch) -> None:
        run_id, started_at = self._next("run"), self.at
        ids = [self._next("configuration") for _ in plan.configurations]
        of_run = self.chance.normal(0, values.OF_RUN)
        trials: list[_Trial] = []
        for block in range(1, plan.blocks + 1):
            of_block = of_run + self.chance.normal(0, values.OF_BLOCK)
            for index in self.chance.permutation(len(ids)).tolist():
                at = started_at + len(trials) * _TRIAL
                key = (run_id, ids[index], block, len(trials))
                trials.append(self._trial(plan, key, index, of_block, at, batch))
        ended_at = started_at + len(trials) * _TRIAL
        self.at += len(trials) * _TRIAL / len(self.agents)
        batch.rows["run"].append(
            (
                *(run_id, plan.stored.pk, plan.plan.name, plan.plan.workload, plan.headline, plan.toml, plan.factors),
                *(plan.plan.hash, plan.plan.seed, plan.blocks, "finished", self._standing(), [plan.agent]),
                *(started_at, started_at, ended_at),
            )
        )
        batch.rows["configuration"] += [
            (id_, run_id, index, one.name, one.levels, one.spec, one.dimensions)
            for index, (id_, one) in enumerate(zip(ids, plan.configurations, strict=True))
        ]
        _add_numbers(plan, run_id, trials, batch)

    def _standing(self) -> str:
        share = self.chance.random()
        if share < _EXCLUDED:
            return Standing.EXCLUDED
        return Standing.EXPLORATORY if share < _EXPLORATORY else Standing.KEPT

    def _trial(
        self,
        plan: _PlanOfEra,
        key: tuple[int, int, int, int],
        index: int,
        of_block: float,
        at: datetime,
        batch: _Batch,
    ) -> _Trial:
        """key: run, configuration, block and position"""
        run_id = key[0]
        trial_id, attempt_id = self._next("trial"), self._next("attempt")
        configuration = plan.configurations[index]
        failed = self.chance.random() < _FAILED
        chance = values.Chance.draw(
            configuration.speed, of_block, len(plan.measured.keys), self.size.detailed, self.chance
        )
        state, error, ended_at = "failed" if failed else "done", _ERROR if failed else None, at + _TRIAL
        measured_from = at + _OVERHEAD
        counted = None if failed else attempt_id
        batch.rows["trial"].append((trial_id, *key, [plan.agent], state, ended_at, 1, counted, "", error))
        batch.rows["attempt"].append(
            (
                *(attempt_id, run_id, trial_id, 1, state, "", at, ended_at, measured_from, measured_from + _WINDOW),
                *(error, "", "", ended_at, configuration.environment, *_RECORD.values(), "{}"),
            )
        )
        return _Trial(attempt_id, index, chance)

    def _store(self, batch: _Batch) -> None:
        for table, columns in _COLUMNS.items():
            sql.copy(f"results_{table}", columns, batch.rows[table])
        for table, columns in binary.COLUMNS.items():
            sql.copy_binary(f"results_{table}", columns, batch.binary[table])
        store_values(batch.values)
        store_checked_builds(batch.checking)
        for table, last in batch.last_ids.items():
            _continue_after(table, last)


def _add_numbers(plan: _PlanOfEra, run_id: int, trials: Sequence[_Trial], batch: _Batch) -> None:
    """Add what the trials of a run measured."""
    keys = plan.measured.keys
    measured = plan.measured.values([one.index for one in trials], [one.chance for one in trials])
    for trial, numbers in zip(trials, measured, strict=True):
        configuration, attempt_id = plan.configurations[trial.index], trial.attempt_id
        batch.values.append((run_id, attempt_id, dict(zip(keys, numbers, strict=True))))
        if configuration.documents:
            batch.binary["document"].append(binary.rows("document", run_id, attempt_id, configuration.documents))
            batch.checking.append(attempt_id)
    detailed = [one for one in trials if one.chance.load]
    if detailed:
        _add_details(plan, run_id, detailed, batch)


def _add_details(plan: _PlanOfEra, run_id: int, trials: Sequence[_Trial], batch: _Batch) -> None:
    """Add histograms and series of the trials of a run that have them."""
    attempts, chances = [one.attempt_id for one in trials], [one.chance for one in trials]
    histograms = values.histograms([one.load for one in chances if one.load])
    for attempt_id, histogram in zip(attempts, histograms, strict=True):
        batch.rows["packedhistogram"].append((run_id, attempt_id, "client", "", *histogram))
    series = values.series([plan.configurations[one.index].speed.tps for one in trials], chances)
    batch.binary["seriesgroup"].append(binary.series_rows(run_id, attempts, series))


def _agents(count: int) -> list[models.Agent]:
    return [
        models.Agent.objects.create(
            name=f"made-up-{number}", host="192.0.2.1", data_dir="/srv/data", work_dir="/srv/work", enabled=False
        )
        for number in range(1, count + 1)
    ]


def _contact(era: int, majors: Mapping[int, int]) -> Contact:
    installations = []
    for major, minor in majors.items():
        home, version = f"/opt/postgresql-{major}/bin", f"{major}.{minor}"
        installations.append(
            DiscoveredInstallation(
                f"postgresql-{version}",
                home,
                home,
                version,
                major * 10000 + minor,
                (),
                shapes.ACCESS_METHODS,
                ("pg_prewarm",),
                has_jit=True,
            )
        )
    hardware = Layer(LayerKind.HARDWARE, {"cpu": {"model": "made-up processor", "cores": 32}})
    tools = {name: f"/usr/bin/{name}" for name in ("sar", "sadf", "awk")}
    disk = {"free_bytes": 2**42, "total_bytes": 2**43}
    return Contact((hardware,), installations, tools, disk, 32, 2**37, 0.0)


def _configuration(
    era: int,
    name: str,
    levels: Mapping[str, str],
    dimensions: Mapping[str, Any],
    spec: TrialSpec,
) -> _Configuration:
    version, access_method = str(dimensions.get("version", "")), str(dimensions.get("access_method", "heap"))
    layers = tuple(shapes.layers(era, version, dimensions))
    uses = tuple(dict.fromkeys((node, layer.hash) for node, layer in layers))
    documents = values.capabilities(access_method) if spec.workload == "capabilities" else ()
    return _Configuration(
        name[:500],
        json.dumps(levels),
        json.dumps(spec.to_json()),
        json.dumps(dimensions),
        tuple(layer for _, layer in layers),
        uses,
        environment_hash(uses),
        values.Speed.of(dimensions),
        tuple(binary.document(one.kind, one.node, one.label, json.dumps(one.content)) for one in documents),
    )


def _next_id(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", [f"results_{table}"])
        return int(cursor.fetchone()[0])


def _continue_after(table: str, last: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [f"results_{table}", last])
