"""What the page of two cells says of them: the sentence on top, lines of its tables, what is missing. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.text import slugify

from results.domain.measurement.one_fact import LAW
from results.domain.measurement.query_plans import PLANNED
from results.domain.statistics.change_sentence import Sentence
from results.domain.statistics.metric_changes import WAITS, MetricChange, State, Value
from results.domain.statistics.quantities import PLAIN
from results.domain.units import format_quantity
from results.queries.comparison.compare import Comparison, Point
from results.queries.why.why import Gap, PlanPair, Side, Why
from webapp.charts import why as charts
from webapp.charts.style import Figure
from webapp.charts.why import Look
from webapp.links import trial_url

MOST_NAMED = 7  # of one clause
MOST_OPEN = 2  # plans that differ and are shown at once
COSTS = ("wal", "blocks.hit", "blocks.read", "blocks.written", "disk.read", "disk.write", "temp")


@dataclass(frozen=True)
class Headline:
    """The comparison's own metric.

    base, other: the cells' values.
    ratio, low, high: the verdict's, of the geometric means: no quotient of the values."""

    base: str
    other: str
    ratio: float | None
    low: float | None
    high: float | None


def headline(comparison: Comparison, base: Point, other: Point) -> Headline:
    verdict, unit = other.verdict, comparison.metric.unit
    return Headline(
        base=format_quantity(base.value, unit),
        other=format_quantity(other.value, unit),
        ratio=verdict.ratio if verdict else None,
        low=verdict.low if verdict else None,
        high=verdict.high if verdict else None,
    )


@dataclass(frozen=True)
class Clause:
    """A part of the sentence on top: how it begins, (text, anchor of its row or ''), how many more there are, and how
    it ends."""

    begins: str
    items: tuple[tuple[str, str], ...] = ()
    more: int = 0
    ends: str = ""


_BEGINS = {
    "moved": "Changed with it:",
    "small": "Changed, by less than the margin of each:",
    "same": "No change, within each one's margin:",
    "open": "Undecided, with how far chance reaches:",
    "none": "None in either:",
    "withheld": "Different, but not comparable:",
}
_NOTHING_MOVED = Clause("Of what else was measured, nothing is known to have changed with it.")


def clauses(sentence: Sentence) -> list[Clause]:
    """Those that something is true of. Of what cannot be told apart from chance the change is given with its reach."""
    filled = []
    for state, begins in _BEGINS.items():
        changes: Sequence[MetricChange] = getattr(sentence, state)
        more = len(changes[MOST_NAMED:]) + (sentence.unnamed if state == State.MOVED else 0)
        if changes or more:
            named = tuple((_text(change), _anchor(change)) for change in changes[:MOST_NAMED])
            filled.append(Clause(begins, named, more=more))
    if filled and not (sentence.moved or sentence.small or sentence.unnamed):
        filled.insert(0, _NOTHING_MOVED)
    return [*_same_fact(sentence.same_fact), *filled]


def _same_fact(changes: Sequence[MetricChange]) -> list[Clause]:
    """The comparison's own metric in other words."""
    items = tuple((f"{PLAIN[change.name]} {_medians(change)}", _anchor(change)) for change in changes)
    ends = f"Each client waits for its answer: {LAW}."
    return [Clause("The same in other words:", items, ends=ends)] if items else []


def _text(change: MetricChange) -> str:
    """The name of what was measured, and how it changed: 'WAL +7.9 %'."""
    if change.state in (State.NONE, State.SAME):
        return change.said
    if change.ratio is None:
        return f"{change.said} {_medians(change)}"
    text = f"{change.said} {percent_change(change.ratio)}"
    if change.state is State.SMALL:
        return f"{text} of {_margin(change)}"
    if change.state is State.OPEN and change.reach is not None:
        return f"{text} ({'; '.join(filter(None, (_reach(change.reach), note(change))))})"
    return text


def _medians(change: MetricChange) -> str:
    return " → ".join(format_quantity(median, change.unit) for median in (change.base_median, change.other_median))


def _margin(change: MetricChange) -> str:
    return f"{100 * change.verdict.margin:g} %"


def note(change: MetricChange) -> str:
    """What a reader needs beside a verdict that its interval seems to contradict; '' where it does not."""
    verdict = change.verdict
    if change.state is State.SMALL:
        return f"changed, by less than {_margin(change)}"
    if change.state is not State.OPEN or not verdict.excludes_one:
        return ""
    if verdict.adjusted is None:
        return "fewer than three replicates"
    return "not beyond chance among all configurations"


def _reach(share: float) -> str:
    return f"±{100 * share:.2g} %" if share < 1 else "more than ±100 %"


def percent_change(ratio: float) -> str:
    """1.079 → '+7.9 %', 0.5 → '−50.0 %', 2.4 → '×2.40'."""
    if ratio >= 2:
        return f"×{ratio:,.2f}"
    percent = 100 * (ratio - 1)
    digits = ".1f" if abs(percent) >= 0.1 or not percent else ".1g"
    return f"{percent:+{digits}} %".replace("-", "−")


def _anchor(change: MetricChange) -> str:
    """The id of its row in the table; '' where it has none."""
    if change.state is State.NONE:
        return ""
    label = change.label if change.name == WAITS else ""
    return slugify(f"moved {change.name} {change.node} {label} {change.part}".replace(".", " "))


@dataclass(frozen=True)
class MetricChangeRow:
    """A line of a table.

    dots: for both configurations, (position between the smallest and the largest in percent, trial) of every
        replicate.
    note: beside its verdict.
    same_fact_as: the metric from which it follows in words, instead of a verdict."""

    change: MetricChange
    anchor: str
    base: str
    other: str
    title: str
    dots: tuple[tuple[tuple[float, int], ...], ...]
    note: str
    same_fact_as: str


def rows(changes: Sequence[MetricChange]) -> list[MetricChangeRow]:
    """All but what is 0 in every trial of both."""
    return [_row(change) for change in changes if change.state is not State.NONE]


def _row(change: MetricChange) -> MetricChangeRow:
    values = [replicate.value for replicate in (*change.base, *change.other)]
    low, high = min(values), max(values)
    return MetricChangeRow(
        change=change,
        anchor=_anchor(change),
        base=format_quantity(change.base_median, change.unit),
        other=format_quantity(change.other_median, change.unit),
        title=f"{_values(change.base, change.unit)} against {_values(change.other, change.unit)}",
        dots=(_dots(change.base, low, high), _dots(change.other, low, high)),
        note=note(change),
        same_fact_as=PLAIN.get(change.same_fact_as, ""),
    )


def _values(replicates: Sequence[Value], unit: str) -> str:
    return ", ".join(format_quantity(replicate.value, unit) for replicate in replicates)


def _dots(replicates: Sequence[Value], low: float, high: float) -> tuple[tuple[float, int], ...]:
    return tuple((_position(replicate.value, low, high), replicate.trial_id) for replicate in replicates)


def _position(value: float, low: float, high: float) -> float:
    return round(100 * (value - low) / (high - low), 1) if high > low else 50.0


@dataclass(frozen=True)
class Part:
    """One figure of the page, None where there is nothing to draw; what of it is missing, in words."""

    figure: Figure | None
    missing: tuple[str, ...]


def parts(looks: Sequence[Look], changes: Sequence[MetricChange]) -> dict[str, Part]:
    """The figures by name."""
    costs = [change for change in changes if change.name in COSTS and change.state is not State.NONE]
    has_busy, has_waits, has_wal = _has("cpu.busy"), _has(WAITS), _has("wal.bytes")
    gaps = partial(missing, looks)
    return {
        "time": Part(charts.over_time(looks), gaps(_has_series, "the rate of each second", "")),
        "density": Part(charts.density(looks), gaps(_has_latencies, "the latency of every transaction", "latency_log")),
        "cpu": Part(charts.processors(looks), gaps(has_busy, "CPU usage", "sar")),
        "waits": Part(charts.waiting(looks), gaps(has_waits, "wait events of sessions", "pg_stat")),
        "costs": Part(
            charts.costs(costs, looks, trial_url), gaps(has_wal, "how much WAL and how many blocks", "pg_stat")
        ),
    }


def time_note(looks: Sequence[Look], *, closed_loop: bool) -> str:
    text = f"Thin: every replicate{_limit_note(looks)}; thick: their median at each second."
    if closed_loop and charts.has_both(looks):
        text = f"{text} Both lines show one fact, as each client waits for its answer: {LAW}."
    width_s = charts.width_s(looks)
    return text if width_s == 1 else f"{text} A point is the mean of {width_s} seconds."


def _limit_note(looks: Sequence[Look]) -> str:
    """Where not all replicates are in the figure."""
    exceeded = any(len(look.side.attempts) > charts.MOST_REPLICATES for look in looks)
    return f", of many the first {charts.MOST_REPLICATES}" if exceeded else ""


def density_note(looks: Sequence[Look]) -> str:
    counts = []
    for look in looks:
        side = look.side
        if side.latencies:
            trials = f"{len(side.with_latencies)} of {len(side.attempts)} trials"
            counts.append(f"{look.name}: {side.latencies.total:,} in {trials}")
    marks = ", ".join(f"{percent:g}\u00a0%" for percent in charts.MARKED)
    return (
        f"Share of transactions in each quarter of a doubling; marks: within which {marks} of them were. "
        f"{'; '.join(counts)}."
    )


def _has(metric: str) -> Callable[[Side], bool]:
    return lambda side: side.has(metric)


def _has_series(side: Side) -> bool:
    return any(series for _, series in side.series)


def _has_latencies(side: Side) -> bool:
    return side.latencies is not None


def missing(looks: Sequence[Look], has: Callable[[Side], bool], what: str, collector: str) -> tuple[str, ...]:
    """For each configuration without it why, and what else its collector could not gather."""
    names_by_text: dict[str, list[str]] = {}
    for look in looks:
        gaps = look.side.gaps(collector) if collector else ()
        texts = map(_gap, gaps) if has(look.side) else [_why_not(look.side, gaps, what, collector)]
        for text in texts:
            names_by_text.setdefault(text, []).append(look.name)
    return tuple(f"{' and '.join(names)}: {text}" for text, names in names_by_text.items())


def _why_not(side: Side, gaps: Sequence[Gap], what: str, collector: str) -> str:
    if side.published:
        why = "figures that were not measured here have no such files."
    elif gaps:
        why = " ".join(map(_gap, gaps))
    elif not collector:
        why = "the workload does not report it."
    elif not side.watched_by(collector):
        why = f"the plan had no collector {collector}."
    else:
        why = f"the collector {collector} recorded nothing of it."
    return f"{what}: not known, {why}"


def _gap(gap: Gap) -> str:
    trials = ", ".join(map(str, gap.trials))
    where = f" on {gap.node}" if gap.node else ""
    return f"{gap.source}{where}, trial{'' if len(gap.trials) == 1 else 's'} {trials}: {gap.reason}."


@dataclass(frozen=True)
class Plan:
    """A query's plans.

    marks: lines that differ in what the planner chose.
    open: shown without a click."""

    of: PlanPair
    marks: int
    open: bool


def plans(pairs: Sequence[PlanPair], query: str = "") -> list[Plan]:
    """Return the query plans of both cells, pair by pair.

    query: the one that the cells are of, whose plans come first and are open; without it the first that differ are
        open."""
    has_query = any(pair.label == query for pair in pairs)
    shown: list[Plan] = []
    opened = 0
    for pair in sorted(pairs, key=lambda pair: pair.label != query):
        marks = sum(bool(line.differs & PLANNED) for line in pair.pairs)
        is_open = pair.label == query if has_query else marks > 0 and opened < MOST_OPEN
        opened += is_open
        shown.append(Plan(pair, marks, is_open))
    return shown


def plans_missing(looks: Sequence[Look]) -> tuple[str, ...]:
    if not any(look.side.plans for look in looks):
        return ()  # most workloads keep no plans: nothing is missing
    return tuple(f"{look.name}: no plans were kept." for look in looks if not look.side.plans)


def flame(result: Why) -> str:
    """The address of both call stacks function by function, where both were sampled; of each one its first
    configuration."""
    if not (result.base.stacks and result.other.stacks):
        return ""
    fields = {"a": f"c{result.base.configurations[0]}", "b": f"c{result.other.configurations[0]}"}
    return f"{reverse('flame')}?{urlencode(fields)}"
