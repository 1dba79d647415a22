"""`sadf -j` → one flat sample a second. Pure. Reads sysstat 10 to 12, whose keys differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError

_KIB = 1024.0
_SECTOR = 512.0
_SCALARS = (
    # (name, path in the sample, factor)
    ("memory.used", ("memory", "memused"), _KIB),
    ("memory.cached", ("memory", "cached"), _KIB),
    ("memory.dirty", ("memory", "dirty"), _KIB),
    ("context_switches", ("process-and-context-switch", "cswch"), 1.0),
    ("run_queue", ("queue", "runq-sz"), 1.0),
    ("load_average", ("queue", "ldavg-1"), 1.0),
)
_Key = tuple[str, str]  # name, label


@dataclass(frozen=True)
class Sample:
    """One second of sar.

    at_s: its end, whole epoch seconds as sar prints them.
    interval_s: its length.
    values: (name, label) → value in the base unit.
    """

    at_s: float
    interval_s: float
    values: Mapping[_Key, float]


def read_samples(text: str, file: str) -> list[Sample]:
    """Read every sample of the first host. Raises ParseError for text that is no JSON of sadf."""
    try:
        hosts = json_text.loads(text)["sysstat"]["hosts"]
        statistics = hosts[0].get("statistics", [])
        return [_sample(entry) for entry in statistics if "timestamp" in entry]
    except json.JSONDecodeError as error:
        raise ParseError("not JSON of sadf", file=file, line=error.lineno, text=_line(text, error.lineno)) from None
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise ParseError(f"not the JSON of sadf: {error!r}", file=file, line=1, text=text[:200]) from None


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _sample(entry: Mapping[str, Any]) -> Sample:
    stamp = entry["timestamp"]
    at = datetime.fromisoformat(f"{stamp['date']}T{stamp['time']}").replace(tzinfo=UTC)
    values: dict[_Key, float] = {}
    for name, path, factor in _SCALARS:
        value: Any = entry
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            values[name, ""] = float(value) * factor
    for source in (_cpus, _disks, _interfaces, _interrupts):
        values.update(source(entry))
    return Sample(at.timestamp(), float(stamp.get("interval", 1)), values)


def _cpus(entry: Mapping[str, Any]) -> Iterator[tuple[_Key, float]]:
    for cpu in entry.get("cpu-load", entry.get("cpu-load-all", ())):
        number = str(cpu["cpu"])
        user = _sum(cpu, "usr", "user", "nice", "guest", "gnice")
        system = _sum(cpu, "sys", "system", "irq", "soft")
        steal, idle, iowait = _sum(cpu, "steal"), _sum(cpu, "idle"), _sum(cpu, "iowait")
        busy = ("cpu.busy", "" if number in ("all", "-1") else f"cpu{number}"), user + system + steal
        yield busy
        if not busy[0][1]:
            yield ("cpu.user", ""), user
            yield ("cpu.system", ""), system
            yield ("cpu.iowait", ""), iowait
            yield ("cpu.steal", ""), steal
            yield ("cpu.idle", ""), idle


def _disks(entry: Mapping[str, Any]) -> Iterator[tuple[_Key, float]]:
    for disk in entry.get("disk", ()):
        device = str(disk["disk-device"])
        yield ("disk.read", device), _first(disk, (("rkB", _KIB), ("rd_sec", _SECTOR)))
        yield ("disk.write", device), _first(disk, (("wkB", _KIB), ("wr_sec", _SECTOR)))
        yield ("disk.utilisation", device), _first(disk, (("util-percent", 1.0), ("util", 1.0)))


def _interfaces(entry: Mapping[str, Any]) -> Iterator[tuple[_Key, float]]:
    for interface in entry.get("network", {}).get("net-dev", ()):
        name = str(interface["iface"])
        yield ("network.received", name), _first(interface, (("rxkB", _KIB),))
        yield ("network.sent", name), _first(interface, (("txkB", _KIB),))


def _interrupts(entry: Mapping[str, Any]) -> Iterator[tuple[_Key, float]]:
    for row in entry.get("interrupts", ()):
        if str(row.get("intr")) == "sum":
            yield ("interrupts", ""), _first(row, (("all", 1.0), ("value", 1.0)))


def _sum(row: Mapping[str, Any], *keys: str) -> float:
    return sum(float(row.get(key, 0.0)) for key in keys)


def _first(row: Mapping[str, Any], choices: tuple[tuple[str, float], ...]) -> float:
    """Return the value of the first key that exists, in base units; NaN (a gap) when none does."""
    for key, factor in choices:
        if key in row:
            return float(row[key]) * factor
    return float("nan")
