"""For tests of two cells: what collectors would have measured in the trials of a finished run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from results import models
from results.domain.environment.layers import Layer, LayerKind
from tests import factories
from tests.environments import set_environment

PROCESSORS, SECONDS = 2, 5  # of tests.factories.parsed: the window is five seconds
PLAN: dict[str, Any] = {
    "Plan": {
        "Node Type": "Hash Join",
        "Plan Rows": 10,
        "Actual Rows": 10,
        "Actual Loops": 1,
        "Actual Total Time": 9.0,
        "Plans": [
            {"Node Type": "Seq Scan", "Relation Name": "lineorder", "Plan Rows": 10},
            {"Node Type": "Hash", "Plans": [{"Node Type": "Seq Scan", "Relation Name": "date", "Plan Rows": 3}]},
        ],
    },
    "Execution Time": 9.5,
}
_METRICS = {
    "transactions": ("1", "neither"),
    "cpu.busy": ("%", "neither"),
    "wal.bytes": ("B", "lower"),
    "blocks.read": ("1", "lower"),
    "blocks.hit": ("1", "neither"),
    "waits": ("1", "neither"),
    "disk.write": ("B/s", "neither"),
    "context_switches": ("1/s", "neither"),
}


def watched_run(replicates: int = 5, **changes: Any) -> models.Run:
    """A finished run of 16 and 18, each trial with the numbers of `measured`, two processors, and plans of q1 that
    differ."""
    run = factories.finished_run(replicates=replicates, **changes)
    for name, (unit, better) in _METRICS.items():
        models.Metric.objects.get_or_create(
            name=name, defaults={"unit": unit, "better": better, "label": name, "minimum_effect": 0.02}
        )
    hardware = Layer(LayerKind.HARDWARE, {"cpu": {"online": PROCESSORS}})
    layer, _ = models.Layer.objects.get_or_create(
        hash=hardware.hash, defaults={"kind": "hardware", "content": hardware.content}
    )
    for trial in run.trials.select_related("configuration"):
        used = models.LayerUse.objects.filter(attempt=trial.attempt_id).values_list("node", "layer_id")
        set_environment(trial.attempt_id, [*used, ("primary", layer.pk)])
        models.Measurement.objects.bulk_create(
            models.Measurement(
                run=run, attempt_id=trial.attempt_id, metric_id=metric, node=node, label=label, value=value
            )
            for metric, node, label, value in measured(trial)
        )
        models.Document.objects.filter(attempt_id=trial.attempt_id, kind="plan").update(content=[plan_of(trial)])
    return run


def measured(trial: models.Trial) -> Iterator[tuple[str, str, str, float]]:
    """(metric, node, label, value). Of a transaction: as much CPU time as fits in, so 1/1.125 of it in 18; 3,000 B of
    WAL in 16 and 3,300 in 18; 20 blocks hit in both, none read. Half of 18's sessions' time goes to locks, a quarter of
    16's. A little more in later blocks."""
    newer, more = is_newer(trial), 1 + trial.block / 1000
    transactions = factories.usual_tps(trial) * SECONDS
    yield "transactions", "", "", transactions
    yield "cpu.busy", "primary", "", 50.0 * more
    yield "wal.bytes", "primary", "", (3300 if newer else 3000) * transactions * more
    yield "blocks.read", "primary", "", 0.0
    yield "blocks.hit", "primary", "", 20 * transactions * (1 + trial.block / 1e5)
    yield "context_switches", "primary", "", 4000 * more
    yield "disk.write", "primary", "vda", 1e6 * more
    yield "waits", "primary", "CPU: running", 2.0 if newer else 3.0
    yield "waits", "primary", "Lock: transactionid", (2.0 if newer else 1.0) * more


def is_newer(trial: models.Trial) -> bool:
    return bool(trial.configuration.dimensions["major"] == "18")


def plan_of(trial: models.Trial) -> Mapping[str, Any]:
    """18 takes a nested loop for the hash join."""
    return PLAN | {"Plan": PLAN["Plan"] | {"Node Type": "Nested Loop"}} if is_newer(trial) else PLAN
