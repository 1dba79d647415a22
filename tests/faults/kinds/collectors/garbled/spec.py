"""What the garbled collector declares. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Metric

SPEC = CollectorSpec(
    name="garbled",
    title="Garbled",
    help="Records what no parser can read, as a program does whose disk or memory is broken.",
    on="client",
    metrics=(Metric("garbled.count", "", "lower", "Count", "What its file says."),),
)
