"""In which order metrics are offered, and by which other words people look for them. Pure.

A metric that stands in no family is offered after all others, by its name."""

from __future__ import annotations

from dataclasses import dataclass

from results.domain.measurement.metrics import Metric
from results.queries.shared.facets import MetricChoice


@dataclass(frozen=True)
class Family:
    """Metrics that are offered under one heading.

    names: in their order; one that ends in '.' stands for all that begin so.
    words: by which each of them is found besides its label and name.
    """

    title: str
    names: tuple[str, ...]
    words: str = ""


FAMILIES = (
    Family(
        "throughput",
        ("tps", "nopm", "tpm", "tpcb.tps", "append.rows_per_second", "tps.including", "ledger.tps", "failover.tps"),
        "throughput tps transactions per second speed",
    ),
    Family("queries", ("ssb.pass.seconds", "script.pass.seconds", "ssb.", "script."), "query time seconds analytics"),
    Family(
        "latency",
        (
            "latency.mean",
            "latency.p50",
            "latency.p90",
            "latency.p95",
            "latency.p99",
            "latency.p99.9",
            "latency.max",
            "latency.sd",
            "latency.",
            "statement.latency",
            "commit.latency",
            "update.latency",
            "index_scan.latency",
            "schedule.",
            "connection.",
        ),
        "latency response time",
    ),
    Family(
        "processor", ("cpu.busy", "cpu.", "run_queue", "load_average", "context_switches", "interrupts"), "cpu load"
    ),
    Family("write-ahead log", ("wal.", "checkpoints"), "wal log writes"),
    Family("input and output", ("disk.", "blocks.", "buffers.", "temp."), "i/o io disk reads writes cache"),
    Family("memory", ("memory.",), "ram"),
    Family("network", ("network.",), "traffic"),
    Family("waits", ("waits", "deadlocks", "perf."), "wait events locks"),
    Family("replication", ("replication.", "failover.", "pgpool."), "standby lag"),
    Family("size", ("size.", "growth.", "dead_tuples", "free_space"), "bytes bloat space"),
    Family("load", ("bulk.", "load.", "append."), "load copy import"),
    Family("failures", ("failed", "retried", "retries", "skipped", "late"), "errors aborted"),
)
_OTHER = len(FAMILIES)
_SYNONYMS = {
    "latency.p50": "median 50th",
    "latency.p90": "90th",
    "latency.p95": "95th",
    "latency.p99": "99th",
    "latency.p99.9": "99.9th",
    "latency.mean": "mean average avg",
    "latency.max": "maximum worst slowest",
    "latency.sd": "deviation jitter",
    "context_switches": "cs cswch",
    "cpu.iowait": "io wait",
    "buffers.hit_ratio": "cache hit",
}


def position(name: str) -> tuple[int, int, str]:
    """Return what metrics are sorted by: family, place in it, name."""
    family = _family(name)
    names = FAMILIES[family].names if family < _OTHER else ()
    place = next((index for index, known in enumerate(names) if _is(name, known)), 0)
    return family, place, name


def group(name: str) -> str:
    """Return the heading under which a metric is offered."""
    family = _family(name)
    return FAMILIES[family].title if family < _OTHER else "other"


def search_words(metric: Metric | MetricChoice) -> str:
    """Return all by which a metric is found, in small letters: label, name, what else people call it."""
    family = _family(metric.name)
    words = FAMILIES[family].words if family < _OTHER else ""
    return " ".join((metric.label, metric.name, _SYNONYMS.get(metric.name, ""), words)).lower()


def _family(name: str) -> int:
    """Return the family that names a metric itself, else one that has all that begin so."""
    whole = (index for index, family in enumerate(FAMILIES) if name in family.names)
    begun = (index for index, family in enumerate(FAMILIES) if any(_is(name, known) for known in family.names))
    return next(whole, next(begun, _OTHER))


def _is(name: str, known: str) -> bool:
    return name == known or (known.endswith(".") and name.startswith(known))
