"""What moved with a difference: what a piece of work costs in two configurations, judged by the verdict's own rule.
Pure. Described in docs/method.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from statistics import median

import numpy as np

from results.domain.measurement.metrics import Better, Metric
from results.domain.statistics.verdict import Kind, Question, Sample, Verdict, judge

PRIMARY = "primary"
WAITS = "waits"
LEAST_SHARE = 1.0  # percent of the sessions' time: kinds of waits below it are left out


class By(StrEnum):
    """How a measured number becomes that of the whole measured window."""

    TOTAL = "total"
    RATE = "rate"
    PROCESSORS = "processors"


@dataclass(frozen=True)
class Quantity:
    """What one piece of work costs: a metric's number of the whole window, divided by the pieces of work in it.

    label: with {work} in it.
    said: its name in the sentence on top, '' for one that is only in the table."""

    name: str
    label: str
    unit: str
    metric: str
    by: By
    said: str = ""
    better: Better = Better.LOWER
    minimum_effect: float = 0.05

    def formula(self, work: Work) -> str:
        whole = {
            By.TOTAL: self.metric,
            By.RATE: f"{self.metric} × seconds",
            By.PROCESSORS: f"{self.metric} / 100 × processors × seconds",
        }[self.by]
        return f"{whole} / {work.metric}" if work.metric else whole


@dataclass(frozen=True)
class Work:
    """What costs are divided by: transactions, executions of a query, or the trial as a whole.

    metric: how many pieces of work the window held; '' where the trial as a whole is the work."""

    metric: str
    noun: str


WORKS = (Work("transactions", "transaction"), Work("ssb.executions", "query"), Work("", "trial"))
QUANTITIES = (
    Quantity("cpu", "CPU per {work}", "us", "cpu.busy", By.PROCESSORS, "CPU per {work}", minimum_effect=0.02),
    Quantity("cpu.user", "CPU in user mode per {work}", "us", "cpu.user", By.PROCESSORS),
    Quantity("cpu.system", "CPU in the kernel per {work}", "us", "cpu.system", By.PROCESSORS),
    Quantity("switches", "Context switches per {work}", "1", "context_switches", By.RATE, "context switches"),
    Quantity("blocks.read", "Blocks read per {work}", "1", "blocks.read", By.TOTAL, "blocks read"),
    Quantity("blocks.hit", "Blocks hit per {work}", "1", "blocks.hit", By.TOTAL, "blocks hit", Better.NEITHER, 0.02),
    Quantity("blocks.written", "Blocks written per {work}", "1", "blocks.written", By.TOTAL, "blocks written"),
    Quantity("wal", "WAL per {work}", "B", "wal.bytes", By.TOTAL, "WAL", minimum_effect=0.02),
    Quantity("wal.records", "WAL records per {work}", "1", "wal.records", By.TOTAL, minimum_effect=0.02),
    Quantity("wal.images", "Full-page images per {work}", "1", "wal.full_page_images", By.TOTAL),
    Quantity("temp", "Temporary files per {work}", "B", "temp.bytes", By.TOTAL, "temporary files"),
    Quantity("disk.read", "Disk reads per {work}", "B", "disk.read", By.RATE, "disk reads", minimum_effect=0.1),
    Quantity("disk.write", "Disk writes per {work}", "B", "disk.write", By.RATE, "disk writes", minimum_effect=0.1),
    Quantity("network.sent", "Sent by network per {work}", "B", "network.sent", By.RATE),
    Quantity("network.received", "Received by network per {work}", "B", "network.received", By.RATE),
)
# what a transaction costs at a node where several had parts of the work: told apart when the trial was read
_BY_NODE = {
    "cpu.busy": "cpu.per_transaction",
    "context_switches": "context_switches.per_transaction",
    "blocks.read": "blocks.read.per_transaction",
    "blocks.written": "blocks.written.per_transaction",
    "wal.bytes": "wal.per_transaction",
}
# totals that are shown as they are measured: name → what the sentence calls them
PLAIN = {
    "tps": "",
    "latency.mean": "",
    "latency.p50": "median latency",
    "latency.p95": "",
    "latency.p99": "p99 latency",
    "latency.p99.9": "",
    "latency.max": "",
    "buffers.hit_ratio": "",
    "checkpoints": "checkpoints",
    "run_queue": "",
    "ssb.jit.seconds": "compiling (JIT)",
    "cpu.busy": "",
    "failed": "",
}


class State(StrEnum):
    """moved: better, worse, higher or lower. same: within the margin. open: neither can be said. none: zero in every
    trial of both. withheld: they are not comparable."""

    MOVED = "moved"
    SAME = "same"
    OPEN = "open"
    NONE = "none"
    WITHHELD = "withheld"


@dataclass(frozen=True, eq=False)
class Replicate:
    """All that one trial measured.

    key: its run and block.
    seconds: of the measured window.
    processors: how many are online, by node.
    values: (metric, node, label) → value."""

    trial_id: int
    key: tuple[int, int]
    seconds: float | None
    processors: Mapping[str, int]
    values: Mapping[tuple[str, str, str], float]


@dataclass(frozen=True)
class Value:
    trial_id: int
    value: float


@dataclass(frozen=True)
class MetricChange:
    """One quantity in both configurations.

    node, part: where and which of several, '' for the whole.
    base, other: every replicate's value, in `unit`.
    formula: in words of metrics, where it is not measured itself.
    said: its name in the sentence, '' where it is not in it."""

    name: str
    label: str
    node: str
    part: str
    unit: str
    formula: str
    said: str
    base: tuple[Value, ...]
    other: tuple[Value, ...]
    verdict: Verdict

    @property
    def base_median(self) -> float:
        return median(value.value for value in self.base)

    @property
    def other_median(self) -> float:
        return median(value.value for value in self.other)

    @property
    def ratio(self) -> float | None:
        """Of the geometric means, as in the verdict; of the medians where a value is 0."""
        if self.verdict.ratio is not None:
            return self.verdict.ratio
        return self.other_median / self.base_median if self.base_median > 0 else None

    @property
    def reach(self) -> float | None:
        """Half the width of the verdict's interval, as a share: by what factor, above 1, its ends lie from its
        middle."""
        if self.verdict.low is None or self.verdict.high is None:
            return None
        return float(np.sqrt(self.verdict.high / self.verdict.low) - 1)

    @property
    def state(self) -> State:
        if not any(value.value for value in (*self.base, *self.other)):
            return State.NONE
        named = {Kind.SAME: State.SAME, Kind.TOO_FEW: State.OPEN, Kind.NOT_COMPARABLE: State.WITHHELD}
        return named.get(self.verdict.kind, State.MOVED)


def metric_changes(
    base: Sequence[Replicate],
    other: Sequence[Replicate],
    metrics: Mapping[str, Metric],
    *,
    apart: str = "",
    comparable: bool = True,
) -> tuple[MetricChange, ...]:
    """What a piece of work costs and how long it takes, judged together: latencies, costs, kinds of waits.

    metrics: by name, of all that is measured.
    apart: the metric that the comparison is of, judged there."""
    work = work_of([*base, *other])
    rows = [*_plain(base, other, metrics, apart), *_costs(base, other, work), *_waits(base, other)]
    return _judged(rows, comparable)


def rest(
    base: Sequence[Replicate], other: Sequence[Replicate], metrics: Mapping[str, Metric], *, comparable: bool = True
) -> tuple[MetricChange, ...]:
    """Every measured number that both configurations have and that is not 0 throughout, judged together, the greatest
    resolved change first."""
    rows = []
    for metric, node, label in _shared(base, other):
        rows.append(_as_measured(base, other, metrics[metric], node, label))
    rows = [row for row in rows if any(row.base.values()) or any(row.other.values())]
    return tuple(sorted(_judged(rows, comparable), key=_greatest_first))


def work_of(replicates: Sequence[Replicate]) -> Work:
    """The first kind of work that every replicate counts."""
    return next(work for work in WORKS if replicates and all(_pieces(one, work) for one in replicates))


@dataclass(frozen=True)
class Sentence:
    """What the sentence on top says, each in the order of the table."""

    moved: tuple[MetricChange, ...]
    same: tuple[MetricChange, ...]
    open: tuple[MetricChange, ...]
    none: tuple[MetricChange, ...]
    withheld: tuple[MetricChange, ...]


def sentence(changes: Iterable[MetricChange]) -> Sentence:
    """Only of the node where the work is done. Where there are several parts (disks) they are in the table only."""
    named = [one for one in changes if one.said]
    nodes = {name: main_node(one.node for one in named if one.name == name) for name in {one.name for one in named}}
    main = [one for one in named if one.node == nodes[one.name]]
    return Sentence(*(tuple(one for one in main if one.state is state) for state in State))


def main_node(nodes: Iterable[str]) -> str:
    """Of the nodes that have a number the one that matters most: the primary, else the whole, else a server."""
    return min(nodes, key=lambda node: (node != PRIMARY, node != "", node.startswith("client"), node))


@dataclass(frozen=True, kw_only=True)
class _QuantityRow:
    """A quantity of both configurations that is not judged yet; fields as of `MetricChange`."""

    name: str
    label: str
    node: str
    part: str = ""
    unit: str
    formula: str = ""
    said: str = ""
    better: Better
    minimum_effect: float
    base: Mapping[Replicate, float]
    other: Mapping[Replicate, float]


def _plain(
    base: Sequence[Replicate], other: Sequence[Replicate], metrics: Mapping[str, Metric], apart: str
) -> Iterator[_QuantityRow]:
    for name, said in PLAIN.items():
        for metric, node, label in _shared(base, other):
            if metric == name != apart and not label:
                yield _as_measured(base, other, metrics[name], node, label, said)


def _as_measured(
    base: Sequence[Replicate], other: Sequence[Replicate], metric: Metric, node: str, label: str, said: str = ""
) -> _QuantityRow:
    return _QuantityRow(
        name=metric.name,
        label=metric.label,
        node=node,
        part=label,
        unit=metric.unit,
        said=said,
        better=metric.better,
        minimum_effect=metric.minimum_effect,
        base=_measured(base, metric.name, node, label),
        other=_measured(other, metric.name, node, label),
    )


def _costs(base: Sequence[Replicate], other: Sequence[Replicate], work: Work) -> Iterator[_QuantityRow]:
    for quantity in QUANTITIES:
        for metric, node, label in _shared(base, other):
            if metric != quantity.metric or (label and quantity.by is not By.RATE):
                continue
            cost = partial(_cost, quantity=quantity, work=work, node=node, label=label)
            yield _QuantityRow(
                name=quantity.name,
                label=quantity.label.format(work=work.noun),
                node=node,
                part=label,
                unit=quantity.unit,
                formula=quantity.formula(work),
                said=quantity.said.format(work=work.noun),
                better=quantity.better,
                minimum_effect=quantity.minimum_effect,
                base=_known(base, cost),
                other=_known(other, cost),
            )


def _cost(one: Replicate, quantity: Quantity, work: Work, node: str, label: str) -> float | None:
    value, pieces = one.values.get((quantity.metric, node, label)), _pieces(one, work)
    if value is None or not pieces:
        return None
    if node and _by_servers(one, work):
        return one.values.get((_BY_NODE.get(quantity.metric, ""), node, label))
    if quantity.by is By.TOTAL:
        return value / pieces
    if not one.seconds:
        return None
    if quantity.by is By.RATE:
        return value * one.seconds / pieces
    processors = one.processors.get(node)
    return value / 100 * processors * one.seconds * 1e6 / pieces if processors else None


def _waits(base: Sequence[Replicate], other: Sequence[Replicate]) -> Iterator[_QuantityRow]:
    """The share of the sessions' time of each kind of wait ('Lock' of 'Lock: transactionid')."""
    both = [*base, *other]
    kinds = {(node, kind_of_wait(label)) for one in both for metric, node, label in one.values if metric == WAITS}
    for node, kind in sorted(kinds):
        share = partial(wait_share, node=node, kind=kind)
        base_shares, other_shares = _known(base, share), _known(other, share)
        shares = (base_shares, other_shares)
        if all(shares) and max(median(side.values()) for side in shares) >= LEAST_SHARE:
            yield _QuantityRow(
                name="waits",
                label=f"Sessions' time: {_IN_WORDS.get(kind, kind)}",
                node=node,
                unit="%",
                formula=f"waits of {kind} / all waits × 100",
                said=f"time of sessions {_IN_WORDS.get(kind, f'waiting: {kind}')}",
                better=Better.NEITHER,
                minimum_effect=0.1,
                base=base_shares,
                other=other_shares,
            )


_IN_WORDS = {
    "CPU": "running",
    "Lock": "waiting for locks",
    "LWLock": "waiting for lightweight locks",
    "IO": "waiting for I/O",
    "Client": "waiting for the client",
    "IPC": "waiting for another process",
    "Timeout": "waiting for a timeout",
    "BufferPin": "waiting for a buffer pin",
    "Activity": "idle in their main loop",
    "Extension": "in an extension",
}


def kind_of_wait(label: str) -> str:
    """'Lock: transactionid' → 'Lock'."""
    return label.partition(":")[0]


def wait_share(one: Replicate, node: str, kind: str) -> float | None:
    """Percent of the sampled sessions of the node that were at a wait of the kind; None without any sample."""
    mine = {label: value for (metric, at, label), value in one.values.items() if metric == WAITS and at == node}
    whole = sum(mine.values())
    return 100 * sum(v for label, v in mine.items() if kind_of_wait(label) == kind) / whole if whole else None


def _judged(rows: Sequence[_QuantityRow], comparable: bool) -> tuple[MetricChange, ...]:
    measured = [row for row in rows if row.base and row.other]
    verdicts = judge([_question(row, comparable) for row in measured])
    parts = Counter((row.name, row.node) for row in measured if row.part)
    return tuple(
        MetricChange(
            name=row.name,
            label=row.label,
            node=row.node,
            part=row.part,
            unit=row.unit,
            formula=row.formula,
            said="" if parts[row.name, row.node] > 1 else row.said,
            base=_values(row.base),
            other=_values(row.other),
            verdict=verdict,
        )
        for row, verdict in zip(measured, verdicts, strict=True)
    )


def _question(row: _QuantityRow, comparable: bool) -> Question:
    part = (row.name, row.node, row.part)
    base, other = (_sample(values, part) for values in (row.base, row.other))
    return Question(base, other, row.better, row.minimum_effect, comparable=comparable)


def _sample(values: Mapping[Replicate, float], part: tuple[str, ...]) -> Sample:
    return Sample(tuple(values.values()), tuple(one.key for one in values), part)


def _values(values: Mapping[Replicate, float]) -> tuple[Value, ...]:
    return tuple(Value(one.trial_id, value) for one, value in values.items())


def _shared(base: Sequence[Replicate], other: Sequence[Replicate]) -> list[tuple[str, str, str]]:
    """(metric, node, label) that both configurations have, sorted."""
    return sorted({key for one in base for key in one.values} & {key for one in other for key in one.values})


def _measured(side: Sequence[Replicate], metric: str, node: str, label: str) -> dict[Replicate, float]:
    return _known(side, lambda one: one.values.get((metric, node, label)))


def _known(side: Sequence[Replicate], value: Callable[[Replicate], float | None]) -> dict[Replicate, float]:
    values = {one: value(one) for one in side}
    return {one: number for one, number in values.items() if number is not None}


def _pieces(one: Replicate, work: Work) -> float:
    """Those of the whole trial, whose parts may be there by the node that they were done at."""
    if not work.metric:
        return 1.0
    counts = {node: v for (metric, node, label), v in one.values.items() if metric == work.metric and not label}
    return counts[""] if "" in counts else sum(counts.values())


def _by_servers(one: Replicate, work: Work) -> bool:
    """Return whether a server is counted that had other work than the trial's, a part of it or reads beside it, so that
    no node's costs are of all of it. Sets of clients, which are counted by their own names, are no servers."""
    at = {node: v for (metric, node, label), v in one.values.items() if metric == work.metric and not label}
    parts = [v for node, v in at.items() if node and not node.startswith(("client", "set"))]
    return "" in at and any(value != at[""] for value in parts)


def _greatest_first(one: MetricChange) -> tuple[bool, float]:
    size = abs(np.log(one.ratio)) if one.ratio else 0.0
    return one.state is not State.MOVED, -float(size)
