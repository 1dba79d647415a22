"""What a plan reads from other servers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def scans(plan: Any) -> tuple[int, int]:
    """(foreign scans, those of them that run at once) of EXPLAIN (FORMAT JSON)."""
    found = [node for node in _nodes(plan[0]["Plan"]) if node["Node Type"] == "Foreign Scan"]
    return len(found), sum(node.get("Async Capable", False) for node in found)


def _nodes(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from _nodes(below)
