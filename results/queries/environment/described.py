"""What trials ran in, as a paper's table of the environment has it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from results.domain.environment.difference import Environment
from results.domain.environment.layers import LayerKind
from results.domain.messages import Message, ngettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity

_Content = Mapping[str, Any]
SERVER = "primary"


@dataclass(frozen=True)
class Described:
    """What some trials ran in. Of each the different ones, in words; empty where it is not recorded.

    rows: what is described → its values.
    all_settings: whether the settings of every trial are recorded.
    settings: name → its values, of what differs from the build's defaults; '' where a trial has the default; empty
        where the settings of no trial are recorded."""

    rows: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, tuple[str, ...]]
    all_settings: bool

    @property
    def recorded(self) -> bool:
        return any(self.rows.values())


def describe(environments: Iterable[Environment]) -> Described:
    """Describe what trials ran in together, by the machine and the server that has the data."""
    every = list(environments)
    rows = {name: _different(words(environment) for environment in every) for name, words in _ROWS.items()}
    contents = [environment.get((SERVER, LayerKind.SETTINGS)) for environment in every]
    recorded = [content for content in contents if content is not None]
    names = sorted({name for content in recorded for name in content})
    settings = {name: _all_different(str(content.get(name, "")) for content in recorded) for name in names}
    return Described(rows, settings, len(recorded) == len(every) > 0)


def _different(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, texts)))


def _all_different(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _content(environment: Environment, kind: LayerKind, node: str = SERVER) -> _Content:
    return environment.get((node, kind), {})


def _processor(environment: Environment) -> str:
    hardware = _content(environment, LayerKind.HARDWARE)
    usable = hardware.get("cpu.usable") or hardware.get("cpu.online") or hardware.get("cpu.cores")
    model = str(hardware.get("cpu.model") or "")
    if not usable:
        return model
    count = ngettext_lazy("{number:,} processor", "{number:,} processors", usable)
    return Message("{model}, {count}", values={"model": model, "count": count}) if model else count


def _memory(environment: Environment) -> str:
    hardware = _content(environment, LayerKind.HARDWARE)
    size = hardware.get("memory.total_bytes") or hardware.get("memory_bytes")
    return format_quantity(size, "B") if size else ""


def _virtualisation(environment: Environment) -> str:
    hardware = _content(environment, LayerKind.HARDWARE)
    return str(hardware.get("virtualisation.detected") or "")


def _system(environment: Environment) -> str:
    kernel = _content(environment, LayerKind.KERNEL)
    release = f"Linux {kernel['release']}" if kernel.get("release") else ""
    return ", ".join(filter(None, (kernel.get("distribution", ""), release)))


def _storage(environment: Environment) -> str:
    storage = _content(environment, LayerKind.STORAGE)
    return ", ".join(str(storage[key]) for key in ("filesystem", "options", "scheduler") if storage.get(key))


def _version(environment: Environment) -> str:
    return str(_content(environment, LayerKind.BUILD).get("version", ""))


def _configure(environment: Environment) -> str:
    options = _content(environment, LayerKind.BUILD).get("configure")
    return " ".join(options) if isinstance(options, list | tuple) else ""


def _initdb(environment: Environment) -> str:
    options = _content(environment, LayerKind.BUILD).get("initdb")
    return " ".join(options) if isinstance(options, list | tuple) else ""


def _access_method(environment: Environment) -> str:
    return str(_content(environment, LayerKind.ACCESS_METHOD).get("access_method", ""))


def _topology(environment: Environment) -> str:
    return str(_content(environment, LayerKind.TOPOLOGY).get("name", ""))


def _client(environment: Environment) -> str:
    version = _content(environment, LayerKind.CLIENT, "client").get("version")
    return f"PostgreSQL {version}" if version else ""


_ROWS: Mapping[str, Callable[[Environment], str]] = {
    _("processor"): _processor,
    _("memory"): _memory,
    _("virtualisation"): _virtualisation,
    _("system"): _system,
    _("file system"): _storage,
    "PostgreSQL": _version,
    "configure": _configure,
    "initdb": _initdb,
    _("access method"): _access_method,
    _("topology"): _topology,
    _("client programs"): _client,
}
