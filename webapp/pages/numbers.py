"""A trial's measurements in tables and groups for reading, and its headline facts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from results.domain.kinds.specs import role_of
from results.queries.trials import MeasurementRow

# (heading, metric prefixes); a metric belongs to the first group that has a prefix of it
GROUPS = (
    ("Phases", ("phase.",)),
    ("Printed by the command", ("own.",)),
    ("Failover", ("failover.", "ledger.lost", "ledger.unacknowledged")),
    ("Queries", ("script.",)),
    (
        "Per transaction",
        ("cpu.per_transaction", "context_switches.per", "wal.per_", "blocks.read.per", "blocks.written.per"),
    ),
    ("Latency", ("latency.", "schedule.")),
    ("Statements", ("statement.",)),
    ("Connections", ("connection.",)),
    ("Waits", ("waits",)),
    ("Functions", ("perf.",)),
    ("CPU", ("cpu.", "context_switches", "run_queue", "load_average")),
    ("Blocks and WAL", ("wal.", "blocks.", "buffers.", "checkpoints", "temp.", "deadlocks")),
    ("Replication", ("replication.",)),
    ("Sizes", ("size.",)),
    ("Memory", ("memory.", "swap.")),
    ("Disks", ("disk.",)),
    ("Network", ("network.",)),
)
RESULTS = "Results"
FEWEST_LABELS = 3  # of two metrics or more, for a table
PHASES = "Phases"
FACTS = (
    "failover.outage",
    "ledger.lost",
    "failover.failed",
    "failover.steady",
    "latency.mean",
    "latency.p50",
    "latency.p95",
    "latency.p99",
    "latency.p99.9",
    "latency.max",
    "failed",
    "transactions",
    "cpu.per_transaction",
    "wal.per_transaction",
    "blocks.read.per_transaction",
)
MOST_BESIDE = 3  # nodes of a group among others
LARGEST_FIRST = ("perf.share", "waits")  # metrics whose labels are in the order of their values
SUMMED = ("tps", "tps.including", "transactions", "failed", "retried", "retries", "skipped", "late")
OF_LOADS = ("latency.", "schedule.", "connection.")  # prefixes of the other numbers that a load has
BY_NODE = ("replication.",)  # whose few labels stand in their group, where nodes stand side by side
_SHORT = {
    "failover.outage": "without service",
    "ledger.lost": "acknowledged, lost",
    "failover.failed": "failed",
    "failover.steady": "until steady",
    "latency.mean": "mean latency",
    "latency.max": "max",
    "cpu.per_transaction": "CPU / tx",
    "wal.per_transaction": "WAL / tx",
    "blocks.read.per_transaction": "blocks read / tx",
}


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

    @property
    def wide(self) -> bool:
        """Whether it needs the page's whole width."""
        return len(self.nodes) > MOST_BESIDE


@dataclass(frozen=True)
class Fact:
    label: str
    row: MeasurementRow


@dataclass(frozen=True)
class Table:
    """Metrics that have the same labels (queries, scripts, tables of the database). lines: label → a cell a column.
    again: another node's table of the same title stands above it."""

    title: str
    node: str
    columns: tuple[MeasurementRow, ...]
    lines: tuple[tuple[str, tuple[MeasurementRow, ...]], ...]
    again: bool = False


@dataclass(frozen=True)
class ByLoad:
    """What each of several loads reached. noun: what tells them apart. lines: name → a cell a column. beside: those
    that only read beside the workload and are in no total. totals: of all that run the workload. means: totals / the
    number of these, where such a mean says something."""

    noun: str
    columns: tuple[MeasurementRow, ...]
    lines: tuple[tuple[str, tuple[MeasurementRow | None, ...]], ...]
    beside: tuple[str, ...]
    totals: tuple[MeasurementRow | None, ...]
    means: tuple[float | None, ...]

    @property
    def mean_cells(self) -> list[tuple[float | None, MeasurementRow]]:
        """Each mean with its column."""
        return list(zip(self.means, self.columns, strict=True))


def by_load(
    rows: Sequence[MeasurementRow], loads: Sequence[Mapping[str, Any]]
) -> tuple[ByLoad | None, list[MeasurementRow]]:
    """(what each load reached, all rows that are not in it). loads: of the trial's spec, with `name` and `workload`;
    None with fewer than two."""
    names = [str(load["name"]) for load in loads]
    cells = {(row.metric, row.node): row for row in rows if not row.label and _of_a_load(row.metric)}
    own = {key: row for key, row in cells.items() if key[1] in names}
    if len(names) < 2 or not own:
        return None, list(rows)
    metrics = sorted({metric for metric, _ in own}, key=_place)
    totals = tuple(cells.get((metric, "")) for metric in metrics)
    workers = [str(load["name"]) for load in loads if load["workload"]]
    nouns = [noun for noun, key in (("node", "server"), ("client", "client")) if all(_is(load, key) for load in loads)]
    found = ByLoad(
        noun=next(iter(nouns), "load"),
        columns=tuple(next(row for (name, _), row in own.items() if name == metric) for metric in metrics),
        lines=tuple((name, tuple(own.get((metric, name)) for metric in metrics)) for name in names),
        beside=tuple(name for name in names if name not in workers),
        totals=totals,
        means=tuple(
            total.value / len(workers) if total is not None and metric in SUMMED else None
            for metric, total in zip(metrics, totals, strict=True)
        ),
    )
    taken = {id(row) for row in own.values()}
    return found, [row for row in rows if id(row) not in taken]


def _is(load: Mapping[str, Any], key: str) -> bool:
    return bool(load["name"] == load[key])


def _of_a_load(metric: str) -> bool:
    return metric in SUMMED or metric.startswith(OF_LOADS)


def _place(metric: str) -> tuple[int, str]:
    """Rates and counts first."""
    return SUMMED.index(metric) if metric in SUMMED else len(SUMMED), metric


def tables(rows: Iterable[MeasurementRow]) -> tuple[tuple[Table, ...], list[MeasurementRow]]:
    """(tables of metrics that share their labels, all rows that are in none)."""
    by_metric: dict[tuple[str, str], dict[str, MeasurementRow]] = {}
    rows = list(rows)
    for row in rows:
        if row.label and not row.metric.startswith(BY_NODE):
            by_metric.setdefault((row.node, row.metric), {})[row.label] = row
    sharing: dict[tuple[str, frozenset[str]], list[dict[str, MeasurementRow]]] = {}
    for (node, _), of in by_metric.items():
        if len(of) >= FEWEST_LABELS:
            sharing.setdefault((node, frozenset(of)), []).append(of)
    alike = [_table(node, several) for (node, _), several in sharing.items() if len(several) > 1]
    nodes = [(table.title, table.node) for table in alike]
    found = tuple(
        replace(table, again=any(title == table.title and node != table.node for title, node in nodes[:place]))
        for place, table in enumerate(alike)
    )
    taken = {id(cell) for table in found for _, cells in table.lines for cell in cells}
    return found, [row for row in rows if id(row) not in taken]


def _table(node: str, metrics: Sequence[dict[str, MeasurementRow]]) -> Table:
    columns = tuple(next(iter(of.values())) for of in metrics)
    labels = sorted(metrics[0], key=lambda label: _rank(metrics[0][label]))
    lines = tuple((label, tuple(of[label] for of in metrics)) for label in labels)
    return Table(_group(columns[0].metric), node, columns, lines)


def groups(rows: Iterable[MeasurementRow], headline: str) -> tuple[Group, ...]:
    """Results first, with the headline metric on top; phases are left to their own bar; within a group totals
    come before their parts."""
    found: dict[str, list[MeasurementRow]] = {}
    for row in rows:
        found.setdefault(_group(row.metric), []).append(row)
    order = [RESULTS, *(title for title, _ in GROUPS if title != PHASES)]
    return tuple(_built(title, found[title], headline) for title in order if title in found)


def _built(title: str, rows: list[MeasurementRow], headline: str) -> Group:
    rows.sort(key=lambda row: (row.metric != headline, _rank(row)))
    by_name: dict[tuple[str, str], dict[str, MeasurementRow]] = {}
    for row in rows:
        by_name.setdefault((row.metric, row.label), {})[row.node] = row
    if all(len(nodes) == 1 for nodes in by_name.values()):
        return Group(title, (), tuple(Line(row, (row,)) for row in rows))
    nodes = tuple(sorted({row.node for row in rows}, key=lambda node: (role_of(node), len(node), node)))
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
    return next((title for title, prefixes in GROUPS if metric.startswith(prefixes)), RESULTS)


def _rank(row: MeasurementRow) -> tuple[bool, str, float, str, str]:
    size = -row.value if row.metric in LARGEST_FIRST else 0.0
    return bool(row.label), row.metric, size, row.node, row.label


def _short(metric: str) -> str:
    return _SHORT.get(metric, metric.removeprefix("latency."))
