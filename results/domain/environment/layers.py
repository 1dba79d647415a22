"""Layers of the environment: canonical form, hash, difference. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any


class LayerKind(StrEnum):
    """settings: what differs from the build's defaults; defaults: what the build's defaults are; host: what the plan
    had set on the machine."""

    HARDWARE = "hardware"
    KERNEL = "kernel"
    BUILD = "build"
    SETTINGS = "settings"
    DEFAULTS = "defaults"
    ACCESS_METHOD = "access_method"
    TOPOLOGY = "topology"
    STORAGE = "storage"
    HOST = "host"
    CLIENT = "client"
    DATA = "data"
    TOOL = "tool"


@dataclass(frozen=True)
class Layer:
    """One part of what a trial ran in. `content` is JSON-ready; equal contents have equal hashes."""

    kind: LayerKind
    content: Mapping[str, Any]

    @property
    def canonical(self) -> str:
        return json.dumps(
            {"kind": self.kind, "content": self.content},
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
        )

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical form, hex."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()


def environment_hash(uses: Iterable[tuple[str, str]]) -> str:
    """One hash of everything that a trial ran in: (role, hash of a layer), in any order. SHA-256, hex."""
    lines = sorted({f"{node} {layer}" for node, layer in uses})
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True)
class KeyDifference:
    """One key that differs; None where a side lacks it. Keys are dotted paths."""

    key: str
    left: Any
    right: Any


def flatten(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """{'a': {'b': 1}} → {'a.b': 1}. Lists stay values."""
    flat: dict[str, Any] = {}
    for key, value in content.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            flat.update(flatten(value, f"{path}."))
        else:
            flat[path] = value
    return flat


def difference(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[KeyDifference]:
    """Every key whose value differs, sorted by key."""
    a, b = flatten(left), flatten(right)
    return [
        KeyDifference(key, a.get(key), b.get(key)) for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)
    ]
