"""The Star Schema Benchmark with and without counting its parallel workers, alternated: does counting cost anything?

And how long the pass under EXPLAIN takes, before the measurement, beside a timed pass. Two clients share nine workers,
as in the ready plan, on PostgreSQL 18, whose own counters are read as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone
from rich.console import Console

from bench import agent as bench_agent
from bench.figures import Figure
from results import models, runs
from results.domain import plan as plans
from results.domain.measurement.metrics import Better
from results.domain.plan.recipes import read_all
from results.domain.statistics.difference import Sample
from results.domain.statistics.verdict import Question, judge
from workers import attempt, dispatch, registry
from workers.bundle import reader
from workers.workloads.ssb.transcript import read_transcript

CEILING, PASS_CEILING = 1.02, 1.1
CLIENTS = 2
PASSES = 5  # of which the median counts
SCALE_FACTOR = 0.2
_FOLDERS = ("workers/clients", "clients")  # of a bundle: the pass under EXPLAIN, the timed passes


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    bench_agent.ready()
    _trial(counted=True)  # loads the data; the result is not used
    seconds_of: dict[bool, list[float]] = {True: [], False: []}
    passes = []
    for number in range(rounds):
        for counted in (True, False) if number % 2 else (False, True):
            attempt = _trial(counted=counted)
            seconds_of[counted].append(attempt.measurements.get(metric_id="ssb.pass.seconds", label="").value)
            if counted:
                explain_s, timed_s = (_seconds(attempt, f"workload/{folder}") for folder in _FOLDERS)
                passes.append(PASSES * explain_s / timed_s)
        with_, without = seconds_of[True][-1], seconds_of[False][-1]
        console.print(f"  {with_:.3f} s counted, {without:.3f} s not; under EXPLAIN ×{passes[-1]:.3f}")
    console.print(f"  {_interval(seconds_of)}")
    ratios = tuple(with_ / without for with_, without in zip(seconds_of[True], seconds_of[False], strict=True))
    return [
        Figure("SSB: a pass whose workers are counted ÷ one whose are not", "", CEILING, ratios),
        Figure("SSB: the pass under EXPLAIN ÷ a timed pass", "", PASS_CEILING, tuple(passes)),
    ]


def _interval(seconds_of: dict[bool, list[float]]) -> str:
    """Return the ratio of geometric means over the pairs with its interval, as text."""
    keys = tuple((1, block) for block in range(len(seconds_of[True])))
    without, with_ = (Sample(tuple(seconds_of[counted]), keys) for counted in (False, True))
    [verdict] = judge([Question(without, with_, Better.LOWER, CEILING - 1)])
    if verdict.ratio is None or verdict.low is None or verdict.high is None:
        return str(verdict.kind)
    return f"counted against not: ×{verdict.ratio:.3f} (95 % interval {verdict.low:.3f} to {verdict.high:.3f})"


def _trial(*, counted: bool) -> models.Attempt:
    kinds = registry.kinds()
    recipe = read_all(Path(settings.BASE_DIR) / "plans", kinds).find("wg1-ssb-parallel")
    if recipe is None:
        raise RuntimeError("There is no ready plan wg1-ssb-parallel.")
    mapping = recipe.plan(size=SCALE_FACTOR, agents={"primary": bench_agent.NAME}, installations=["18"])
    nine = [level for level in mapping["factors"]["workers"] if level["label"] == "9"]
    mapping["factors"] |= {"clients": [CLIENTS], "workers": nine}
    mapping |= {"replicates": 1, "parameters": mapping["parameters"] | {"count_workers": counted, "passes": PASSES}}
    return _run(mapping)


def _run(mapping: dict[str, Any]) -> models.Attempt:
    kinds = registry.kinds()
    runs.create_run(plans.from_mapping(mapping, kinds), kinds, actor="bench")
    attempt_id = dispatch.next_attempt(timezone.now())
    if attempt_id is None:
        raise RuntimeError("Another trial holds the agent of the bench.")
    attempt.run(attempt_id, "bench")
    row = models.Attempt.objects.get(pk=attempt_id)
    if row.error is not None:
        raise RuntimeError(row.error)
    return row


def _seconds(row: models.Attempt, folder: str) -> float:
    """Return the seconds of all queries of all clients, by psql's clock."""
    files = reader.open_files(Path(settings.TEITEN_BUNDLE_DIR) / row.bundle)
    names = [f"{folder}/{client}.stdout" for client in range(1, CLIENTS + 1)]
    transcripts = [read_transcript(files[name].decode(), 1, name) for name in names]
    return sum(sum(execution.seconds for execution in transcript.executions) for transcript in transcripts)
