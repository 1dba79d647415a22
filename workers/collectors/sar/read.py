"""`sadf -j` → samples, one a second. Pure. Reads sysstat 10 to 12, whose keys differ."""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _

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


_STATISTICS = re.compile(r'"statistics"\s*+:\s*+\[')
MOST_VALUES = 10_000_000  # 256 MiB of sadf have some four million


@dataclass
class Samples:
    """The samples of sar, by column.

    at_s: end of each, whole epoch seconds as sar prints them.
    intervals_s: length of each.
    columns: (name, label) → values in the base unit, one for each sample; NaN where it has none.
    """

    at_s: array[float] = field(default_factory=lambda: array("d"))
    intervals_s: array[float] = field(default_factory=lambda: array("d"))
    columns: dict[_Key, array[float]] = field(default_factory=dict)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add one of sadf's samples. Raises ValueError where there are more than ten million values by now; KeyError,
        TypeError, AttributeError, ValueError for a damaged one."""
        stamp = entry["timestamp"]
        at = datetime.fromisoformat(f"{stamp['date']}T{stamp['time']}").replace(tzinfo=UTC)
        self.at_s.append(at.timestamp())
        self.intervals_s.append(float(stamp.get("interval", 1)))
        self._require_room()
        for source in (_scalars, _cpus, _disks, _interfaces, _interrupts):
            for key, value in source(entry):
                column = self.columns.setdefault(key, array("d"))
                self._require_room()
                self._fill(column, len(self.at_s) - 1)
                column[len(self.at_s) - 1 :] = array("d", (value,))

    def fill(self) -> None:
        """Give every column a value for each sample."""
        for column in self.columns.values():
            self._fill(column, len(self.at_s))

    def _fill(self, column: array[float], length: int) -> None:
        if missing := length - len(column):
            column.extend(array("d", (math.nan,)) * missing)

    def _require_room(self) -> None:
        if (len(self.columns) + 2) * len(self.at_s) > MOST_VALUES:
            raise ValueError(f"it has more than {MOST_VALUES:,} values, samples times devices")


def read_samples(text: str, file: str) -> Samples:
    """Read every sample of the first host, one at a time. Raises ParseError for text that is no JSON of sadf."""
    samples = Samples()
    try:
        _read(text, samples)
    except json.JSONDecodeError as error:
        raise ParseError(_("not JSON of sadf"), file=file, line=error.lineno, text=_line(text, error.pos)) from None
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        what = _("not the JSON of sadf: {error}", error=repr(error))
        raise ParseError(what, file=file, line=1, text=text[:200]) from None
    samples.fill()
    return samples


def _read(text: str, samples: Samples) -> None:
    match = _STATISTICS.search(text)
    if match is None:
        json_text.loads(text)["sysstat"]["hosts"][0]  # is there
        return
    begin = end = match.end()
    for entry, after in json_text.items(text, begin):
        end = after
        if "timestamp" in entry:
            samples.add(entry)
    if _without_samples(text, begin, end)["sysstat"]["hosts"][0]["statistics"] != []:
        raise ValueError("it has samples in two places")


def _without_samples(text: str, begin: int, end: int) -> Any:
    """Return what the text says around its samples, which stand between begin and end."""
    try:
        return json_text.loads(text[:begin] + text[end:])
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(error.msg, text, error.pos + (end - begin if error.pos >= begin else 0)) from None


def _line(text: str, position: int) -> str:
    begin = text.rfind("\n", 0, position) + 1
    return text[begin : begin + 1000].partition("\n")[0]


def _scalars(entry: Mapping[str, Any]) -> Iterator[tuple[_Key, float]]:
    for name, path, factor in _SCALARS:
        value: Any = entry
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            yield (name, ""), float(value) * factor


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
