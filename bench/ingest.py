"""Seconds to store a trial of 5 M transactions, 300 s and three agents' sar in the warehouse."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime

from rich.console import Console

from bench import agent as bench_agent
from bench.figures import Figure
from results import ingest, models, runs
from results.domain import plan as plans
from results.domain.measurement.histogram import HeatMap, Histogram, bucket_of
from results.domain.measurement.parsed_trial import Latencies, Measurement, ParsedTrial
from results.domain.measurement.series import Series
from workers import dispatch, lease, registry

CEILING_S = 0.5
TRANSACTIONS = 5_000_000
SECONDS = 300
SERIES_AN_AGENT = 120  # 32 processors by state, disks, interfaces, memory, switches


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    bench_agent.ready()
    kinds = registry.kinds()
    mapping = bench_agent.PLAN | {"replicates": rounds}
    run = runs.create_run(plans.from_mapping(mapping, kinds), kinds, actor="bench")
    durations_s = []
    for number in range(rounds):
        attempt_id = dispatch.next_attempt(datetime.now(UTC))
        assert attempt_id is not None
        attempt = models.Attempt.objects.get(pk=attempt_id)
        parsed = _trial(f"{run.pk}/{attempt.trial_id}", number)
        started_s = time.perf_counter()
        ingest.store(parsed, attempt_id, ingest.Archive("bench", f"{number}", 1))
        durations_s.append(time.perf_counter() - started_s)
        lease.release(attempt_id)
    runs.cancel_run(run.pk, "bench")
    distinct = len(parsed.latencies[0].histogram.counts)
    console.print(f"  {TRANSACTIONS:,} transactions of {distinct:,} latencies, {len(parsed.series)} series")
    return [Figure("ingest of 5 M transactions", "s", CEILING_S, tuple(durations_s))]


def _trial(trial_key: str, seed: int) -> ParsedTrial:
    draw = random.Random(seed)
    sample = [max(1, int(draw.lognormvariate(6.5, 0.8))) for _ in range(200_000)]
    counts: dict[int, int] = {}
    for latency in sample:
        counts[latency] = counts.get(latency, 0) + TRANSACTIONS // len(sample)
    histogram = Histogram.from_counts(counts)
    buckets = sorted({bucket_of(latency) for latency in counts})
    cells = [(second, bucket, 7) for second in range(SECONDS) for bucket in buckets]
    heat = HeatMap(*(tuple(column) for column in zip(*cells, strict=True)))
    series = [
        Series(f"quantity{index}", node, "%", 0.0, 1.0, tuple(draw.random() * 100 for _ in range(SECONDS)))
        for node in ("client", "primary", "standby")
        for index in range(SERIES_AN_AGENT)
    ]
    kinds = registry.kinds()
    metrics = kinds.workloads["pgbench"].metrics
    measurements = []
    for metric in metrics:
        measurements += [Measurement(metric.name, draw.random(), label=f"{index}") for index in range(10)]
    now = datetime.now(UTC)
    return ParsedTrial(
        trial_key=trial_key,
        attempt=1,
        started_at=now,
        measured_from=now,
        measured_to=now,
        succeeded=True,
        error=None,
        phases=(),
        commands=(),
        checks=(),
        files=(),
        metrics=metrics,
        measurements=tuple(measurements),
        series=tuple(series),
        latencies=(Latencies("client", "", histogram, heat),),
    )
