"""What perf_stat declares. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from results.domain.kinds.programs import AWK, EVERY_ROLE, Program
from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _


@dataclass(frozen=True)
class Event:
    """What perf counts.

    name: perf's
    metric: of its sum over the measured window; what a transaction costs of it is METRIC.per_transaction
    minimum_effect: the smallest relative change of the latter that is worth a verdict
    """

    name: str
    metric: str
    label: str
    per_transaction: str
    minimum_effect: float
    unit: str = "1"


INSTRUCTIONS, CYCLES = "perf_stat.instructions", "perf_stat.cycles"
EVENTS = (
    Event("instructions", INSTRUCTIONS, _("Instructions"), _("Instructions per transaction"), 0.01),
    Event("cycles", CYCLES, _("Processor cycles"), _("Processor cycles per transaction"), 0.02),
    Event("cache-misses", "perf_stat.cache_misses", _("Cache misses"), _("Cache misses per transaction"), 0.05),
    Event("branch-misses", "perf_stat.branch_misses", _("Branch misses"), _("Branch misses per transaction"), 0.02),
    Event(
        "task-clock",
        "perf_stat.task_clock",
        _("Processor time of the processes"),
        _("Processor time of the processes per transaction"),
        0.02,
        "us",
    ),
    Event(
        "context-switches",
        "perf_stat.context_switches",
        _("Context switches of the processes"),
        _("Context switches of the processes per transaction"),
        0.05,
    ),
    Event("page-faults", "perf_stat.page_faults", _("Page faults"), _("Page faults per transaction"), 0.05),
)
METRICS = (
    *(
        Metric(
            event.metric,
            event.unit,
            Better.NEITHER,
            event.label,
            _("Counted by perf in the measured window, of all processes of the server, or of pgbench."),
            0.05,
        )
        for event in EVENTS
    ),
    *(
        Metric(
            f"{event.metric}.per_transaction",
            event.unit,
            Better.LOWER,
            event.per_transaction,
            _("Counted by perf in the measured window, divided by the transactions in it."),
            event.minimum_effect,
        )
        for event in EVENTS
    ),
    Metric(
        "perf_stat.ipc",
        "1",
        Better.HIGHER,
        _("Instructions per cycle"),
        _("Counted by perf in the measured window, of all processes of the server, or of pgbench."),
    ),
)

PERF = Program(
    "perf",
    "Debian: apt-get install linux-perf; Ubuntu: apt-get install linux-tools-generic; "
    "RHEL, Rocky, Fedora: dnf install perf",
)
PS = Program("ps", "Debian, Ubuntu: apt-get install procps; RHEL, Rocky, Fedora: dnf install procps-ng")

SPEC = CollectorSpec(
    name="perf_stat",
    title="perf stat",
    help=_(
        "What the processor did for a transaction, counted by perf stat in the measured window, of each server and of "
        "pgbench apart: instructions, cycles, cache and branch misses, processor time, context switches, page faults. "
        "It needs perf on the agent, a kernel that lets the "
        "agent's account count its own processes, and for the first four a processor that counts (few virtual ones do)."
    ),
    on="servers and clients",
    metrics=METRICS,
    programs={EVERY_ROLE: (PERF, PS, AWK)},
)
