"""What sar declares. Pure."""

from __future__ import annotations

from results.domain.kinds.programs import EVERY_ROLE, Program
from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _

# sar counts whole machines, on which pgbench may run
_WINDOW = _("From sar: mean of the whole seconds inside the measured window.")
_OF_ALL = _("From sar: mean of the whole seconds inside the measured window. Of all processors.")
_WITHOUT_CACHE = _("From sar: mean of the whole seconds inside the measured window. Without buffers and cache.")
_OF_DEVICE = _("From sar: mean of the whole seconds inside the measured window. Label: the device.")
_OF_INTERFACE = _("From sar: mean of the whole seconds inside the measured window. Label: the interface.")


def _percent(name: str, label: str, better: Better = Better.NEITHER) -> Metric:
    return Metric(name, "%", better, label, _OF_ALL, 0.05, client_overhead=True)


METRICS = (
    _percent("cpu.user", _("CPU in user mode (nice included)")),
    _percent("cpu.system", _("CPU in the kernel (interrupts included)")),
    _percent("cpu.iowait", _("CPU idle, waiting for I/O")),
    _percent("cpu.steal", _("CPU stolen by the hypervisor"), Better.LOWER),
    _percent("cpu.idle", _("CPU idle")),
    _percent("cpu.busy", _("CPU busy: user, system and stolen")),
    Metric("memory.used", "B", Better.LOWER, _("Memory used"), _WITHOUT_CACHE, 0.05),
    Metric("memory.cached", "B", Better.NEITHER, _("Page cache"), _WINDOW, 0.05),
    Metric("memory.dirty", "B", Better.NEITHER, _("Dirty memory, not yet on disk"), _WINDOW, 0.1),
    Metric("disk.read", "B/s", Better.NEITHER, _("Disk reads"), _OF_DEVICE, 0.05, label_noun=_("device")),
    Metric("disk.write", "B/s", Better.NEITHER, _("Disk writes"), _OF_DEVICE, 0.05, label_noun=_("device")),
    Metric(
        "disk.utilisation",
        "%",
        Better.NEITHER,
        _("Disk utilisation"),
        _OF_DEVICE,
        0.05,
        label_noun=_("device"),
    ),
    Metric(
        "network.received",
        "B/s",
        Better.NEITHER,
        _("Network, received"),
        _OF_INTERFACE,
        0.05,
        label_noun=_("interface"),
    ),
    Metric(
        "network.sent",
        "B/s",
        Better.NEITHER,
        _("Network, sent"),
        _OF_INTERFACE,
        0.05,
        label_noun=_("interface"),
    ),
    Metric("context_switches", "1/s", Better.NEITHER, _("Context switches"), _WINDOW, 0.05, client_overhead=True),
    Metric("interrupts", "1/s", Better.NEITHER, _("Interrupts"), _WINDOW, 0.05, client_overhead=True),
    Metric(
        "run_queue",
        "1",
        Better.NEITHER,
        _("Tasks running or waiting for a processor"),
        _WINDOW,
        0.1,
        client_overhead=True,
    ),
    Metric(
        "load_average", "1", Better.NEITHER, _("Load average of the last minute"), _WINDOW, 0.1, client_overhead=True
    ),
)

_SYSSTAT = "Debian, Ubuntu: apt-get install sysstat; RHEL, Rocky, Fedora: dnf install sysstat"
_WITHOUT = _("trials have no CPU, memory, disk and network series")
SAR, SADF = (Program(name, _SYSSTAT, version='"$tool" -V', without=_WITHOUT) for name in ("sar", "sadf"))

SPEC = CollectorSpec(
    name="sar",
    title="sar",
    help=_(
        "Processors (all, and each), memory, disks, network, context switches and run queue of every agent, "
        "once a second, by sysstat."
    ),
    on="agents",
    metrics=METRICS,
    programs={EVERY_ROLE: (SAR, SADF)},
)
