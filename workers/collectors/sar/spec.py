"""What sar declares. Pure."""

from __future__ import annotations

from results.domain.kinds.programs import EVERY_ROLE, Program
from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric

# sar counts whole machines, on which pgbench may run
_WINDOW = "From sar: mean of the whole seconds inside the measured window."


def _percent(name: str, label: str, better: Better = Better.NEITHER) -> Metric:
    return Metric(name, "%", better, label, _WINDOW + " Of all processors.", 0.05, client_overhead=True)


METRICS = (
    _percent("cpu.user", "CPU in user mode (nice included)"),
    _percent("cpu.system", "CPU in the kernel (interrupts included)"),
    _percent("cpu.iowait", "CPU idle, waiting for I/O"),
    _percent("cpu.steal", "CPU stolen by the hypervisor", Better.LOWER),
    _percent("cpu.idle", "CPU idle"),
    _percent("cpu.busy", "CPU busy: user, system and stolen"),
    Metric("memory.used", "B", Better.LOWER, "Memory used", _WINDOW + " Without buffers and cache.", 0.05),
    Metric("memory.cached", "B", Better.NEITHER, "Page cache", _WINDOW, 0.05),
    Metric("memory.dirty", "B", Better.NEITHER, "Dirty memory, not yet on disk", _WINDOW, 0.1),
    Metric(
        "disk.read", "B/s", Better.NEITHER, "Disk reads", _WINDOW + " Label: the device.", 0.05, label_noun="device"
    ),
    Metric(
        "disk.write", "B/s", Better.NEITHER, "Disk writes", _WINDOW + " Label: the device.", 0.05, label_noun="device"
    ),
    Metric(
        "disk.utilisation",
        "%",
        Better.NEITHER,
        "Disk utilisation",
        _WINDOW + " Label: the device.",
        0.05,
        label_noun="device",
    ),
    Metric(
        "network.received",
        "B/s",
        Better.NEITHER,
        "Network, received",
        _WINDOW + " Label: the interface.",
        0.05,
        label_noun="interface",
    ),
    Metric(
        "network.sent",
        "B/s",
        Better.NEITHER,
        "Network, sent",
        _WINDOW + " Label: the interface.",
        0.05,
        label_noun="interface",
    ),
    Metric("context_switches", "1/s", Better.NEITHER, "Context switches", _WINDOW, 0.05, client_overhead=True),
    Metric("interrupts", "1/s", Better.NEITHER, "Interrupts", _WINDOW, 0.05, client_overhead=True),
    Metric(
        "run_queue",
        "1",
        Better.NEITHER,
        "Tasks running or waiting for a processor",
        _WINDOW,
        0.1,
        client_overhead=True,
    ),
    Metric("load_average", "1", Better.NEITHER, "Load average of the last minute", _WINDOW, 0.1, client_overhead=True),
)

_SYSSTAT = "Debian, Ubuntu: apt-get install sysstat; RHEL, Rocky, Fedora: dnf install sysstat"
_WITHOUT = "trials have no CPU, memory, disk and network series"
SAR, SADF = (Program(name, _SYSSTAT, version='"$tool" -V', without=_WITHOUT) for name in ("sar", "sadf"))

SPEC = CollectorSpec(
    name="sar",
    title="sar",
    help="Processors (all, and each), memory, disks, network, context switches and run queue of every agent, "
    "once a second, by sysstat.",
    on="agents",
    metrics=METRICS,
    programs={EVERY_ROLE: (SAR, SADF)},
)
