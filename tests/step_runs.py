"""Finished runs of workloads that are made of steps, queries or operations: bulk loads, the Star Schema Benchmark,
profiles of access methods. Their numbers are those of recorded outputs, a little apart from trial to trial."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from results import models, runs
from results.domain.kinds.specs import Reading
from results.domain.measurement.metrics import Metric
from results.domain.measurement.parsed_trial import Measurement
from tests import factories
from workers.registry import kinds
from workers.workloads.access_method.parse import parse as parse_access_method
from workers.workloads.bulk_load.parse import parse as parse_bulk_load
from workers.workloads.ssb.sequence import QUERIES

DATA = Path(__file__).parent / "data"
WAL_SKIPPING = [
    {"label": "skipped", "values": {"wal_skipping": True, "setting.wal_level": "minimal"}},
    {"label": "written", "values": {"wal_skipping": False, "setting.wal_level": "replica"}},
]
BUILDS = [
    {"label": f"{version} {method}", "values": {"installation": version, "access_method": method}}
    for version in ("16", "18")
    for method in ("heap", "heap2")
]
ENGINES = [  # an access method, and a setting that goes with it
    {"label": "heap as ever", "values": {"access_method": "heap", "setting.work_mem": "4MB"}},
    {"label": "heap2 with memory", "values": {"access_method": "heap2", "setting.work_mem": "64MB"}},
]
Factor = Callable[[models.Trial, Measurement], float]  # by what a recorded value is multiplied


def bulk_load_run(factors: Mapping[str, Sequence[Any]] | None = None, **changes: Any) -> models.Run:
    """Two installations, with and without WAL: what is written takes a half longer, and 18 is a tenth faster."""
    folder = DATA / "bulk_load" / "15" / "by-tables"
    files = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    part = parse_bulk_load(Reading("client", files, {"size_mb": 1}, (0.0, 3.0)))

    def factor(trial: models.Trial, _: Measurement) -> float:
        written = "written" in trial.configuration.levels.values()
        return (1.5 if written else 1.0) * (0.9 if _is_newer(trial) else 1.0)

    varied = factors or {"installation": ["16", "18"], "wal": WAL_SKIPPING}
    return _finished("bulk_load", varied, part.measurements, factor, {"size_mb": 1} | changes)


def ssb_run(factors: Mapping[str, Sequence[Any]] | None = None, **changes: Any) -> models.Run:
    """All queries by two installations: 18 is a fifth faster in the first flight, and as fast in the others."""
    seconds = {query: 0.4 + 0.13 * number for number, query in enumerate(QUERIES)}
    measurements = [Measurement("ssb.query.seconds", value, label=query) for query, value in seconds.items()]
    measurements += [Measurement("ssb.query.rows", 10, label=query) for query in seconds]
    measurements += [Measurement("ssb.pass.seconds", sum(seconds.values())), Measurement("ssb.executions", 39.0)]
    steps = {"dimensions": 2.0, "lineorder": 31.0, "primary keys": 4.0, "analyze": 1.5}
    measurements += [Measurement("ssb.load.seconds", value, label=step) for step, value in steps.items()]
    measurements.append(Measurement("ssb.load.seconds", sum(steps.values())))

    def factor(trial: models.Trial, measurement: Measurement) -> float:
        return 0.8 if _is_newer(trial) and measurement.label.startswith(("q1", "1")) else 1.0

    return _finished("ssb", factors or {"installation": ["16", "18"]}, measurements, factor, changes)


def access_method_run(factors: Mapping[str, Sequence[Any]] | None = None, **changes: Any) -> models.Run:
    """Builds of two versions: heap2 takes a tenth longer than heap and is as large."""
    files: dict[str, str] = json.loads((DATA / "access_method" / "15-heap.json").read_text())
    part = parse_access_method(Reading("client", files, {}, (0.0, 3.0)))

    def factor(trial: models.Trial, measurement: Measurement) -> float:
        second = trial.configuration.dimensions["access_method"] == "heap2"
        return 1.1 if second and not measurement.metric.startswith("size") else 1.0

    return _finished("access_method", factors or {"build": BUILDS}, part.measurements, factor, changes)


def _is_newer(trial: models.Trial) -> bool:
    return bool(trial.configuration.dimensions["major"] == "18")


def _finished(
    workload: str,
    factors: Mapping[str, Sequence[Any]],
    measurements: Sequence[Measurement],
    factor: Factor,
    parameters: Mapping[str, Any],
) -> models.Run:
    if not models.Agent.objects.filter(name="db1").exists():
        factories.agent()
    models.Installation.objects.filter(agent__name="db1").update(access_methods=["heap", "heap2"])
    run = factories.run(name=workload, workload=workload, factors=factors, parameters=parameters, replicates=4)
    metrics = _metrics(workload)
    chance = random.Random(run.pk)
    for trial in run.trials.select_related("configuration"):
        values = [
            Measurement(one.metric, one.value * factor(trial, one) * chance.gauss(1, 0.01), one.node, one.label)
            for one in measurements
        ]
        factories.finish(trial, 1.0, metrics=metrics, measurements=tuple(values))
    runs.close_finished(run.pk)
    run.refresh_from_db()
    return run


def _metrics(workload: str) -> tuple[Metric, ...]:
    return tuple(kinds().workloads[workload].metrics)
