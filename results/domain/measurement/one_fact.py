"""Metrics that say one thing in two ways, so that neither explains the other. Pure.

Clients in a closed loop send their next transaction when the last one is answered. Then so many clients are waiting at
any time: clients = throughput × mean latency (Little, 1961). Either number follows from the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from results.domain.messages import gettext_lazy as _

THROUGHPUT, MEAN_LATENCY = "tps", "latency.mean"
MEDIAN_LATENCY = "latency.p50"
LAW = _("clients = transactions per second × mean latency")
_OPENING = ("rate", "connect")  # parameters: transactions that begin by a schedule, or wait for their connection first


def is_closed_loop(parameters: Mapping[str, Any]) -> bool:
    """Return whether every client waits for one answer after the other.

    parameters: of the workload; those that are not there are at their defaults."""
    return not any(parameters.get(name) for name in _OPENING)


def same_fact(metric: str) -> str:
    """Return the metric that follows from this one where clients are in a closed loop; '' for none."""
    return {THROUGHPUT: MEAN_LATENCY, MEAN_LATENCY: THROUGHPUT}.get(metric, "")
