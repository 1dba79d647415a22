"""Metrics are offered in the order of what people ask for, and found by what they call them."""

from __future__ import annotations

import pytest

from webapp.metric_names import group, position, search_words
from workers.registry import known_metrics


def found(typed: str) -> list[str]:
    """Return the names of the metrics that typing leaves, in their order."""
    fitting = {
        metric.name for metric in known_metrics() if all(w in search_words(metric) for w in typed.lower().split())
    }
    return sorted(fitting, key=position)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("p99", "latency.p99"),
        ("99th", "latency.p99"),
        ("tps", "tps"),
        ("throughput", "tps"),
        ("average latency", "latency.mean"),
        ("median", "latency.p50"),
        ("context", "context_switches"),
        ("cpu", "cpu.busy"),
        ("wal", "wal.bytes"),
        ("disk", "disk.read"),
        ("hit ratio", "buffers.hit_ratio"),
        ("wait events", "waits"),
    ],
)
def test_what_is_typed_finds_what_is_meant_first(typed: str, first: str) -> None:
    assert found(typed)[0] == first


def test_throughput_and_latency_come_before_processor_log_and_disks() -> None:
    names = ["wal.bytes", "cpu.busy", "latency.p99.9", "disk.read", "latency.mean", "other", "latency.p95", "tps"]
    assert sorted(names, key=position) == [
        "tps",
        "latency.mean",
        "latency.p95",
        "latency.p99.9",
        "cpu.busy",
        "wal.bytes",
        "disk.read",
        "other",
    ]
    assert [group(name) for name in ("tps", "cpu.user", "other")] == ["throughput", "processor", "other"]
