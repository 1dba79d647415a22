"""Parse the output of facts.sh. Pure.

Layers hold what a machine is; what changes by itself (free space, load, clock) is never part of one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end

Section = Mapping[str, str]
_VIRTUAL_FILESYSTEMS = "tmpfs", "ramfs"


@dataclass(frozen=True)
class Facts:
    """The facts of an agent.

    tools: name → 'path version'
    disk: total_bytes, free_bytes, mount, filesystem, options, device of the data directory
    clock_offset_s: the agent's clock minus the worker's
    root: whether the agent's account is root
    """

    layers: tuple[Layer, ...]
    tools: dict[str, str]
    disk: dict[str, Any]
    memory_bytes: int
    cores: int
    clock_offset_s: float = 0.0
    root: bool = False

    def with_clock(self, offset_s: float) -> Facts:
        return replace(self, clock_offset_s=offset_s)


def parse_facts(text: str) -> Facts:
    """Return the facts in the output of facts.sh. Raises ParseError where it is damaged."""
    sections = _sections(text)
    for name in ("cpu", "meminfo", "storage", "kernel"):
        if not sections.get(name):
            raise ParseError(
                _("Section {name!r} is missing or empty.", name=name), file="facts.sh", text=masked_end(text, 199)
            )
    storage = sections["storage"]
    memory_bytes = _kilobytes(sections["meminfo"].get("MemTotal", ""))
    return Facts(
        layers=(
            Layer(LayerKind.HARDWARE, _hardware(sections, memory_bytes)),
            Layer(LayerKind.KERNEL, _kernel(sections)),
            Layer(LayerKind.STORAGE, _storage(storage)),
            Layer(LayerKind.TOOL, dict(sections.get("tools", {}))),
        ),
        tools=dict(sections.get("tools", {})),
        disk={
            "total_bytes": _number(storage, "total_bytes"),
            "free_bytes": _number(storage, "free_bytes"),
            **{key: storage.get(key, "") for key in ("mount", "filesystem", "options", "device")},
        },
        memory_bytes=memory_bytes,
        cores=_number(sections["cpu"], "usable"),
        root=sections.get("account", {}).get("uid") == "0",
    )


def _sections(text: str) -> dict[str, dict[str, str]]:
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("== "):
            current = sections.setdefault(line[3:].strip(), {})
        elif current is None:
            raise ParseError(_("A line before the first section."), file="facts.sh", line=number, text=line)
        elif line.strip():
            key, value = _pair(line)
            if value:
                current[key] = value
    return sections


def _pair(line: str) -> tuple[str, str]:
    """Split 'MemTotal:  16 kB' or 'release 6.1' into key and value; lscpu's keys hold spaces and end in a colon."""
    match = re.match(r"^\s*([^:]+):\s+(.*)$", line) if ":" in line.split("  ")[0] else None
    key, value = match.groups() if match else line.partition(" ")[::2]
    return key.strip(), " ".join(value.split())


def _hardware(sections: Mapping[str, Section], memory_bytes: int) -> dict[str, Any]:
    lscpu, cpu, meminfo = sections.get("lscpu", {}), sections["cpu"], sections["meminfo"]
    virtual = sections.get("virtualisation", {})
    detected = virtual.get("detected", "")
    hypervisor = lscpu.get("Hypervisor vendor", "yes" if virtual.get("hypervisor_flag") == "1" else "none")
    content = {
        "cpu": {
            "model": lscpu.get("Model name", "unknown"),
            "vendor": lscpu.get("Vendor ID"),
            "architecture": lscpu.get("Architecture"),
            "sockets": _optional(lscpu.get("Socket(s)")),
            "cores_per_socket": _optional(lscpu.get("Core(s) per socket")),
            "threads_per_core": _optional(lscpu.get("Thread(s) per core")),
            "online": _number(cpu, "online"),
            "usable": _number(cpu, "usable"),
            "governor": cpu.get("governor"),
            "frequency_driver": cpu.get("frequency_driver"),
            "maximum_khz": _optional(cpu.get("maximum_khz")),
            "no_turbo": cpu.get("no_turbo"),
            "boost": cpu.get("boost"),
            "smt": cpu.get("smt"),
            "limit": _limit(cpu.get("cgroup_cpu")),
        },
        "caches": {key.split()[0]: value for key, value in lscpu.items() if re.fullmatch(r"L\d[di]? cache", key)},
        "numa_nodes": _optional(lscpu.get("NUMA node(s)")),
        "memory": {
            "total_bytes": memory_bytes,
            "swap_bytes": _kilobytes(meminfo.get("SwapTotal", "0 kB")),
            "huge_pages": _optional(meminfo.get("HugePages_Total")),
            "huge_page_bytes": _kilobytes(meminfo.get("Hugepagesize", "0 kB")),
            "limit": _limit(cpu.get("cgroup_memory")),
        },
        "virtualisation": {
            "detected": detected or None,
            "hypervisor": hypervisor,
            "product": virtual.get("product"),
        },
    }
    return _without_none(content)


def _kernel(sections: Mapping[str, Section]) -> dict[str, Any]:
    kernel = dict(sections["kernel"])
    for name in ("transparent_hugepage", "transparent_hugepage_defrag"):
        if name in kernel:
            kernel[name] = _selected(kernel[name])
    return {**kernel, "sysctl": dict(sections.get("sysctl", {}))}


def _storage(storage: Section) -> dict[str, Any]:
    content: dict[str, Any] = {key: value for key, value in storage.items() if key != "free_bytes"}
    content["total_bytes"] = _number(storage, "total_bytes")
    content["in_memory"] = storage.get("filesystem") in _VIRTUAL_FILESYSTEMS
    if "scheduler" in content:
        content["scheduler"] = _selected(content["scheduler"])
    return content


def _selected(text: str) -> str:
    """Return the selected value of a kernel file: 'always [madvise] never' → 'madvise'."""
    match = re.search(r"\[(\S+)\]", text)
    return match[1] if match else text


def _limit(text: str | None) -> str | None:
    return None if text is None or text.split()[0] == "max" else text


def _kilobytes(text: str) -> int:
    match = re.fullmatch(r"(\d+) kB", text)
    if match is None:
        raise ParseError(_("Not a number of kB."), file="facts.sh", text=text)
    return int(match[1]) * 1024


def _number(section: Section, key: str) -> int:
    try:
        return int(section[key])
    except (KeyError, ValueError) as error:
        raise ParseError(_("{key} is not a number.", key=key), file="facts.sh", text=section.get(key, "")) from error


def _optional(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _without_none(content: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, dict) else value
        for key, value in content.items()
        if value is not None
    }
