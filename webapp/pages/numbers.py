"""A trial's measurements in groups for reading, and its headline facts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from results.queries.trials import MeasurementRow

# (heading, metric prefixes); a metric belongs to the first group that has a prefix of it
GROUPS = (
    ("Phases", ("phase.",)),
    (
        "Per transaction",
        ("cpu.per_transaction", "context_switches.per", "wal.per_", "blocks.read.per", "blocks.written.per"),
    ),
    ("Latency", ("latency.", "schedule.")),
    ("Statements", ("statement.",)),
    ("Connections", ("connection.",)),
    ("CPU", ("cpu.", "context_switches", "run_queue", "load")),
    ("Blocks and WAL", ("wal.", "blocks.", "buffers.", "checkpoints", "temp.", "deadlocks")),
    ("Sizes", ("size.",)),
    ("Memory", ("memory.", "swap.")),
    ("Disks", ("disk.",)),
    ("Network", ("network.",)),
)
THROUGHPUT = "Throughput"
PHASES = "Phases"
FACTS = (
    "latency.mean", "latency.p50", "latency.p95", "latency.p99", "latency.p99.9", "latency.max", "failed",
    "transactions", "cpu.per_transaction", "wal.per_transaction", "blocks.read.per_transaction",
)  # fmt: skip
_SHORT = {
    "latency.mean": "mean latency", "latency.max": "max", "cpu.per_transaction": "CPU / tx",
    "wal.per_transaction": "WAL / tx", "blocks.read.per_transaction": "blocks read / tx",
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One number; where nodes stand side by side, one cell a node of the group, None where it has none."""

    row: MeasurementRow
    cells: tuple[MeasurementRow | None, ...]


@dataclass(frozen=True)
class Group:
    """nodes: the columns, where the same number is there of several nodes; else empty."""

    title: str
    nodes: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Fact:
    label: str
    row: MeasurementRow


def groups(rows: Iterable[MeasurementRow], headline: str) -> tuple[Group, ...]:
    """Throughput first, with the headline metric on top; phases are left to their own bar; within a group totals
    come before their parts."""
    found: dict[str, list[MeasurementRow]] = {}
    for row in rows:
        found.setdefault(_group(row.metric), []).append(row)
    order = [THROUGHPUT, *(title for title, _ in GROUPS if title != PHASES)]
    return tuple(_built(title, found[title], headline) for title in order if title in found)


def _built(title: str, rows: list[MeasurementRow], headline: str) -> Group:
    rows.sort(key=lambda row: (row.metric != headline, _rank(row)))
    by_name: dict[tuple[str, str], dict[str, MeasurementRow]] = {}
    for row in rows:
        by_name.setdefault((row.metric, row.label), {})[row.node] = row
    if all(len(nodes) == 1 for nodes in by_name.values()):
        return Group(title, (), tuple(Line(row, (row,)) for row in rows))
    nodes = tuple(sorted({row.node for row in rows}))
    lines = tuple(Line(next(iter(of.values())), tuple(of.get(node) for node in nodes)) for of in by_name.values())
    return Group(title, nodes, lines)


def facts(rows: Sequence[MeasurementRow]) -> tuple[Fact, ...]:
    """The few numbers at the top of the page: totals only, one node each (the first)."""
    totals: dict[str, MeasurementRow] = {}
    for row in rows:
        if not row.label:
            totals.setdefault(row.metric, row)
    return tuple(Fact(_short(name), totals[name]) for name in FACTS if name in totals)


def headline_row(rows: Iterable[MeasurementRow], headline: str) -> MeasurementRow | None:
    return next((row for row in rows if row.metric == headline and not row.label), None)


def _group(metric: str) -> str:
    return next((title for title, prefixes in GROUPS if metric.startswith(prefixes)), THROUGHPUT)


def _rank(row: MeasurementRow) -> tuple[bool, str, str, str]:
    return bool(row.label), row.metric, row.node, row.label


def _short(metric: str) -> str:
    return _SHORT.get(metric, metric.removeprefix("latency."))
