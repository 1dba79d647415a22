"""Fills an empty warehouse with made-up plans, runs and trials by COPY."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from numpy.random import Generator, default_rng

from results import ingest, models, sql
from results.agents import Contact, DiscoveredInstallation, record_contact, store_layers
from results.checked_builds import store_checked_builds
from results.domain import plan as plans
from results.domain.environment.layers import Layer, LayerKind, environment_hash
from results.domain.errors import StateError
from results.domain.matrix import TrialSpec
from results.domain.measurement.metrics import Metric
from results.domain.measurement.parsed_trial import CommandRun, Document, LayerUse, ParsedTrial, PhaseTiming
from results.domain.measurement.record_texts import to_json
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds
from results.domain.states import Standing
from results.plan_check import resolve_plan
from results.runs import stored_dimensions
from results.stored_plans import save_plan
from results.synthesis import shapes, values

ACTOR = "command synthesize"
WATCHED = ("sar", "pg_stat", "latency_log")  # collectors whose metrics are made up too
_AT_ONCE = 5_000  # trials of one transaction
_EXCLUDED, _EXPLORATORY, _FAILED = 0.02, 0.2, 0.01  # shares of the runs, of the runs, of the trials
_TRIAL = timedelta(seconds=90)
_OVERHEAD = timedelta(seconds=20)


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
    """A configuration of a plan in an era, ready for COPY."""

    name: str
    levels: str
    spec: str
    dimensions: Mapping[str, Any]
    uses: tuple[LayerUse, ...]
    environment: str
    measured: values.Measured
    documents: tuple[Document, ...]


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
    configurations: tuple[_Configuration, ...]


@dataclass
class _Batch:
    """Rows of some runs, (columns in the order of _COLUMNS)."""

    run: list[tuple[Any, ...]] = field(default_factory=list)
    configuration: list[tuple[Any, ...]] = field(default_factory=list)
    trial: list[tuple[Any, ...]] = field(default_factory=list)
    attempt: list[tuple[Any, ...]] = field(default_factory=list)
    parsed: list[tuple[int, int, ParsedTrial]] = field(default_factory=list)


# of every attempt
_PHASES = (PhaseTiming("load", 0, 15.0), PhaseTiming("measure", 20.0, 60.0))
_COMMANDS = (CommandRun("client", "measure", "pgbench --client 1 --time 60 bench", 0, 60.1),)
_RECORD = {
    "phases": json.dumps(to_json("phases", _PHASES)),
    "commands": json.dumps(to_json("commands", _COMMANDS)),
    **dict.fromkeys(("checks", "files", "events", "gaps"), "[]"),
}
_COLUMNS = {
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
}
_ERROR = {
    "kind": "trial",
    "what": "pgbench ended with status 1.",
    "where": "measure",
    "why": "made up",
    "todo": "",
    "retryable": False,
}


def synthesize(size: Size, kinds: Kinds, now: datetime, done: Callable[[int], None] = lambda trials: None) -> Made:
    """Fill an empty warehouse. The same size makes the same numbers. Raises StateError where the warehouse has runs:
    made-up numbers beside measured ones would be taken for these.

    done: called with the number of trials after each transaction
    """
    if models.Run.objects.exists():
        raise StateError(
            _("This warehouse has runs."),
            why=_("Made-up numbers beside measured ones would be taken for these."),
            todo=_("Name an empty one in TEITEN_DATABASE_URL, and migrate it first."),
        )
    return _Writer(size, kinds, now).write(done)


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
        self.last_ids = {table: _next_id(table) - 1 for table in _COLUMNS}
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
            _configuration(era, one.name, dict(one.levels), stored_dimensions(spec, self.kinds), spec, chosen)
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
            configurations,
        )

    def write(self, done: Callable[[int], None]) -> Made:
        ingest.store_metrics(
            {metric.name: metric for plan in self._all() for metric in plan.metrics}.values(),
            private=False,
        )
        used = {use.layer.hash: use.layer for plan in self._all() for one in plan.configurations for use in one.uses}
        store_layers(list(used.values()))
        batch = _Batch()
        for number in range(self.rounds):
            era = number * len(self.plans) // self.rounds
            for plan in self.plans[era]:
                self._run(plan, era, batch)
                if len(batch.trial) >= _AT_ONCE:
                    self._flush(batch, done)
                    batch = _Batch()
        self._flush(batch, done)
        return Made(self.runs, self.trials, self.measurements)

    def _all(self) -> Iterator[_PlanOfEra]:
        return (plan for of_era in self.plans for plan in of_era)

    def _next(self, table: str) -> int:
        self.last_ids[table] += 1
        return self.last_ids[table]

    def _run(self, plan: _PlanOfEra, era: int, batch: _Batch) -> None:
        run_id, started_at = self._next("run"), self.at
        ids = [self._next("configuration") for _ in plan.configurations]
        of_run = self.chance.normal(0, values.OF_RUN)
        position = 0
        for block in range(1, plan.blocks + 1):
            of_block = of_run + self.chance.normal(0, values.OF_BLOCK)
            for index in self.chance.permutation(len(ids)).tolist():
                at = started_at + position * _TRIAL
                self._trial(plan, run_id, (ids[index], index, block, position), of_block, at, batch)
                position += 1
        ended_at = started_at + position * _TRIAL
        self.at += position * _TRIAL / len(self.agents)
        batch.run.append(
            (
                *(run_id, plan.stored.pk, plan.plan.name, plan.plan.workload, plan.headline, plan.toml, plan.factors),
                *(plan.plan.hash, plan.plan.seed, plan.blocks, "finished", self._standing(), [plan.agent]),
                *(started_at, started_at, ended_at),
            )
        )
        batch.configuration += [
            (id_, run_id, index, one.name, one.levels, one.spec, json.dumps(one.dimensions))
            for index, (id_, one) in enumerate(zip(ids, plan.configurations, strict=True))
        ]

    def _standing(self) -> str:
        share = self.chance.random()
        if share < _EXCLUDED:
            return Standing.EXCLUDED
        return Standing.EXPLORATORY if share < _EXPLORATORY else Standing.KEPT

    def _trial(
        self,
        plan: _PlanOfEra,
        run_id: int,
        place: tuple[int, int, int, int],
        of_block: float,
        at: datetime,
        batch: _Batch,
    ) -> None:
        """place: id and index of the configuration, block and position"""
        configuration_id, index, block, position = place
        trial_id, attempt_id = self._next("trial"), self._next("attempt")
        configuration = plan.configurations[index]
        failed = self.chance.random() < _FAILED
        parsed = self._parsed(configuration, f"{run_id}/{trial_id}", of_block, at)
        state, error, ended_at = "failed" if failed else "done", json.dumps(_ERROR) if failed else None, at + _TRIAL
        counted = None if failed else attempt_id
        batch.trial.append(
            (
                *(trial_id, run_id, configuration_id, block, position, [plan.agent], state, ended_at, 1),
                *(counted, "", error),
            )
        )
        batch.attempt.append(
            (
                *(attempt_id, run_id, trial_id, 1, state, "", at, ended_at, parsed.measured_from, parsed.measured_to),
                *(error, "", "", ended_at, configuration.environment, *_RECORD.values(), "{}"),
            )
        )
        batch.parsed.append((run_id, attempt_id, parsed))

    def _parsed(self, configuration: _Configuration, key: str, of_block: float, at: datetime) -> ParsedTrial:
        chance: Generator = self.chance
        speed = values.Speed.of(configuration.dimensions, of_block + chance.normal(0, values.OF_TRIAL))
        detailed = chance.random() < self.size.detailed
        window = timedelta(seconds=values.SECONDS)
        return ParsedTrial(
            trial_key=key,
            attempt=1,
            started_at=at,
            measured_from=at + _OVERHEAD,
            measured_to=at + _OVERHEAD + window,
            succeeded=True,
            error=None,
            phases=_PHASES,
            commands=_COMMANDS,
            checks=(),
            files=(),
            measurements=tuple(configuration.measured.values(speed, chance)),
            series=tuple(values.series(speed, chance)) if detailed else (),
            latencies=(values.latencies(speed, chance),) if detailed else (),
            layers=configuration.uses,
            documents=configuration.documents,
        )

    def _flush(self, batch: _Batch, done: Callable[[int], None]) -> None:
        with transaction.atomic():
            for table, columns in _COLUMNS.items():
                sql.copy(f"results_{table}", columns, getattr(batch, table))
            ingest.copy_tables(batch.parsed)
            store_checked_builds([attempt_id for _, attempt_id, parsed in batch.parsed if parsed.documents])
            for table, last in self.last_ids.items():
                _continue_after(table, last)
        self.runs += len(batch.run)
        self.trials += len(batch.trial)
        self.measurements += sum(len(parsed.measurements) for _, _, parsed in batch.parsed)
        done(self.trials)


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
    chosen: Sequence[tuple[Metric, str, str]],
) -> _Configuration:
    version, access_method = str(dimensions.get("version", "")), str(dimensions.get("access_method", "heap"))
    uses = tuple(LayerUse(node, layer) for node, layer in shapes.layers(era, version, dimensions))
    return _Configuration(
        name[:500],
        json.dumps(levels),
        json.dumps(spec.to_json()),
        dimensions,
        uses,
        environment_hash((use.node, use.layer.hash) for use in uses),
        values.Measured.of(chosen, float(dimensions.get("clients") or 1)),
        tuple(values.capabilities(access_method)) if spec.workload == "capabilities" else (),
    )


def _next_id(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", [f"results_{table}"])
        return int(cursor.fetchone()[0])


def _continue_after(table: str, last: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [f"results_{table}", last])
