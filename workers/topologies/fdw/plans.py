"""The foreign scans of a query plan. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def scans(plan: Any) -> tuple[int, int]:
    """Count (foreign scans, those of them that run asynchronously) in the answer of EXPLAIN (FORMAT JSON)."""
    foreign_scans = [node for node in _nodes(plan[0]["Plan"]) if node["Node Type"] == "Foreign Scan"]
    return len(foreign_scans), sum(node.get("Async Capable", False) for node in foreign_scans)


def _nodes(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)
