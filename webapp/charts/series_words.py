"""What the series of a trial are called. Pure."""

from __future__ import annotations

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized

_WORDS = {
    "tps": _("transactions per second"),
    "latency.mean": _("mean latency"),
    "latency.sd": _("standard deviation of the latency"),
    "failed": _("failed"),
    "wal.bytes": _("wal bytes"),
    "transactions.committed": _("transactions committed"),
    "transactions.rolled_back": _("transactions rolled back"),
    "blocks.read": _("blocks read"),
    "blocks.hit": _("blocks hit"),
    "temp.bytes": _("temp bytes"),
    "backends.active": _("backends active"),
    "backends.waiting": _("backends waiting"),
    "cpu.user": _("cpu user"),
    "cpu.system": _("cpu system"),
    "cpu.iowait": _("cpu iowait"),
    "cpu.steal": _("cpu steal"),
    "cpu.idle": _("cpu idle"),
    "cpu.busy": _("cpu busy"),
    "memory.used": _("memory used"),
    "memory.cached": _("memory cached"),
    "memory.dirty": _("memory dirty"),
    "disk.read": _("disk read"),
    "disk.write": _("disk write"),
    "disk.utilisation": _("disk utilisation"),
    "network.received": _("network received"),
    "network.sent": _("network sent"),
    "context_switches": _("context switches"),
    "interrupts": _("interrupts"),
    "run_queue": _("run queue"),
    "load_average": _("load average"),
    "replication.lag_bytes": _("replication lag bytes"),
    "replication.lag": _("replication lag"),
    "replication.replay_age": _("replication replay age"),
}


def of(name: str) -> str:
    """A series in words: 'wal.bytes' → 'wal bytes'; one that nobody named here has its name's."""
    return localized(_WORDS.get(name, name.replace(".", " ").replace("_", " ")))
