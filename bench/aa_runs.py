"""A/A over repeated runs of a ready plan on real servers: each run starts its server anew and loads its data anew.

Measures how far runs lie apart beyond the noise of their replicates, and how often two runs of the same are called
different: by these two alone, and with the other runs of the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from django.conf import settings
from django.utils import timezone
from rich.console import Console
from rich.table import Table

from bench import agent as bench_agent
from bench.figures import Figure
from results import models, runs, stored_plans
from results.domain import plan as plans
from results.domain.measurement.metrics import Better
from results.domain.plan.recipes import read_all
from results.domain.statistics.verdict import Kind, Question, Sample, Verdict, judge
from results.queries.comparison.compare import Point, compare
from results.queries.shared.selection import Selection
from workers import attempt, dispatch, registry

PLAN = "wg1-read-scaleup"
RUNS = 8
REPLICATES = 3
CLIENTS = [1, 2, 4, 8]
LEVEL = 0.05
CLEAR = (Kind.BETTER, Kind.WORSE, Kind.HIGHER, Kind.LOWER)


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    """Run the ready plan eight times, whatever the rounds, with trials of `seconds`."""
    bench_agent.ready()
    kinds = registry.kinds()
    recipe = read_all(settings.TEITEN_PLAN_DIR, kinds).find(PLAN)
    assert recipe is not None
    mapping: dict[str, Any] = recipe.plan(size=1, agents={"primary": bench_agent.NAME}, installations=["16"])
    mapping |= {
        "name": f"A/A of {recipe.name}",
        "duration_s": max(1, round(seconds)),
        "replicates": REPLICATES,
        "data": "fresh",
        "settings": dict(mapping["settings"]) | {"shared_buffers": "256MB", "max_wal_size": "4GB"},
        "factors": dict(mapping["factors"]) | {"clients": CLIENTS},
    }
    plan = plans.from_mapping(mapping, kinds)
    stored = stored_plans.save_plan(plan, kinds, user=None, actor="bench")
    ids = []
    for seed in range(1, RUNS + 1):
        run = runs.create_run(replace(plan, seed=seed), kinds, actor="bench", stored=stored)
        while (attempt_id := dispatch.next_attempt(timezone.now())) is not None:
            attempt.run(attempt_id, "bench")
        done = models.Trial.objects.filter(run=run, state="done").count()
        console.print(f"  run {run.pk}: {done} of {run.trials.count()} trials done")
        ids.append(run.pk)
    return report(ids, console)


def report(run_ids: list[int], console: Console) -> list[Figure]:
    """Return the figures of runs of one plan that have ended, and print how far they lie apart."""
    console.print(_spreads(run_ids))
    alone: list[Verdict] = []
    known: list[Verdict] = []
    for pair in combinations(run_ids, 2):
        comparison = compare(Selection(pair, x="clients", series="run", metric="tps", baseline=str(pair[0])))
        known += [point.verdict for point in comparison.points if point.verdict]
        alone += judge(_alone(comparison.points, comparison.metric.minimum_effect))
    counts = [sum(verdict.kind in CLEAR for verdict in verdicts) for verdicts in (alone, known)]
    console.print(
        f"  of {len(known)} comparisons of equals, {counts[0]} are different in these two runs, "
        f"{counts[1]} with the spread of {max(verdict.runs for verdict in known)} other runs"
    )
    return [Figure("equal runs called different, with other runs", "", LEVEL, (counts[1] / len(known),))]


def _spreads(run_ids: list[int]) -> Table:
    """Return a table of how far single values and runs lie apart."""
    whole = compare(Selection(tuple(run_ids), x="clients", series="run", metric="tps"))
    table = Table("clients", "sd of single values", "sd of runs' means", "of which levels of runs", title="tps, %")
    for x in whole.xs:
        logs = [np.log([one.value for one in point.values]) for point in whole.points if point.x == x]
        within = float(np.mean([values.var(ddof=1) for values in logs]))
        between = float(np.var([values.mean() for values in logs], ddof=1))
        levels = max(between - within * float(np.mean([1 / len(values) for values in logs])), 0)
        table.add_row(x, *(f"{100 * variance**0.5:.1f}" for variance in (within, between, levels)))
    return table


def _alone(points: Sequence[Point], margin: float) -> list[Question]:
    """Return the same questions about these two runs, without what other runs say."""
    by_key = {point.key: point for point in points}
    return [
        Question(_sample(by_key[point.base]), _sample(point), Better.HIGHER, margin)
        for point in points
        if point.verdict and point.base
    ]


def _sample(point: Point) -> Sample:
    return Sample(
        tuple(one.value for one in point.values), tuple((one.run_id, one.block) for one in point.values), ("", "")
    )
