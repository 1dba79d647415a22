"""The quantities that Why tells of two configurations: what a piece of work costs, and totals as they are. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from results.domain.measurement.metrics import Better
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _


class By(StrEnum):
    """How a measured number becomes that of the whole measured window."""

    TOTAL = "total"
    RATE = "rate"
    PROCESSORS = "processors"


@dataclass(frozen=True)
class Quantity:
    """What one piece of work costs: a metric's number of the whole window, divided by the pieces of work in it.

    label: with {work} in it.
    said: its name in the sentence on top, '' for one that is only in the table.
    better, minimum_effect: of totals those of the metric."""

    name: str
    label: str
    unit: str
    metric: str
    by: By
    said: str = ""
    better: Better = Better.LOWER
    minimum_effect: float = 0.05

    def formula(self, work: Work) -> str:
        whole: str = {
            By.TOTAL: self.metric,
            By.RATE: _("{metric} × seconds", metric=self.metric),
            By.PROCESSORS: _("{metric} / 100 × processors × seconds", metric=self.metric),
        }[self.by]
        return Message("{whole} / {pieces}", values={"whole": whole, "pieces": work.metric}) if work.metric else whole


@dataclass(frozen=True)
class Work:
    """What costs are divided by: transactions, executions of a query, or the trial as a whole.

    metric: how many pieces of work the window held; '' where the trial as a whole is the work."""

    metric: str
    noun: str


WORKS = (Work("transactions", _("transaction")), Work("ssb.executions", _("query")), Work("", _("trial")))
QUANTITIES = (
    Quantity("cpu", _("CPU per {work}"), "us", "cpu.busy", By.PROCESSORS, _("CPU per {work}"), minimum_effect=0.02),
    Quantity("cpu.user", _("CPU in user mode per {work}"), "us", "cpu.user", By.PROCESSORS),
    Quantity("cpu.system", _("CPU in the kernel per {work}"), "us", "cpu.system", By.PROCESSORS),
    Quantity("switches", _("Context switches per {work}"), "1", "context_switches", By.RATE, _("context switches")),
    Quantity("blocks.read", _("Blocks read per {work}"), "1", "blocks.read", By.TOTAL, _("blocks read")),
    Quantity("blocks.hit", _("Blocks hit per {work}"), "1", "blocks.hit", By.TOTAL, _("blocks hit")),
    Quantity("blocks.written", _("Blocks written per {work}"), "1", "blocks.written", By.TOTAL, _("blocks written")),
    Quantity("wal", _("WAL per {work}"), "B", "wal.bytes", By.TOTAL, _("WAL")),
    Quantity("wal.records", _("WAL records per {work}"), "1", "wal.records", By.TOTAL),
    Quantity("wal.images", _("Full-page images per {work}"), "1", "wal.full_page_images", By.TOTAL),
    Quantity("temp", _("Temporary files per {work}"), "B", "temp.bytes", By.TOTAL, _("temporary files")),
    Quantity("disk.read", _("Disk reads per {work}"), "B", "disk.read", By.RATE, _("disk reads"), minimum_effect=0.1),
    Quantity(
        "disk.write", _("Disk writes per {work}"), "B", "disk.write", By.RATE, _("disk writes"), minimum_effect=0.1
    ),
    Quantity("network.sent", _("Sent by network per {work}"), "B", "network.sent", By.RATE),
    Quantity("network.received", _("Received by network per {work}"), "B", "network.received", By.RATE),
)
# what a transaction costs at a node where several had parts of the work: told apart when the trial was read
BY_NODE = {
    "cpu.busy": "cpu.per_transaction",
    "context_switches": "context_switches.per_transaction",
    "blocks.read": "blocks.read.per_transaction",
    "blocks.written": "blocks.written.per_transaction",
    "wal.bytes": "wal.per_transaction",
}
# totals that are shown as they are measured: name → what the sentence calls them
PLAIN = {
    "tps": _("throughput"),
    "latency.mean": _("mean latency"),
    "latency.p50": _("median latency"),
    "latency.p95": "",
    "latency.p99": _("p99 latency"),
    "latency.p99.9": "",
    "latency.max": "",
    "buffers.hit_ratio": "",
    "checkpoints": _("checkpoints"),
    "run_queue": "",
    "ssb.jit.seconds": _("compiling (JIT)"),
    "cpu.busy": "",
    "failed": "",
}
