"""What the sentence says of everything that changed with a difference. Pure. Described in docs/method.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from results.domain.measurement.one_fact import MEDIAN_LATENCY
from results.domain.statistics.metric_changes import PRIMARY, MetricChange, State


@dataclass(frozen=True)
class Sentence:
    """What the sentence on top says, each in the order of the table.

    same_fact: the metric of the comparison in other words.
    unnamed: what moved besides, and is in the table only."""

    moved: tuple[MetricChange, ...]
    small: tuple[MetricChange, ...]
    same: tuple[MetricChange, ...]
    open: tuple[MetricChange, ...]
    none: tuple[MetricChange, ...]
    withheld: tuple[MetricChange, ...]
    same_fact: tuple[MetricChange, ...] = ()
    unnamed: int = 0


def sentence(changes: Sequence[MetricChange], metric: str = "") -> Sentence:
    """Only of the node where the work is done. Where there are several parts (disks) they are in the table only.

    metric: the one that the comparison is of."""
    main = _of_main_nodes([one for one in changes if one.said])
    fact = _in_other_words(changes, metric)
    told = {id(one) for one in (*main, *fact)}
    of_state = {state: tuple(one for one in main if one.state is state) for state in State}
    return Sentence(
        moved=of_state[State.MOVED],
        small=of_state[State.SMALL],
        same=of_state[State.SAME],
        open=of_state[State.OPEN],
        none=of_state[State.NONE],
        withheld=of_state[State.WITHHELD],
        same_fact=tuple(fact),
        unnamed=sum(one.moved and not one.same_fact_as and id(one) not in told for one in changes),
    )


def _in_other_words(changes: Sequence[MetricChange], metric: str) -> list[MetricChange]:
    """Return what says the same as the comparison's metric, and the median latency beside it."""
    same = [one for one in changes if metric and one.same_fact_as == metric]
    medians = [one for one in changes if same and one.name == MEDIAN_LATENCY and not one.part]
    return _of_main_nodes([*same, *medians])


def _of_main_nodes(changes: Sequence[MetricChange]) -> list[MetricChange]:
    nodes = {name: main_node(one.node for one in changes if one.name == name) for name in {one.name for one in changes}}
    return [one for one in changes if one.node == nodes[one.name]]


def main_node(nodes: Iterable[str]) -> str:
    """Of the nodes that have a number the one that matters most: the primary, else the whole, else a server."""
    return min(nodes, key=lambda node: (node != PRIMARY, node != "", node.startswith("client"), node))
