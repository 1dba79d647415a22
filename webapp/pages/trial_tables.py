"""A trial's measurements in tables and groups for reading, and its headline facts. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from results.domain.kinds.specs import role_of
from results.domain.messages import gettext_lazy as _
from results.queries.runs.trials import MeasurementRow

# (heading, metric prefixes); a metric belongs to the first group that has a prefix of it
GROUPS = (
    (_("Phases"), ("phase.",)),
    (_("Printed by the command"), ("own.",)),
    (_("Failover"), ("failover.", "ledger.lost", "ledger.unacknowledged")),
    (_("Queries"), ("script.",)),
    (
        _("Per transaction"),
        ("cpu.per_transaction", "context_switches.per", "wal.per_", "blocks.read.per", "blocks.written.per"),
    ),
    (_("Steadiness"), ("steady.",)),
    (_("Latency"), ("latency.", "schedule.")),
    (_("Statements"), ("statement.",)),
    (_("Connections"), ("connection.",)),
    (_("Waits"), ("waits",)),
    (_("Functions"), ("perf.",)),
    (_("Events counted by perf"), ("perf_stat.",)),
    (_("CPU"), ("cpu.", "context_switches", "run_queue", "load_average")),
    (_("Blocks and WAL"), ("wal.", "blocks.", "buffers.", "checkpoints", "temp.", "deadlocks")),
    (_("Replication"), ("replication.",)),
    (_("Sizes"), ("size.",)),
    (_("Memory"), ("memory.", "swap.")),
    (_("Disks"), ("disk.",)),
    (_("Network"), ("network.",)),
)
RESULTS, BY_PART = _("Results"), _("Results by part")
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
    "failover.outage": _("without service"),
    "ledger.lost": _("acknowledged, lost"),
    "failover.failed": _("failed"),
    "failover.steady": _("until steady"),
    "latency.mean": _("mean latency"),
    "latency.max": _("max"),
    "failed": _("failed"),
    "transactions": _("transactions"),
    "cpu.per_transaction": _("CPU / tx"),
    "wal.per_transaction": _("WAL / tx"),
    "blocks.read.per_transaction": _("blocks read / tx"),
}


@dataclass(frozen=True)
class Line:
    """One number; where nodes stand side by side, one cell a node of the group, None where it has none."""

    row: MeasurementRow
    cells: tuple[MeasurementRow | None, ...]


@dataclass(frozen=True)
class Group:
    """Measurements under one heading.

    nodes: the columns, where the same number is there of several nodes; else empty."""

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
    """Metrics that have the same labels (queries, scripts, tables of the database).

    lines: label → a cell a column.
    again: another node's table of the same title stands above it."""

    title: str
    node: str
    columns: tuple[MeasurementRow, ...]
    lines: tuple[tuple[str, tuple[MeasurementRow, ...]], ...]
    again: bool = False


@dataclass(frozen=True)
class ByLoad:
    """What each of several loads reached.

    noun: what tells them apart.
    lines: name → a cell a column.
    beside: those that only read beside the workload and are in no total.
    totals: of all that run the workload.
    means: totals / the number of these, where such a mean says something."""

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
    """(what each load reached, all rows that are not in it).

    loads: of the trial's spec, with `name` and `workload`; None with fewer than two."""
    names = {str(load["name"]) for load in loads}
    cells: dict[tuple[str, str], MeasurementRow] = {}
    totals: dict[str, MeasurementRow] = {}
    for row in rows:
        if row.label or not _is_of_loads(row.metric):
            continue
        if row.node in names:
            cells[row.metric, row.node] = row
        elif not row.node:
            totals[row.metric] = row
    if len(loads) < 2 or not cells:
        return None, list(rows)
    return _loads_table(cells, totals, loads), _without(rows, cells.values())


def _loads_table(
    cells: Mapping[tuple[str, str], MeasurementRow],
    totals: Mapping[str, MeasurementRow],
    loads: Sequence[Mapping[str, Any]],
) -> ByLoad:
    """Return the table of several loads.

    cells: by metric and load.
    totals: by metric."""
    columns: dict[str, MeasurementRow] = {}
    for (metric, _load), row in cells.items():
        columns.setdefault(metric, row)
    metrics = sorted(columns, key=_metric_order)
    names = [str(load["name"]) for load in loads]
    beside = tuple(str(load["name"]) for load in loads if not load["workload"])
    lines = []
    for name in names:
        lines.append((name, tuple(cells.get((metric, name)) for metric in metrics)))
    return ByLoad(
        noun=_noun(loads),
        columns=tuple(columns[metric] for metric in metrics),
        lines=tuple(lines),
        beside=beside,
        totals=tuple(totals.get(metric) for metric in metrics),
        means=tuple(_mean(totals.get(metric), len(names) - len(beside)) for metric in metrics),
    )


def _noun(loads: Sequence[Mapping[str, Any]]) -> str:
    """What the loads are named after: their server, their client, or neither."""
    if all(load["name"] == load["server"] for load in loads):
        return _("node")
    if all(load["name"] == load["client"] for load in loads):
        return _("client")
    return _("load")


def _mean(total: MeasurementRow | None, loads: int) -> float | None:
    """A load's share of a sum; None where there is no total, or where it is no sum."""
    return total.value / loads if total is not None and total.metric in SUMMED else None


def _is_of_loads(metric: str) -> bool:
    return metric in SUMMED or metric.startswith(OF_LOADS)


def _metric_order(metric: str) -> tuple[int, str]:
    """Rates and counts first."""
    return SUMMED.index(metric) if metric in SUMMED else len(SUMMED), metric


def _without(rows: Iterable[MeasurementRow], shown: Iterable[MeasurementRow]) -> list[MeasurementRow]:
    """The rows but for these very ones; two rows may be equal."""
    shown_ids = {id(row) for row in shown}
    return [row for row in rows if id(row) not in shown_ids]


def tables(rows: Iterable[MeasurementRow]) -> tuple[tuple[Table, ...], list[MeasurementRow]]:
    """(tables of metrics that share their labels, all rows that are in none)."""
    rows = list(rows)
    shared: list[Table] = []
    shown: list[MeasurementRow] = []
    for node, metrics in _sharing_labels(rows):
        table = _table(node, metrics)
        above = any(other.title == table.title and other.node != node for other in shared)
        shared.append(replace(table, again=above))
        for metric in metrics:
            shown += metric.values()
    return tuple(shared), _without(rows, shown)


def _sharing_labels(rows: Iterable[MeasurementRow]) -> list[tuple[str, list[dict[str, MeasurementRow]]]]:
    """(node, metrics) for each set of labels that several metrics of a node have in common; a metric is its rows by
    label."""
    by_metric: dict[tuple[str, str], dict[str, MeasurementRow]] = defaultdict(dict)
    for row in rows:
        if row.label and not row.metric.startswith(BY_NODE):
            by_metric[row.node, row.metric][row.label] = row
    by_labels: dict[tuple[str, frozenset[str]], list[dict[str, MeasurementRow]]] = defaultdict(list)
    for (node, _name), metric in by_metric.items():
        if len(metric) >= FEWEST_LABELS:
            by_labels[node, frozenset(metric)].append(metric)
    return [(node, metrics) for (node, _), metrics in by_labels.items() if len(metrics) > 1]


def _table(node: str, metrics: Sequence[dict[str, MeasurementRow]]) -> Table:
    columns = tuple(next(iter(metric.values())) for metric in metrics)
    labels = sorted(metrics[0], key=lambda label: _rank(metrics[0][label]))
    lines = []
    for label in labels:
        lines.append((label, tuple(metric[label] for metric in metrics)))
    return Table(_title(columns[0]), node, columns, tuple(lines))


def groups(rows: Iterable[MeasurementRow], headline: str) -> tuple[Group, ...]:
    """Results first, with the headline metric on top; phases are left to their own bar; within a group totals
    come before their parts."""
    by_title: dict[str, list[MeasurementRow]] = defaultdict(list)
    for row in rows:
        by_title[_title(row)].append(row)
    order = [RESULTS, BY_PART, *(title for title, _ in GROUPS if title != PHASES)]
    return tuple(_group(title, by_title[title], headline) for title in order if title in by_title)


def _group(title: str, rows: list[MeasurementRow], headline: str) -> Group:
    rows.sort(key=lambda row: (row.metric != headline, _rank(row)))
    by_name: dict[tuple[str, str], dict[str, MeasurementRow]] = defaultdict(dict)
    for row in rows:
        by_name[row.metric, row.label][row.node] = row
    if all(len(by_node) == 1 for by_node in by_name.values()):
        return Group(title, (), tuple(Line(row, (row,)) for row in rows))
    nodes = tuple(sorted({row.node for row in rows}, key=lambda node: (role_of(node), len(node), node)))
    lines = []
    for by_node in by_name.values():
        first = next(iter(by_node.values()))
        lines.append(Line(first, tuple(by_node.get(node) for node in nodes)))
    return Group(title, nodes, tuple(lines))


def facts(rows: Sequence[MeasurementRow]) -> tuple[Fact, ...]:
    """The few numbers at the top of the page: totals only, one node each (the first)."""
    totals: dict[str, MeasurementRow] = {}
    for row in rows:
        if not row.label:
            totals.setdefault(row.metric, row)
    return tuple(Fact(_short(name), totals[name]) for name in FACTS if name in totals)


def headline_row(rows: Iterable[MeasurementRow], headline: str) -> MeasurementRow | None:
    return next((row for row in rows if row.metric == headline and not row.label), None)


def is_result(row: MeasurementRow) -> bool:
    """Whether the number is the workload's own, and none of what was watched beside it."""
    return _title(row) in (RESULTS, BY_PART)


def _title(row: MeasurementRow) -> str:
    """Of the group that the number belongs to."""
    title = next((title for title, prefixes in GROUPS if row.metric.startswith(prefixes)), "")
    return title or (BY_PART if row.label else RESULTS)


def _rank(row: MeasurementRow) -> tuple[bool, str, float, str]:
    """Labels of one metric stay in the order in which the trial reported them."""
    size = -row.value if row.metric in LARGEST_FIRST else 0.0
    return bool(row.label), row.metric, size, row.node


def _short(metric: str) -> str:
    return _SHORT.get(metric, metric.removeprefix("latency."))
