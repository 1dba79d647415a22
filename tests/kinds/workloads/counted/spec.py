"""What the workload declares. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import Longest, WorkloadSpec
from results.domain.measurement.metrics import Better, Metric


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    return 50 * int(parameters["rows"])


def until_done(parameters: Mapping[str, Scalar], duration_s: float) -> None:
    """It counts so many times, however long that takes."""


def longest(parameters: Mapping[str, Scalar], duration_s: float) -> Longest:
    return Longest(measure_s=10.0 * int(parameters["times"]))


SPEC = WorkloadSpec(
    name="counted",
    title="Counted rows",
    help="Counts the rows of one table, several times.",
    parameters=(
        Parameter("rows", Kind.INTEGER, 1000, "Rows of the table.", minimum=1, maximum=1_000_000, loads=True),
        Parameter("times", Kind.INTEGER, 5, "How many times they are counted.", minimum=1, maximum=1000),
    ),
    metrics=(Metric("count.seconds", "s", Better.LOWER, "Count", "Mean of all.", 0.05),),
    disk_bytes=disk_bytes,
    headline="count.seconds",
    measured_s=until_done,
    longest=longest,
)
