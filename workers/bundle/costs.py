"""What a transaction costs on each node: what was measured there, by the transactions that it was done for. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from results.domain.environment.layers import LayerKind
from results.domain.matrix import ONE_LOAD, TrialSpec
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from workers.bundle.manifest import Manifest

PRIMARY = "primary"
_FROM_TOTALS = {
    "wal.bytes": "wal.per_transaction",
    "blocks.read": "blocks.read.per_transaction",
    "blocks.written": "blocks.written.per_transaction",
}
_PROMOTED = "it replayed the primary's changes before it served clients itself"
_MIXED = "different parts of the load were at work there, and what was measured is not told apart"
_UNCOUNTED = "how many transactions each server acknowledged is not known"
_ONE_CLUSTER = "several servers of one cluster took load, and work for each other's transactions"


@dataclass(frozen=True)
class _Share:
    """The transactions that one set of clients had of one server. transactions: None where that is not known.
    workload: whether they ran the workload, and did not read beside it. pooler: what passed them on to it."""

    client: str
    server: str
    transactions: float | None
    workload: bool = True
    pooler: str = ""


def total(measurements: Iterable[Measurement], metric: str, node: str = "") -> float | None:
    """The value of a metric of the trial, or of one node, without labels' parts."""
    return next((m.value for m in measurements if m.metric == metric and not m.label and m.node == node), None)


def costs(whole: Part, manifest: Manifest, spec: TrialSpec) -> tuple[list[Measurement], list[Gap]]:
    """Each node's sums over the measured window by the transactions that they were done for; a gap for a node where
    that cannot be told apart. With one server that takes load these are all."""
    transactions = total(whole.measurements, "transactions")
    if not transactions or manifest.window is None:
        return [], []
    served = _Served(whole, spec, transactions)
    found: list[Measurement] = []
    unknown: dict[tuple[str, str], list[str]] = {}
    for name, m, value, of_machine in _sums(whole, manifest):
        count = served.by_machine(m.node) if of_machine else served.by_server(m.node, m.metric)
        if isinstance(count, str):
            unknown.setdefault((m.node, count), []).append(name)
        elif count:
            found.append(Measurement(name, served.own(m, value) / count, m.node))
    return found, [Gap("costs", node, f"{', '.join(names)}: {why}") for (node, why), names in unknown.items()]


def _sums(whole: Part, manifest: Manifest) -> Iterator[tuple[str, Measurement, float, bool]]:
    """(metric of the cost, what it is made of, its sum over the window, whether it is the whole machine's)."""
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


class _Served:
    """Which server had which transactions: as many, or why that is not known."""

    def __init__(self, whole: Part, spec: TrialSpec, transactions: float) -> None:
        self.whole, self.spec, self.transactions = whole, spec, transactions
        self.promoted = next((event.node for event in whole.events if event.kind == "promoted"), "")
        self.shares = self._after_failover() if self.promoted else self._of_loads()

    def _of_loads(self) -> list[_Share]:
        return [
            _Share(load.client, load.server, self._counted(load.name), load.workload)
            for load in self.spec.loads or ONE_LOAD
        ]

    def _after_failover(self) -> list[_Share]:
        load = (self.spec.loads or ONE_LOAD)[0]
        pooler = load.server if load.server in self.spec.poolers else ""
        return [_Share(load.client, node, self._counted(node), pooler=pooler) for node in (PRIMARY, self.promoted)]

    def _counted(self, node: str) -> float | None:
        return total(self.whole.measurements, "transactions", node)

    def by_server(self, node: str, metric: str) -> float | str:
        """A server that was promoted has its own WAL told apart, and counts only its own sessions' reads."""
        replayed_too = metric == "blocks.written" or (metric == "wal.bytes" and self._written() is None)
        if node == self.promoted and replayed_too:
            return _PROMOTED
        if node in self.spec.outside and len({share.server for share in self.shares}) > 1:
            return _ONE_CLUSTER
        return self._together(lambda share: (share.server in self._origins({node}),))

    def by_machine(self, node: str) -> float | str:
        here = {
            role
            for role, agent in self.spec.agents.items()
            if agent == self.spec.agents.get(node) and role not in self.spec.outside
        }
        if self.promoted in here and PRIMARY not in here:
            return _PROMOTED
        servers = self._origins(here)
        return self._together(lambda share: (share.client in here, share.server in servers, share.pooler in here))

    def own(self, m: Measurement, value: float) -> float:
        """Of a promoted server's WAL what it wrote itself."""
        written = self._written()
        return written if m.node == self.promoted and m.metric == "wal.bytes" and written is not None else value

    def _written(self) -> float | None:
        wanted = ("wal.bytes", self.promoted, "written")
        return next((m.value for m in self.whole.measurements if (m.metric, m.node, m.label) == wanted), None)

    def _origins(self, nodes: set[str]) -> set[str]:
        """The servers whose transactions are work for these: after a failover the standbys that were not promoted have
        followed the primary, and nobody since."""
        if self.promoted and any(node in self.spec.servers and node != self.promoted for node in nodes):
            return nodes | {PRIMARY}
        return nodes

    def _together(self, parts: Callable[[_Share], tuple[bool, ...]]) -> float | str:
        """The transactions of which something is done here, where that is the same part of each; all of them where
        nothing is: they pass through, or it is idle."""
        here = [(share, parts(share)) for share in self.shares if any(parts(share))]
        if len({part for _, part in here}) > 1 or not all(share.workload for share, _ in here):
            return _MIXED
        if len(here) in (0, len(self.shares)):
            return self.transactions
        counts = [share.transactions for share, _ in here if share.transactions is not None]
        return math.fsum(counts) if len(counts) == len(here) else _UNCOUNTED


def _processors(manifest: Manifest, node: str) -> int:
    """Logical processors that are online on the node's machine, by its hardware layer; 0 when unknown. sar's shares of
    CPU time are of these."""
    layers = [u.layer for u in manifest.layers if u.node == node and u.layer.kind == LayerKind.HARDWARE]
    return int(layers[0].content["cpu"]["online"]) if layers else 0
