"""Seconds of a trial beyond its measured window, with a reused server and data: from lease to stored numbers."""

from __future__ import annotations

from django.utils import timezone
from rich.console import Console

from bench import agent as bench_agent
from bench.figures import Figure
from results import models, runs
from results.domain import plan as plans
from workers import attempt, dispatch, registry

CEILING_S = 1.0


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    bench_agent.ready()
    kinds = registry.kinds()
    mapping = bench_agent.PLAN | {"duration_s": 3, "replicates": rounds + 1}
    mapping["parameters"] = bench_agent.PLAN["parameters"] | {"script": "select-only"}
    run = runs.create_run(plans.from_mapping(mapping, kinds), kinds, actor="bench")
    while (attempt_id := dispatch.next_attempt(timezone.now())) is not None:
        attempt.run(attempt_id, "bench")
    overheads_s = []
    for row in models.Attempt.objects.filter(run=run).order_by("pk")[1:]:
        if row.error is not None or not (row.ended_at and row.measured_from and row.measured_to):
            raise RuntimeError(row.error)
        window_s = (row.measured_to - row.measured_from).total_seconds()
        overheads_s.append((row.ended_at - row.started_at).total_seconds() - window_s)
        phases = ", ".join(f"{phase['name']} {phase['seconds']:.3f}" for phase in row.phases)
        console.print(f"  {overheads_s[-1]:.3f} s beyond {window_s:.3f} s: {phases}")
    return [Figure("overhead of a trial", "s", CEILING_S, tuple(overheads_s))]
