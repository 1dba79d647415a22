"""Warehouses as a team has them after a while, for looking at pages and for tests of them.

`make look WAREHOUSE=grown` serves one (tests/look.py). Every number in them is made up."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from results import models, runs
from results.domain import plan
from results.domain.measurement.metrics import TOTAL, Better, Metric
from results.domain.measurement.parsed_trial import Measurement
from results.domain.measurement.series import Series
from results.runs import create_run
from results.stored_plans import save_plan
from tests import factories
from tests.ready_plans import RECIPES, compared
from workers.registry import kinds

VERSIONS = {"15.14": 150014, "16.9": 160009, "17.5": 170005, "18.1": 180001}
SPEED = {"15": 0.97, "16": 1.0, "17": 1.034, "18": 1.071}
RECIPES_OF_A_TEAM = (
    "wg1-read-scaleup",
    "wg1-update-scaleup",
    "wg1-tiny-tpcc",
    "wg1-background-work",
    "wg1-bulk-load",
    "wg1-ssb-parallel",
    "wg1-access-methods-zheap",
    "wg1-cascading",
    "wg1-pgpool-read",
    "flash-oltp",
)
STEPS = ("copy", "primary keys", "foreign keys", "vacuum", "analyze")
LABELS = {
    "waits": ("CPU: running", "LWLock: WALWrite", "IO: WalSync", "Lock: transactionid", "Client: ClientRead"),
    "bulk.seconds": STEPS,
    "bulk.wal": STEPS,
    "ssb.query.seconds": tuple(f"q{flight}.{number}" for flight in (1, 2, 3, 4) for number in (1, 2, 3)),
    "ssb.load.seconds": ("dimensions", "lineorder", "primary keys", "foreign keys", "vacuum", "analyze"),
    "load.seconds": ("item", "warehouse", "stock", "customer", "order_line", "primary keys", "vacuum analyze"),
    "scan.seconds": ("id", "val10", "val20"),
    "maintenance.seconds": ("VACUUM", "ANALYZE", "CLUSTER", "REINDEX", "VACUUM FULL"),
}
BASE_OF_UNIT = {"tps": 1000.0, "us": 900.0, "s": 12.0, "B": 4e8, "B/s": 3e7, "%": 45.0, "1/s": 5000.0, "1": 200.0}
SECONDS = 60
_AGENTS = ("db1", "db2")


@dataclass(frozen=True)
class Told:
    """What a trial's numbers follow from.

    speed: of its version, access method and day.
    clients: its load.
    noise: by how much it was faster as a whole, as a logarithm."""

    speed: float
    clients: float
    noise: float
    chance: random.Random

    def wobble(self) -> float:
        """Return a factor of its own for what is counted beside the speed."""
        return math.exp(self.chance.gauss(0, 0.004))

    def of(self, metric: Metric, label: str = "") -> float:
        """Return a value that is the same function of metric and label in every trial, with a noise of 1.5 %."""
        base = BASE_OF_UNIT.get(metric.unit, 1.0) * (0.5 + _share(f"{metric.name} {label}"))
        load = self.clients**0.8 if metric.unit in ("tps", "1/s", "B/s") else 1.0
        faster = {Better.HIGHER: self.speed, Better.LOWER: 1 / self.speed, Better.NEITHER: 1.0}[metric.better]
        value = base * load * faster * math.exp(self.chance.gauss(0, 0.015))
        return min(value, 97.0) if metric.unit == "%" else value


def _share(text: str) -> float:
    """Return a number from 0 to 1 that belongs to a text."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 16**8


def empty() -> None:
    """Nothing but a member who may do everything."""
    factories.member(staff=True)


def one_run() -> None:
    """One agent, and one run of 16 and 18 that ended an hour ago."""
    empty()
    _agents(1)
    _measure(_run(_mapping("first look", replicates=3), timezone.now() - timedelta(hours=1)))


def grown() -> None:
    """Forty runs of twelve plans over ten months: kept ones, and toys, failures and one that runs."""
    empty()
    _agents(2)
    now = timezone.now()
    for number, slug in enumerate(RECIPES_OF_A_TEAM):
        for month in (0, 3, 7)[: 2 + number % 2]:
            at = now - timedelta(days=290 - 30 * month - number)
            _measure(_run(_recipe(slug, _AGENTS[number % 2]), at, "kept"), at_month=month)
    for week in range(8):
        at = now - timedelta(days=7 * (8 - week))
        _measure(_run(_mapping("nightly", clients=[1, 8], replicates=3), at, "kept"), at_month=week)
    for number, name in enumerate(("test", "try 2", "asdf", "just looking", "tmp", "test again")):
        at = now - timedelta(days=5, hours=-number)
        toy = _mapping(name, factors={"installation": ["18"]}, replicates=1, duration_s=2)
        _measure(_run(toy, at), speed=0.4 + 0.3 * number)
    _one_that_failed(now - timedelta(days=2))
    _one_that_runs()


def many_rows() -> None:
    """One run of 500 configurations."""
    empty()
    _agents(1)
    factors = {"installation": ["16", "18"], "clients": list(range(1, 26)), "setting.work_mem": _memory(10)}
    _measure(_run(_mapping("every setting", factors=factors, replicates=2), timezone.now() - timedelta(days=1)))


def long_names() -> None:
    """One run whose plan, agent and levels are called by everything that is known of them."""
    empty()
    name = "db-primary-01.rack-17.frankfurt.measurements.example"
    factories.agent(name, VERSIONS)
    levels = [
        {"label": f"shared_buffers {size} with huge pages, data on {disk}", "values": {"setting.shared_buffers": size}}
        for size in ("128MB", "8GB")
        for disk in ("NVMe RAID 10, xfs, noatime",)
    ]
    long_name = "TPC-B-like of the quarterly review after the kernel update, with and without huge pages, final (2)"
    mapping = _mapping(long_name, replicates=3, agents={"primary": name})
    mapping["factors"] = {"installation": ["16", "18"], "memory and storage": levels}
    _measure(_run(mapping, timezone.now() - timedelta(hours=3), "kept"))


WAREHOUSES: Mapping[str, Callable[[], None]] = {
    "empty": empty,
    "one-run": one_run,
    "grown": grown,
    "many-rows": many_rows,
    "long-names": long_names,
}


def _memory(count: int) -> list[str]:
    return [f"{4 * 2**step}MB" for step in range(count)]


def _agents(count: int) -> None:
    for name in _AGENTS[:count]:
        factories.agent(name, VERSIONS)
    models.Installation.objects.update(access_methods=["heap", "zheap"], extensions=["postgres_fdw", "pg_prewarm"])
    models.Agent.objects.update(cores=16, memory_bytes=2**36, disk={"free_bytes": 2**42, "total_bytes": 2**43})
    for agent in models.Agent.objects.all():
        agent.tools = agent.tools | {"pgpool": "/usr/sbin/pgpool pgpool-II version 4.3.5"}
        agent.save(update_fields=["tools"])


def _mapping(name: str, clients: Sequence[int] = (1, 4, 16), **changes: Any) -> dict[str, Any]:
    factors = {"installation": list(_majors()), "clients": list(clients)}
    return factories.mapping(**({"name": name, "factors": factors, "duration_s": 60} | changes))


def _majors() -> Iterator[str]:
    return (version.split(".")[0] for version in VERSIONS)


def _recipe(slug: str, agent: str) -> dict[str, Any]:
    """Return a ready plan for an agent as a team would take it, with three replicates."""
    recipe = RECIPES[slug]
    installations = [f"postgresql-{version}" for version in VERSIONS]
    chosen = compared(recipe, installations[-2:] if recipe.compare == "builds" else installations, ("heap", "zheap"))
    mapping = recipe.plan(size=recipe.laptop, agents=dict.fromkeys(recipe.roles, agent), **chosen)
    return mapping | {"replicates": 3, "seed": 7}


def _run(mapping: Mapping[str, Any], at: datetime, standing: str = "exploratory") -> models.Run:
    """A run that was created at that time."""
    wanted = plan.from_mapping(mapping, kinds())
    stored = models.Plan.objects.filter(name=wanted.name).first() or save_plan(
        wanted, kinds(), user=None, actor="tests"
    )
    made = create_run(wanted, kinds(), stored=stored, actor="tests", as_admin=True)
    models.Run.objects.filter(pk=made.pk).update(created_at=at, started_at=at, standing=standing)
    return made


def _measure(run: models.Run, *, speed: float = 1.0, at_month: int = 0) -> None:
    """Finish all of a run's trials; a run a month is a little slower or faster as a whole."""
    chance = random.Random(f"{run.name} {at_month}")
    level = speed * math.exp(chance.gauss(0, 0.004))
    workload = kinds().workloads[run.workload]
    watched = [metric for name in ("sar", "pg_stat", "latency_log") for metric in kinds().collectors[name].metrics]
    for trial in run.trials.select_related("configuration").order_by("position"):
        dimensions = trial.configuration.dimensions
        clients = float(dimensions.get("clients") or 1)
        told = Told(level * _speed(dimensions), clients, chance.gauss(0, 0.015), chance)
        attempt = factories.finish(
            trial,
            1.0,
            metrics=(*workload.metrics, *watched),
            measurements=tuple(_values(told, workload.metrics, "")) + tuple(_values(told, watched, "primary")),
            series=tuple(_series(told)),
        )
        began = run_started(run) + timedelta(minutes=2 * trial.position)
        window_s = timedelta(seconds=float(dimensions.get("duration_s") or SECONDS))
        models.Attempt.objects.filter(pk=attempt.pk).update(
            started_at=began, measured_from=began, measured_to=began + window_s, ended_at=began + window_s
        )
    runs.close_finished(run.pk)
    models.Run.objects.filter(pk=run.pk).update(ended_at=run_started(run) + timedelta(hours=2))


def run_started(run: models.Run) -> datetime:
    started_at = models.Run.objects.values_list("started_at", flat=True).get(pk=run.pk)
    assert started_at is not None
    return started_at


def _speed(dimensions: Mapping[str, Any]) -> float:
    return SPEED.get(str(dimensions.get("major")), 1.0) * (0.86 if dimensions.get("access_method") == "zheap" else 1.0)


def _values(told: Told, metrics: Sequence[Metric], node: str) -> Iterator[Measurement]:
    for metric in metrics:
        labels = LABELS.get(metric.name, ())
        if labels and metric.whole == TOTAL:
            yield from _adding_up(told, metric, node, labels)
            continue
        if metric.whole or not labels:
            value = _COUNTED[metric.name](told) if metric.name in _COUNTED else told.of(metric)
            yield Measurement(metric.name, value, node)
        for label in labels:
            yield Measurement(metric.name, told.of(metric, label), node, label)


def _adding_up(told: Told, metric: Metric, node: str, labels: Sequence[str]) -> Iterator[Measurement]:
    """Yield parts, and a total with a little time between them."""
    parts = [Measurement(metric.name, told.of(metric, label), node, label) for label in labels]
    yield from parts
    yield Measurement(metric.name, 1.02 * sum(part.value for part in parts), node)


def _tps(told: Told) -> float:
    return 1000 * told.speed * told.clients**0.8 * math.exp(told.noise)


# what counts the work done, or follows from how fast it was done
_COUNTED: Mapping[str, Callable[[Told], float]] = {
    "tps": _tps,
    "transactions": lambda told: _tps(told) * SECONDS,
    "latency.mean": lambda told: told.clients / _tps(told) * 1e6,
    "latency.p99": lambda told: 4 * told.clients / _tps(told) * 1e6,
    "wal.bytes": lambda told: _tps(told) * SECONDS * (853 if told.speed > 1.05 else 820) * told.wobble(),
    "blocks.read": lambda told: _tps(told) * SECONDS * 1.8 * told.wobble(),
    "blocks.written": lambda told: _tps(told) * SECONDS * 0.7 * told.wobble(),
    "context_switches": lambda told: _tps(told) * 6.5 * told.wobble(),
    "cpu.busy": lambda told: 88.0 * math.exp(told.noise),
}


def _series(told: Told) -> Iterator[Series]:
    def noisy(middle: float) -> tuple[float, ...]:
        return tuple(middle * math.exp(told.chance.gauss(0, 0.04)) for _ in range(SECONDS))

    yield Series("tps", "client", "tps", 0, 1, noisy(1000 * told.speed * told.clients**0.8))
    yield Series("cpu.user", "primary", "%", 0, 1, noisy(40))
    yield Series("cpu.system", "primary", "%", 0, 1, noisy(12))


def _one_that_failed(at: datetime) -> None:
    run = _run(_mapping("tpcb large", replicates=2), at)
    for trial in run.trials.order_by("position"):
        if trial.position % 3:
            factories.finish(trial)
        else:
            factories.fail(trial, "pgbench ended with status 1.", why="could not extend file: No space left on device")
    runs.close_finished(run.pk)


def _one_that_runs() -> None:
    run = _run(_mapping("release candidate", replicates=3), timezone.now() - timedelta(minutes=20))
    for trial in run.trials.select_related("configuration").order_by("position")[:14]:
        factories.finish(trial)
    factories.begin(run.trials.get(position=14), "measure", 60)
    models.Run.objects.filter(pk=run.pk).update(state="running")
