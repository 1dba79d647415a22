"""What moved with a difference: what a piece of work costs in two configurations, and what is known of it. Pure.
Described in docs/method.md."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial
from statistics import median

import numpy as np

from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.one_fact import MEDIAN_LATENCY, THROUGHPUT, same_fact
from results.domain.messages import Message, pgettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.quantities import BY_NODE, PLAIN, QUANTITIES, WORKS, By, Quantity, Work
from results.domain.statistics.verdict import Kind, Verdict

PRIMARY = "primary"
WAITS = "waits"
Part = tuple[str, str]  # node and label, '' for the whole
LEAST_SHARE = 1.0  # percent of the sessions' time: kinds of waits below it that did not move are left out


class State(StrEnum):
    """moved: better, worse, higher or lower. small: it moved, by less than the margin. same: within the margin, where
    it may not have moved at all. open: neither can be said. none: zero in every trial of both. withheld: they are not
    comparable."""

    MOVED = "moved"
    SMALL = "small"
    SAME = "same"
    OPEN = "open"
    NONE = "none"
    WITHHELD = "withheld"


@dataclass(frozen=True, eq=False)
class MeasuredTrial:
    """All that one trial measured.

    key: its run and block.
    seconds: of the measured window.
    processors: how many are online, by node.
    values: (metric, node, label) → value."""

    trial_id: int
    key: tuple[int, int]
    seconds: float | None
    processors: Mapping[str, int]
    values: Mapping[tuple[str, str, str], float]

    @cached_property
    def pieces(self) -> Mapping[str, Mapping[str, float]]:
        """How many pieces of each kind of work there were, by node."""
        return {work.metric: self._counted(work.metric) for work in WORKS if work.metric}

    def _counted(self, metric: str) -> dict[str, float]:
        return {node: value for (name, node, label), value in self.values.items() if name == metric and not label}

    @cached_property
    def wait_shares(self) -> Mapping[tuple[str, str], float]:
        """Percent of the sampled sessions of each node that were at a wait of each kind ('Lock' of 'Lock:
        transactionid'); none of a node without any sample."""
        sessions: defaultdict[tuple[str, str], float] = defaultdict(float)
        whole: defaultdict[str, float] = defaultdict(float)
        for (metric, node, label), value in self.values.items():
            if metric == WAITS:
                sessions[node, kind_of_wait(label)] += value
                whole[node] += value
        return {(node, kind): 100 * value / whole[node] for (node, kind), value in sessions.items() if whole[node]}


@dataclass(frozen=True)
class Value:
    trial_id: int
    value: float


@dataclass(frozen=True)
class MetricChange:
    """One quantity in both configurations.

    node, part: where and which of several, '' for the whole.
    base, other: every replicate's value, in `unit`.
    formula: in words of metrics, where it is not measured itself.
    said: its name in the sentence, '' where it is not in it.
    same_fact_as: the metric from which it follows, so that it is no finding of its own; '' for none."""

    name: str
    label: str
    node: str
    part: str
    unit: str
    formula: str
    said: str
    base: tuple[Value, ...]
    other: tuple[Value, ...]
    verdict: Verdict
    same_fact_as: str = ""

    @property
    def base_median(self) -> float:
        return median(value.value for value in self.base)

    @property
    def other_median(self) -> float:
        return median(value.value for value in self.other)

    @property
    def ratio(self) -> float | None:
        """The verdict's."""
        return self.verdict.ratio

    @property
    def reach(self) -> float | None:
        """Half the width of the verdict's interval, as a share: by what factor, above 1, its ends lie from its
        middle."""
        if self.verdict.low is None or self.verdict.high is None:
            return None
        return float(np.sqrt(self.verdict.high / self.verdict.low) - 1)

    @property
    def state(self) -> State:
        if not any(value.value for value in (*self.base, *self.other)):
            return State.NONE
        if self.verdict.kind in (Kind.SAME, Kind.TOO_FEW) and self.verdict.rules_out_chance:
            return State.SMALL
        named = {Kind.SAME: State.SAME, Kind.TOO_FEW: State.OPEN, Kind.NOT_COMPARABLE: State.WITHHELD}
        return named.get(self.verdict.kind, State.MOVED)

    @property
    def moved(self) -> bool:
        return self.state in (State.MOVED, State.SMALL)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredQuantity:
    """A quantity in every trial of the runs compared: what it is in two configurations is judged among all of them.

    family: its name among all that are judged so.
    whole: what a part without a label is called where others have one.
    client_overhead: of the metric that it is made of.
    values: by node and label."""

    family: str
    name: str
    label: str
    unit: str
    formula: str = ""
    said: str = ""
    better: Better
    minimum_effect: float
    whole: str = ""
    client_overhead: bool = False
    values: Mapping[Part, Mapping[MeasuredTrial, float]]


@dataclass(frozen=True)
class Answer:
    """What is known of one part of a quantity: every replicate's value in both configurations, and the verdict."""

    base: tuple[Value, ...]
    other: tuple[Value, ...]
    verdict: Verdict


Judge = Callable[[MeasuredQuantity], Mapping[Part, Answer]]


@dataclass(frozen=True, eq=False)
class Trials:
    """The trials of two configurations, and of all that are judged with them.

    every: those of the two among them.
    metrics: by name, of all that is measured.
    closed_loop: all clients of the two configurations waited for one answer after the other."""

    base: Sequence[MeasuredTrial]
    other: Sequence[MeasuredTrial]
    every: Sequence[MeasuredTrial]
    metrics: Mapping[str, Metric]
    closed_loop: bool = False

    @cached_property
    def stored(self) -> Mapping[str, MeasuredQuantity]:
        """Every metric as it was measured, by name."""
        of_parts: defaultdict[tuple[str, str, str], dict[MeasuredTrial, float]] = defaultdict(dict)
        for one in self.every:
            for part, value in one.values.items():
                of_parts[part][one] = value
        values: dict[str, dict[Part, dict[MeasuredTrial, float]]] = {}
        for (metric, node, label), of_part in of_parts.items():
            values.setdefault(metric, {})[node, label] = of_part
        return {name: _as_measured(self.metrics[name], of_metric) for name, of_metric in sorted(values.items())}

    def shown(self, quantity: MeasuredQuantity) -> list[Part]:
        """Return the parts that both configurations have, sorted."""
        return sorted(part for part, values in quantity.values.items() if all(self._known(values)))

    def _known(self, values: Mapping[MeasuredTrial, float]) -> Iterator[bool]:
        return (any(one in values for one in side) for side in (self.base, self.other))


def metric_changes(trials: Trials, judge: Judge, *, apart: str = "") -> tuple[MetricChange, ...]:
    """Return what a piece of work costs and how long it takes: latencies, costs, kinds of waits. What moved comes
    first, the greatest change before the others.

    judge: gives the verdict on each part of a quantity, among all trials.
    apart: the metric that the comparison is of, shown there."""
    plain = [replace(trials.stored[name], said=said) for name, said in PLAIN.items() if name in trials.stored]
    whole = [one for one in plain if one.name != apart]
    changes = [*_changes(trials, judge, whole, labels=False), *_changes(trials, judge, _costs(trials))]
    changes += [change for change in _changes(trials, judge, _waits(trials)) if _often(change)]
    parts = Counter((change.name, change.node) for change in changes if change.part)
    named = [replace(change, said="") if parts[change.name, change.node] > 1 else change for change in changes]
    return tuple(sorted(_facts_once(named, trials, apart), key=_moved_first))


def rest(trials: Trials, judge: Judge, *, apart: str = "") -> tuple[MetricChange, ...]:
    """Return every measured number that both configurations have and that is not 0 throughout, the greatest change
    that is known first."""
    changes = _facts_once(_changes(trials, judge, trials.stored.values()), trials, apart)
    return tuple(sorted((change for change in changes if change.state is not State.NONE), key=_greatest_first))


def _facts_once(changes: Iterable[MetricChange], trials: Trials, apart: str) -> Iterator[MetricChange]:
    """Give the changes; in a closed loop throughput and mean latency are one, and the median latency, which mostly goes
    with them, is not told as another. The fact is the metric that the comparison is of, else throughput.

    apart: the metric that the comparison is of."""
    fact = apart if same_fact(apart) else THROUGHPUT
    for change in changes:
        if trials.closed_loop and not change.part and change.name in (same_fact(fact), MEDIAN_LATENCY):
            follows = fact if change.name == same_fact(fact) else ""
            change = replace(change, same_fact_as=follows, said="")
        yield change


def _changes(
    trials: Trials, judge: Judge, quantities: Iterable[MeasuredQuantity], *, labels: bool = True
) -> Iterator[MetricChange]:
    for quantity in quantities:
        parts = [part for part in trials.shown(quantity) if labels or not part[1]]
        answers = judge(quantity) if parts else {}
        for part in parts:
            if part in answers:
                yield _change(quantity, part, answers[part])


def _change(quantity: MeasuredQuantity, part: Part, answer: Answer) -> MetricChange:
    return MetricChange(
        name=quantity.name,
        label=quantity.label,
        node=part[0],
        part=part[1],
        unit=quantity.unit,
        formula=quantity.formula,
        said=quantity.said,
        base=answer.base,
        other=answer.other,
        verdict=answer.verdict,
    )


def work_of(replicates: Sequence[MeasuredTrial]) -> Work:
    """The first kind of work that every replicate counts."""
    return next(work for work in WORKS if replicates and all(_pieces(one, work) for one in replicates))


def _as_measured(metric: Metric, values: Mapping[Part, Mapping[MeasuredTrial, float]]) -> MeasuredQuantity:
    return MeasuredQuantity(
        family=metric.name,
        name=metric.name,
        label=metric.label,
        unit=metric.unit,
        better=metric.better,
        minimum_effect=metric.minimum_effect,
        whole=metric.whole,
        client_overhead=metric.client_overhead,
        values=values,
    )


def _costs(trials: Trials) -> Iterator[MeasuredQuantity]:
    """Give each cost in every trial. Where the two configurations had servers that each did a part of the work, a
    node's cost is what was told apart when the trial was read, which is a metric; where they had none, it is that of
    all trials without any."""
    work = work_of([*trials.base, *trials.other])
    by_servers = {_by_servers(one, work) for one in (*trials.base, *trials.other)}
    for quantity in QUANTITIES:
        metric = trials.stored.get(quantity.metric)
        told_apart = trials.stored.get(BY_NODE.get(quantity.metric, ""))
        named = partial(_cost_in_words, quantity=quantity, work=work)
        if by_servers == {True} and told_apart:
            yield named(told_apart)
        elif metric:
            yield named(_cost_of(metric, quantity, work, mixed=len(by_servers) > 1))


def _cost_in_words(measured: MeasuredQuantity, quantity: Quantity, work: Work) -> MeasuredQuantity:
    return replace(
        measured,
        name=quantity.name,
        label=Message(quantity.label, values={"work": work.noun}),
        unit=quantity.unit,
        formula=quantity.formula(work),
        said=Message(quantity.said, values={"work": work.noun}),
    )


def _cost_of(metric: MeasuredQuantity, quantity: Quantity, work: Work, mixed: bool) -> MeasuredQuantity:
    """Return the cost of a piece of work in every trial. A total, which a comparison can show per transaction, is
    better, and differs, as its metric does.

    mixed: of trials whose servers did a part of the work each, what was told apart stands beside the others."""
    total = quantity.by is By.TOTAL
    values = {}
    for (node, label), of_part in metric.values.items():
        cost = partial(_cost, quantity=quantity, work=work, node=node, label=label, mixed=mixed)
        if total or not label or quantity.by is By.RATE:
            values[node, label] = _known({one: cost(one, value) for one, value in of_part.items()})
    return replace(
        metric,
        family=f"{quantity.name} per {work.noun}, mixed" if mixed else f"{quantity.name} per {work.noun}",
        better=metric.better if total else quantity.better,
        minimum_effect=metric.minimum_effect if total else quantity.minimum_effect,
        values=values,
    )


def _cost(
    one: MeasuredTrial, value: float, quantity: Quantity, work: Work, node: str, label: str, mixed: bool
) -> float | None:
    pieces = _pieces(one, work)
    if node and _by_servers(one, work):
        return one.values.get((BY_NODE.get(quantity.metric, ""), node, label)) if mixed else None
    if not pieces:
        return None
    if quantity.by is By.TOTAL:
        return value / pieces
    if not one.seconds:
        return None
    if quantity.by is By.RATE:
        return value * one.seconds / pieces
    processors = one.processors.get(node)
    return value / 100 * processors * one.seconds * 1e6 / pieces if processors else None


def _known(values: Mapping[MeasuredTrial, float | None]) -> dict[MeasuredTrial, float]:
    return {one: value for one, value in values.items() if value is not None}


def _waits(trials: Trials) -> Iterator[MeasuredQuantity]:
    """Give the share of the sessions' time of each kind of wait that the two configurations had ('Lock' of 'Lock:
    transactionid'), each of them by itself."""
    kinds = {kind for one in (*trials.base, *trials.other) for _, kind in one.wait_shares}
    for kind in sorted(kinds):
        values: dict[Part, dict[MeasuredTrial, float]] = {}
        for one in trials.every:
            for node in {node for node, _kind in one.wait_shares}:
                values.setdefault((node, ""), {})[one] = one.wait_shares.get((node, kind), 0.0)
        yield MeasuredQuantity(
            family=f"{WAITS} of {kind}",
            name=WAITS,
            label=_("Sessions' time: {doing}", doing=_IN_WORDS.get(kind, kind)),
            unit="%",
            formula=_("waits of {kind} / all waits × 100", kind=kind),
            said=_("time of sessions {doing}", doing=_IN_WORDS.get(kind) or _("waiting: {kind}", kind=kind)),
            better=Better.NEITHER,
            minimum_effect=0.1,
            values=values,
        )


def _often(change: MetricChange) -> bool:
    return change.moved or max(change.base_median, change.other_median) >= LEAST_SHARE


_IN_WORDS = {
    "CPU": pgettext_lazy("what sessions do", "running"),
    "Lock": _("waiting for locks"),
    "LWLock": _("waiting for lightweight locks"),
    "IO": _("waiting for I/O"),
    "Client": _("waiting for the client"),
    "IPC": _("waiting for another process"),
    "Timeout": _("waiting for a timeout"),
    "BufferPin": _("waiting for a buffer pin"),
    "Activity": _("idle in their main loop"),
    "Extension": _("in an extension"),
}


def kind_of_wait(label: str) -> str:
    """'Lock: transactionid' → 'Lock'."""
    return label.partition(":")[0]


def _pieces(one: MeasuredTrial, work: Work) -> float:
    """Those of the whole trial, whose parts may be there by the node that they were done at."""
    if not work.metric:
        return 1.0
    counts = one.pieces[work.metric]
    return counts[""] if "" in counts else sum(counts.values())


def _by_servers(one: MeasuredTrial, work: Work) -> bool:
    """Return whether a server is counted that had other work than the trial's, a part of it or reads beside it, so that
    no node's costs are of all of it. Sets of clients, which are counted by their own names, are no servers."""
    counts = one.pieces.get(work.metric, {})
    parts = [count for node, count in counts.items() if node and not node.startswith(("client", "set"))]
    return "" in counts and any(count != counts[""] for count in parts)


def _greatest_first(one: MetricChange) -> tuple[bool, float]:
    return not one.moved, -_size(one)


def _moved_first(one: MetricChange) -> tuple[bool, float]:
    return not one.moved, -_size(one) if one.moved else 0.0


def _size(one: MetricChange) -> float:
    """What comes from nothing, or goes to nothing, changed most."""
    medians = (one.base_median, one.other_median)
    if any(medians) and not all(medians):
        return float("inf")
    return abs(float(np.log(one.ratio))) if one.ratio and one.ratio > 0 else 0.0
