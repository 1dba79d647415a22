"""Costs of a transaction on each node: sums measured there, divided by the transactions that caused them. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from results.domain.environment.layers import LayerKind
from results.domain.matrix import ONE_LOAD, TrialSpec, is_client
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from workers.bundle.manifest import Manifest

PRIMARY = "primary"
# of the processes of one server, or of one client
_OF_PROCESSES = (
    "perf_stat.instructions",
    "perf_stat.cycles",
    "perf_stat.cache_misses",
    "perf_stat.branch_misses",
    "perf_stat.task_clock",
    "perf_stat.context_switches",
    "perf_stat.page_faults",
)
_FROM_TOTALS = {
    "wal.bytes": "wal.per_transaction",
    "blocks.read": "blocks.read.per_transaction",
    "blocks.written": "blocks.written.per_transaction",
} | {metric: f"{metric}.per_transaction" for metric in _OF_PROCESSES}
_PROMOTED = _("it replayed the primary's changes before it served clients itself")
_MIXED = _("different parts of the load were at work there, and what was measured is not told apart")
_UNCOUNTED = _("how many transactions each server acknowledged is not known")
_ONE_CLUSTER = _("several servers of one cluster took load, and work for each other's transactions")


@dataclass(frozen=True)
class _Share:
    """The transactions that one set of clients ran on one server.

    transactions: how many; None where that is not known
    workload: whether the clients ran the workload, rather than reads beside it
    pooler: the pooler between clients and server; '' for none
    """

    client: str
    server: str
    transactions: float | None
    workload: bool = True
    pooler: str = ""


def total(measurements: Iterable[Measurement], metric: str, node: str = "") -> float | None:
    """Return the value of a metric without label, of the trial or of one node; None where it was not measured."""
    return next((m.value for m in measurements if m.metric == metric and not m.label and m.node == node), None)


def costs(whole: Part, manifest: Manifest, spec: TrialSpec) -> tuple[list[Measurement], list[Gap]]:
    """Return each node's costs per transaction, and a gap for each node whose transactions cannot be told apart.

    A cost is a sum over the measured window, divided by the transactions that caused it: all of them, where one server
    takes load.
    """
    transactions = total(whole.measurements, "transactions")
    if not transactions or manifest.window is None:
        return [], []
    counts = _TransactionsByServer(whole, spec, transactions)
    measurements: list[Measurement] = []
    unknown: dict[tuple[str, str], list[str]] = {}
    for name, m, value, of_machine in _sums(whole, manifest):
        count = counts.by_machine(m.node) if of_machine else counts.by_node(m.node, m.metric)
        if isinstance(count, str):
            unknown.setdefault((m.node, count), []).append(name)
        elif count:
            measurements.append(Measurement(name, counts.work_done(m, value) / count, m.node))
    gaps = [
        Gap("costs", node, _("{metrics}: {why}", metrics=linked(COMMA, names), why=why))
        for (node, why), names in unknown.items()
    ]
    return measurements, gaps


def _sums(whole: Part, manifest: Manifest) -> Iterator[tuple[str, Measurement, float, bool]]:
    """Yield (metric of the cost, its source measurement, sum over the window, whether it is the whole machine's)."""
    assert manifest.window is not None
    seconds = manifest.window[1] - manifest.window[0]
    for m in whole.measurements:
        if m.label:
            continue
        if m.metric in _FROM_TOTALS:
            yield _FROM_TOTALS[m.metric], m, m.value, False
        elif m.metric == "context_switches":
            yield "context_switches.per_transaction", m, m.value * seconds, True
        elif m.metric == "cpu.busy" and (processors := _processors(manifest, m.node)):
            yield "cpu.per_transaction", m, m.value / 100 * processors * seconds * 1e6, True


class _TransactionsByServer:
    """How many transactions caused what was measured on a node, or the reason why that is not known."""

    def __init__(self, whole: Part, spec: TrialSpec, transactions: float) -> None:
        self.whole, self.spec, self.transactions = whole, spec, transactions
        self.promoted = next((event.node for event in whole.events if event.kind == "promoted"), "")
        self.shares = self._shares_after_failover() if self.promoted else self._shares_of_loads()

    def _shares_of_loads(self) -> list[_Share]:
        return [
            _Share(load.client, load.server, self._transactions_at(load.name), load.workload)
            for load in self.spec.loads or ONE_LOAD
        ]

    def _shares_after_failover(self) -> list[_Share]:
        load = (self.spec.loads or ONE_LOAD)[0]
        pooler = load.server if load.server in self.spec.poolers else ""
        return [
            _Share(load.client, node, self._transactions_at(node), pooler=pooler) for node in (PRIMARY, self.promoted)
        ]

    def _transactions_at(self, node: str) -> float | None:
        return total(self.whole.measurements, "transactions", node)

    def by_node(self, node: str, metric: str) -> float | str:
        """Return the transactions that caused a metric of one server or client, or why they are not known."""
        if is_client(node):
            return self._transactions_for(lambda share: (share.client == node,))
        return self.by_server(node, metric)

    def by_server(self, node: str, metric: str) -> float | str:
        """Return the transactions that caused a metric of one server, or why they are not known.

        A promoted server reports the WAL that it wrote itself apart from the WAL that it replayed, and counts only its
        own sessions' reads; blocks written, and what its processes did, are of both.
        """
        unknown = metric == "blocks.written" or metric in _OF_PROCESSES
        replayed_too = unknown or (metric == "wal.bytes" and self._written() is None)
        if node == self.promoted and replayed_too:
            return _PROMOTED
        if node in self.spec.outside and len({share.server for share in self.shares}) > 1:
            return _ONE_CLUSTER
        return self._transactions_for(lambda share: (share.server in self._origins({node}),))

    def by_machine(self, node: str) -> float | str:
        """Return the transactions that caused a metric of the node's whole machine, or why they are not known."""
        here = {
            role
            for role, agent in self.spec.agents.items()
            if agent == self.spec.agents.get(node) and role not in self.spec.outside
        }
        if self.promoted in here and PRIMARY not in here:
            return _PROMOTED
        servers = self._origins(here)
        return self._transactions_for(
            lambda share: (share.client in here, share.server in servers, share.pooler in here)
        )

    def work_done(self, m: Measurement, value: float) -> float:
        """Return the sum to divide: of a promoted server's WAL only what it wrote itself, else the value."""
        written = self._written()
        return written if m.node == self.promoted and m.metric == "wal.bytes" and written is not None else value

    def _written(self) -> float | None:
        key = ("wal.bytes", self.promoted, "written")
        return next((m.value for m in self.whole.measurements if (m.metric, m.node, m.label) == key), None)

    def _origins(self, nodes: set[str]) -> set[str]:
        """Return the servers whose transactions cause work on these nodes.

        After a failover the standbys that were not promoted have followed the primary, and nobody since.
        """
        if self.promoted and any(node in self.spec.servers and node != self.promoted for node in nodes):
            return nodes | {PRIMARY}
        return nodes

    def _transactions_for(self, parts: Callable[[_Share], tuple[bool, ...]]) -> float | str:
        """Return the transactions that cause work here, or why they are not known.

        They are known where the same parts of each transaction are done here. All of the trial's, where none are done
        here: they pass through, or the node is idle.

        parts: share → for each part of a transaction (client, server, pooler) whether it is done here
        """
        here = [(share, parts(share)) for share in self.shares if any(parts(share))]
        if len({part for _, part in here}) > 1 or not all(share.workload for share, _ in here):
            return _MIXED
        if len(here) in (0, len(self.shares)):
            return self.transactions
        counts = [share.transactions for share, _ in here if share.transactions is not None]
        return math.fsum(counts) if len(counts) == len(here) else _UNCOUNTED


def _processors(manifest: Manifest, node: str) -> int:
    """Return how many logical processors are online on the node's machine, by its hardware layer; 0 where unknown.

    sar's shares of CPU time are of these.
    """
    layers = [u.layer for u in manifest.layers if u.node == node and u.layer.kind == LayerKind.HARDWARE]
    return int(layers[0].content["cpu"]["online"]) if layers else 0
