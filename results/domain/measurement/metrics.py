"""Metric: a named quantity with unit and better direction. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Better(StrEnum):
    """Which direction is an improvement."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


@dataclass(frozen=True)
class Metric:
    """A named quantity.

    name: dotted, stable, as in the API (`latency.p99`).
    unit: a base unit of `results.domain.units`.
    label: for headings.
    help: one sentence with the source of the number.
    minimum_effect: the smallest relative change worth a verdict (0.02 = 2 %).
    parts: the metric whose labels are the queries, steps or operations that this one is made of, which are read side by
        side: itself or another; '' where there are none.
    whole: what the value without a label is called beside those with one ('total' where it is their sum).
    client_overhead: pgbench's own work is part of the value, because it times or counts it in its loop or runs on the
        machine that is asked: another pgbench version may change it where the server does not.
    label_noun: what each of its labels is, for titles ('query', 'step', 'table'); '' where it has none.
    signed: whether it may be negative; a bundle in which another metric is negative is refused."""

    name: str
    unit: str
    better: Better
    label: str
    help: str = ""
    minimum_effect: float = 0.02
    parts: str = ""
    whole: str = ""
    client_overhead: bool = False
    label_noun: str = ""
    signed: bool = False


TOTAL = "total"


def percentile_name(percent: float) -> str:
    """99.9 → 'latency.p99.9'."""
    return f"latency.p{percent:g}"
