"""Which metrics there are, as the warehouse explains them."""

from __future__ import annotations

from dataclasses import dataclass

from results import sql
from results.queries.shared.words import as_messages


@dataclass(frozen=True)
class MetricRow:
    """What a metric's name means; see `measurement.metrics.Metric`."""

    name: str
    unit: str
    better: str
    label: str
    help: str = ""
    minimum_effect: float = 0.02
    parts: str = ""
    whole: str = ""
    client_overhead: bool = False
    label_noun: str = ""

    def __post_init__(self) -> None:
        as_messages(self, "label", "help", "whole", "label_noun")


def unknown(name: str) -> MetricRow:
    """Stands for a metric of which no value is stored yet."""
    return MetricRow(name, "tps" if name == "tps" else "1", "neither", name)


def list_metrics() -> list[MetricRow]:
    """Every metric that has ever been measured in a run that is there for the viewer, by name. One query."""
    return sql.rows(MetricRow, sql.load(__file__))


def metric_names() -> list[str]:
    """The names of `list_metrics`. One query."""
    return [metric.name for metric in list_metrics()]
