"""A/A on real servers: a pgbench plan in which every configuration occurs twice, in blocks of random order.

Measures how many comparisons of equals the rule calls different, and how far metrics spread."""

from __future__ import annotations

import numpy as np
from django.utils import timezone
from rich.console import Console
from rich.table import Table
from scipy import stats

from bench import agent as bench_agent
from bench.figures import Figure
from results import models, noise, runs, sql
from results.domain import plan as plans
from results.domain.measurement.metrics import Better
from results.domain.plan.aa import twinned
from results.domain.statistics.verdict import Kind, Question, Verdict, judge
from results.noise import AaPair
from workers import attempt, dispatch, registry

BLOCKS = 5
LEVEL = 0.05
CLEAR = (Kind.BETTER, Kind.WORSE, Kind.HIGHER, Kind.LOWER)
FACTORS = {"script": ["select-only", "simple-update", "tpcb-like"], "clients": [1, 2, 4, 8]}


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    """Run the A/A plan with trials of `seconds`, in five blocks whatever the rounds."""
    bench_agent.ready()
    kinds = registry.kinds()
    mapping = bench_agent.PLAN | {"duration_s": max(1, round(seconds)), "replicates": BLOCKS, "factors": FACTORS}
    run = runs.create_run(twinned(plans.from_mapping(mapping, kinds)), kinds, actor="bench")
    while (attempt_id := dispatch.next_attempt(timezone.now())) is not None:
        attempt.run(attempt_id, "bench")
    states = models.Trial.objects.filter(run=run).values_list("state", flat=True)
    console.print(f"  run {run.pk}: {list(states).count('done')} of {len(states)} trials done")
    return report(run.pk, console)


def report(run_id: int, console: Console) -> list[Figure]:
    """Return the figures of an A/A run that has ended, and print a table of its metrics."""
    metrics = {metric.name: metric for metric in models.Metric.objects.all()}
    pairs = sql.rows(AaPair, sql.load(noise.__file__), {"run_id": run_id, "fewest": 3})
    questions = []
    for pair in pairs:
        metric = metrics[pair.metric]
        questions.append(Question(*pair.samples, Better(metric.better), metric.minimum_effect))
    table = Table("metric", "cells", "p ≤ 5 %", "different alone", "different together", "median spread")
    groups: dict[str, list[Question]] = {}
    for pair, question in zip(pairs, questions, strict=True):
        if question.better is not Better.NEITHER and not pair.label:
            groups.setdefault(pair.metric, []).append(question)
    directed = [question for group in groups.values() for question in group]
    for name, group in {"everything": questions, "where a direction is better": directed, **groups}.items():
        table.add_row(name, *_table_cells(group))
    console.print(table)
    alone = [judge([question])[0] for question in directed]
    together: list[Verdict] = []
    for group in groups.values():
        together += judge(group)  # as a page judges its cells
    chance = float(stats.binom.ppf(0.999, len(directed), LEVEL) / len(directed))
    return [
        Figure("A against A called different, each alone", "", chance, (_share(alone),)),
        Figure("A against A called different, a metric together", "", LEVEL, (_share(together),)),
    ]


def _share(verdicts: list[Verdict]) -> float:
    return _count_clear(verdicts) / max(len(verdicts), 1)


def _count_clear(verdicts: list[Verdict]) -> int:
    return sum(verdict.kind in CLEAR for verdict in verdicts)


def _table_cells(questions: list[Question]) -> list[str]:
    alone = [judge([question])[0] for question in questions]
    together = judge(questions)
    bases = [question.base.values for question in questions]
    spreads = [np.std(np.log(values), ddof=1) for values in bases if min(values) > 0]
    significant = sum(verdict.p is not None and verdict.p <= LEVEL for verdict in alone)
    counts = (significant, _count_clear(alone), _count_clear(together))
    spread = f"{100 * np.median(spreads):.1f} %" if spreads else "–"
    return [str(len(questions)), *(f"{count} ({100 * count / len(questions):.1f} %)" for count in counts), spread]
