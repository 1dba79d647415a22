"""Finished trials of several servers, for tests: what a bundle of a streaming or cascading trial says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from results import models, runs
from results.domain.matrix import TrialSpec
from results.domain.measurement.parsed_trial import Check, Event, Measurement
from results.domain.measurement.series import Series
from tests import factories
from workers.registry import known_metrics

SECONDS = 5
STANDBYS = {"standbys": 2, "synchronous": "remote_apply"}


def arranged_run(
    topology: str = "streaming", *, agents: Mapping[str, str] | None = None, synchronous: bool = True, **changes: Any
) -> models.Run:
    """A finished run of one configuration of these servers.

    agents: as of a plan; those that are missing are made.
    changes: of the plan."""
    agents = agents or {"primary": "db1", "standby": "db2"}
    for name in dict.fromkeys(["db1", *agents.values()]):
        if not models.Agent.objects.filter(name=name).exists():
            factories.agent(name)
    plan: dict[str, Any] = {
        "topology": topology,
        "topology_parameters": STANDBYS if topology == "streaming" else {"standbys": 2},
        "factors": {"installation": ["16"]},
        "parameters": {"scale": 5, "clients": 4, "script": "tpcb-like"},
        "replicates": 1,
    }
    made = factories.run(**plan | changes, agents=agents)
    for trial in made.trials.select_related("configuration"):
        finish(trial, synchronous=synchronous)
    runs.close_finished(made.pk)
    made.refresh_from_db()
    return made


def finish(trial: models.Trial, *, synchronous: bool = True) -> models.Attempt:
    """The trial done: 1000 tps a server that takes load, sar of every machine, lag of every standby."""
    spec = TrialSpec.from_json(trial.configuration.spec)
    declared = {metric.name: metric for metric in (*factories.METRICS, *known_metrics())}
    measurements = (
        *_of_loads(spec),
        *(m for node in _standbys(spec) for m in _lag_numbers(spec, node)),
        Measurement("replication.catch_up", 0.25, _standbys(spec)[0]),
    )
    return factories.finish(
        trial,
        metrics=tuple(declared[name] for name in sorted({m.metric for m in measurements})),
        measurements=measurements,
        series=(*_rates(spec), *_machines(spec), *(_lag(spec, node) for node in _standbys(spec))),
        checks=tuple(_checks(spec, synchronous)),
        events=(
            Event(1.5, "primary", "checkpoint", "checkpoint starting: time"),
            Event(3.5, "primary", "checkpoint", "checkpoint complete: wrote 10 buffers"),
        ),
    )


def _standbys(spec: TrialSpec) -> tuple[str, ...]:
    return tuple(node for node in spec.nodes if node != "primary")


def _upstream(spec: TrialSpec, node: str) -> str:
    return "cascade" if "cascade" in spec.nodes and node != "cascade" else "primary"


def _checks(spec: TrialSpec, synchronous: bool) -> Iterator[Check]:
    state = "sync" if synchronous and spec.topology == "streaming" else "async"
    for node in _standbys(spec):
        yield Check(f"stream from {_upstream(spec, node)}", node, "streaming", "streaming", True)
        yield Check("synchronous state", node, state, state, True)


def _of_loads(spec: TrialSpec) -> Iterator[Measurement]:
    own = [load for load in spec.loads if load.workload]
    for place, load in enumerate(spec.loads):
        yield Measurement("tps", 1000.0 + place, load.name)
        yield Measurement("latency.p99", 2000.0 + place, load.name)
    yield Measurement("tps", sum(1000.0 + place for place, load in enumerate(spec.loads) if load.workload) or 1000.0)
    if len(own) > 1:
        yield Measurement("latency.p99", 2100.0)


def _lag_numbers(spec: TrialSpec, node: str) -> Iterator[Measurement]:
    for label, share in (("", 1.0), ("sent", 0.1), ("written", 0.2), ("flushed", 0.3)):
        bytes_behind = _lag(spec, node).values
        mean = share * sum(bytes_behind) / len(bytes_behind)
        yield Measurement("replication.lag_bytes", mean, node, label)
        yield Measurement("replication.lag_bytes.max", share * max(bytes_behind), node, label)
        if label != "sent":
            yield Measurement("replication.lag", share * 0.012, node, label)


def _rates(spec: TrialSpec) -> Iterator[Series]:
    for load in [load.name for load in spec.loads] or ["client"]:
        yield Series("tps", load, "tps", 0, 1, tuple(1000.0 + 10 * second for second in range(SECONDS)))


def _machines(spec: TrialSpec) -> Iterator[Series]:
    """As sar: each machine once, under the first server that it plays, else under the client."""
    seen: set[str] = set()
    for place, node in enumerate((*spec.nodes, *spec.clients)):
        if spec.agents[node] in seen:
            continue
        seen.add(spec.agents[node])
        busy = tuple(60.0 + 30 * math.sin(second / 3 + place) for second in range(10 * SECONDS))
        for name in ("cpu.busy", "cpu.user"):
            yield Series(name, node, "%", 0.05, 0.1, busy)
        for disk, share in (("sda", 0.6), ("sdb", 0.3)):
            values = tuple(share * value for value in busy)
            yield Series("disk.utilisation", node, "%", 0.05, 0.1, values, disk)


def _lag(spec: TrialSpec, node: str) -> Series:
    size = 2**20 * (1 + _standbys(spec).index(node))
    values = tuple(size * max(0.0, math.sin(tenth / 8)) for tenth in range(10 * SECONDS + 4))
    return Series("replication.lag_bytes", node, "B", 0.05, 0.1, values)
