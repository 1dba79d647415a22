"""Bytes that a trial takes in the warehouse, by table: its rows, their index entries and what is stored aside.

Trials of 5 and 60 s are run. Longer ones are drawn: each series as it varied in 60 s, to the digits that it had."""

from __future__ import annotations

import asyncio
import math
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from statistics import correlation, fmean, pstdev

from django.db import connection
from rich.console import Console
from rich.table import Table

from bench import agent as bench_agent
from bench.comparison import own_database
from bench.figures import Figure
from results import ingest, models, runs
from results.domain import plan as plans
from results.domain.measurement.histogram import HeatMap, Histogram, bucket_of
from results.domain.measurement.parsed_trial import Latencies, ParsedTrial
from results.domain.measurement.series import Series
from workers import dispatch, executor, lease, registry
from workers.bundle import reader
from workers.execution import Reporter

SHORT_S, LONG_S = 5, 60
DRAWN_S = (300, 3600)
LIMIT_SHORT_BYTES = 10_000
LIMITS = {60: 5.0, 3600: 3.0}  # bytes a sample
_TABLES = ("trial", "attempt", "attemptvalues", "seriesgroup", "packedhistogram", "document")
_REWRITTEN = ("trial", "attempt")  # rows that were updated before: a table is as long as its rows once they are gone


@dataclass(frozen=True)
class Size:
    """Bytes of one table.

    aside: in TOAST, with its index
    """

    rows: int
    aside: int
    indexes: int

    @property
    def total(self) -> int:
        return self.rows + self.aside + self.indexes


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    with own_database():
        agent = bench_agent.ready()
        short, long = (_run(agent, duration_s) for duration_s in (SHORT_S, LONG_S))
        trials = {SHORT_S: [short], LONG_S: [long]}
        for length_s in DRAWN_S:
            trials[length_s] = [drawn(long, length_s, random.Random(seed)) for seed in range(3)]
        return report(trials, rounds, console)


def report(trials: dict[int, list[ParsedTrial]], rounds: int, console: Console) -> list[Figure]:
    """Print what each length takes by table, and return the figures that have limits."""
    figures = []
    for length_s, parsed in trials.items():
        sizes = _sizes_of_one(parsed, max(rounds, 2000 // length_s))  # a small table's pages are not full
        samples = fmean(sum(len(series.values) for series in one.series) for one in parsed)
        total, of_series = sum(size.total for size in sizes.values()), sizes["seriesgroup"].total
        table = Table(f"{length_s} s, {len(parsed[0].series)} series", "rows", "aside", "indexes", "bytes an attempt")
        for name, size in sizes.items():
            table.add_row(name, *(f"{bytes:,}" for bytes in (size.rows, size.aside, size.indexes, size.total)))
        table.add_row("all", "", "", "", f"{total:,}")
        console.print(table)
        console.print(f"  bytes a sample: {of_series / samples:.2f}; of all tables: {total / samples:.2f}")
        if length_s in LIMITS:
            figures.append(Figure(f"a sample of {length_s} s", "B", LIMITS[length_s], (of_series / samples,)))
        if length_s == SHORT_S:
            figures.append(Figure(f"an attempt of {length_s} s", "B", LIMIT_SHORT_BYTES, (float(total),)))
    return figures


def _run(agent: models.Agent, duration_s: float) -> ParsedTrial:
    spec = bench_agent.spec(duration_s=duration_s, parameters={"script": "tpcb-like"})
    with tempfile.TemporaryDirectory() as folder:
        archived, error = asyncio.run(executor.run(bench_agent.order(agent, spec, 0), Path(folder), Reporter()))
        if error is not None:
            raise RuntimeError(error)
        return reader.read(Path(folder) / archived.path)


def _sizes_of_one(parsed: Sequence[ParsedTrial], count: int) -> dict[str, Size]:
    """Return what each of `count` attempts adds to each table. One more is stored before: it creates what all share."""
    kinds = registry.kinds()
    run = runs.create_run(
        plans.from_mapping(bench_agent.PLAN | {"replicates": count + 1}, kinds), kinds, actor="bench", as_admin=True
    )
    _store_next(run, parsed[0], 0)
    _vacuum()
    before = {name: _size(name) for name in _TABLES}
    rows = models.Trial.objects.filter(run=run).count() - 1
    for number in range(1, count + 1):
        _store_next(run, parsed[number % len(parsed)], number)
    _vacuum()
    after = {name: _size(name) for name in _TABLES}
    assert rows == count
    added = {name: _per_attempt(before[name], after[name], count) for name in _TABLES}
    # trials are there before their attempts
    added["trial"] = _per_attempt(Size(0, 0, 0), after["trial"], models.Trial.objects.count())
    return added


def _per_attempt(before: Size, after: Size, count: int) -> Size:
    differences = (after.rows - before.rows, after.aside - before.aside, after.indexes - before.indexes)
    return Size(*(round(difference / count) for difference in differences))


def _store_next(run: models.Run, parsed: ParsedTrial, number: int) -> None:
    attempt_id = dispatch.next_attempt(datetime.now(UTC))
    assert attempt_id is not None
    attempt = models.Attempt.objects.get(pk=attempt_id)
    named = _as_of(f"{run.pk}/{attempt.trial_id}", parsed)
    ingest.store(named, attempt_id, ingest.Archive(f"{run.pk}/{attempt.trial_id}-1.tar.gz", f"{number:064x}", 40_000))
    lease.release(attempt_id)


def _as_of(key: str, parsed: ParsedTrial) -> ParsedTrial:
    """Return it as the first attempt at another trial, after which its folders on the agent are named in commands."""
    names = {
        f"{parsed.trial_key.replace('/', '-')}-{parsed.attempt}": f"{key.replace('/', '-')}-1",
        parsed.trial_key: key,
    }
    commands = [replace(one, command=_renamed(one.command, names)) for one in parsed.commands]
    return replace(parsed, trial_key=key, attempt=1, commands=tuple(commands))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for before, after in names.items():
        text = text.replace(before, after)
    return text


def _vacuum() -> None:
    with connection.cursor() as cursor:
        for name in _TABLES:
            cursor.execute(f"VACUUM {'(FULL)' if name in _REWRITTEN else ''} results_{name}")


def _size(table: str) -> Size:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_relation_size(oid)), sum(coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0)),"
            " sum(pg_indexes_size(oid)) FROM pg_class WHERE relkind = 'r'"
            " AND oid IN (SELECT %(table)s::regclass UNION SELECT relid FROM pg_partition_tree(%(table)s))",
            {"table": f"results_{table}"},
        )
        return Size(*map(int, cursor.fetchone()))


def drawn(parsed: ParsedTrial, length_s: int, draw: random.Random) -> ParsedTrial:
    """Return a trial of another length with the series and latencies that it might have had.

    Each value follows the one before as closely as in `parsed`, and has its digits."""
    axes = {}
    series = []
    for one in parsed.series:
        axis = axes.setdefault((one.node, one.start_s, one.times_s), _times(one, length_s, draw))
        count = len(axis) or round(length_s / one.step_s)
        series.append(replace(one, values=_values(one.values, count, draw), times_s=axis))
    latencies = tuple(_latencies(one, length_s / LONG_S, length_s, draw) for one in parsed.latencies)
    start = parsed.measured_from
    assert start is not None
    return replace(parsed, series=tuple(series), latencies=latencies, measured_to=start + timedelta(seconds=length_s))


def _times(series: Series, length_s: int, draw: random.Random) -> tuple[float, ...]:
    """Times like those of `series`, which come a few milliseconds late each; none where they are regular."""
    if not series.times_s:
        return ()
    times = series.times_s
    lateness = [later - earlier for earlier, later in pairwise(times)]
    drawn_times = [times[0]]
    while drawn_times[-1] < length_s - 1:
        drawn_times.append(round(drawn_times[-1] + draw.choice(lateness), 3))
    return tuple(drawn_times)


def _values(values: Sequence[float], count: int, draw: random.Random) -> tuple[float, ...]:
    numbers = [value for value in values if not math.isnan(value)]
    mean, sd, zeros = fmean(numbers), pstdev(numbers), numbers.count(0) / len(numbers)
    if sd == 0:
        return (numbers[0],) * count
    same = correlation(numbers, numbers[1:] + numbers[:1])  # with the value before
    digits = max(_digits(value) for value in numbers)
    fresh = math.sqrt(max(0.0, 1 - same * same))
    state, drawn_values = 0.0, []
    for _ in range(count):
        state = same * state + fresh * draw.gauss()
        value = 0.0 if draw.random() < zeros else abs(mean + sd * state)
        drawn_values.append(round(value, digits))
    return tuple(drawn_values)


def _digits(value: float) -> int:
    """Decimal places of a value as a tool printed it; 12 for what is no printed decimal."""
    exponent = Decimal(repr(round(value, 9))).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return 12 if -exponent > 4 else max(0, -exponent)


def _latencies(latencies: Latencies, times: float, length_s: int, draw: random.Random) -> Latencies:
    histogram = latencies.histogram
    population = draw.choices(histogram.latencies_us, histogram.counts, k=round(min(200_000, histogram.total * times)))
    counts: dict[int, int] = {}
    for latency in population:
        near = max(1, round(latency * (1 + draw.gauss() / 100)))
        counts[near] = counts.get(near, 0) + 1
    buckets = sorted({bucket_of(latency) for latency in counts})
    cells = [(second, bucket, draw.randint(1, 200)) for second in range(length_s) for bucket in buckets]
    heat = HeatMap(*(tuple(column) for column in zip(*cells, strict=True)))
    return replace(latencies, histogram=Histogram.from_counts(counts), heat=heat)
