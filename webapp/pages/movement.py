"""What the page of two cells says of them: the sentence on top, lines of its tables, what is missing. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.text import slugify

from results.domain.measurement.query_plans import PLANNED
from results.domain.statistics.movement import WAITS, Movement, Sentence, State, Value
from results.domain.units import format_quantity
from results.queries.comparison import Comparison, Point
from results.queries.why import Gap, PlanPair, Side, Why
from webapp.charts import why as charts
from webapp.charts.style import Figure
from webapp.charts.why import Look
from webapp.pages.common import trial_url

MOST_SAID = 7  # of one clause
MOST_OPEN = 2  # plans that differ and are shown at once
DRAWN_COSTS = ("wal", "blocks.hit", "blocks.read", "blocks.written", "disk.read", "disk.write", "temp")


@dataclass(frozen=True)
class Headline:
    """The comparison's own metric. cells: ratio of the cells' values, as in the comparison. ratio, low, high: the
    verdict's, of the geometric means."""

    base: str
    other: str
    cells: float | None
    ratio: float | None
    low: float | None
    high: float | None


def headline(found: Comparison, base: Point, other: Point) -> Headline:
    verdict, unit = other.verdict, found.metric.unit
    ratio, low, high = (verdict.ratio, verdict.low, verdict.high) if verdict else (None, None, None)
    return Headline(
        format_quantity(base.value, unit), format_quantity(other.value, unit), other.ratio, ratio, low, high
    )


@dataclass(frozen=True)
class Clause:
    """A part of the sentence on top: how it begins, (text, place of its row or ''), and how many more there are."""

    begins: str
    items: tuple[tuple[str, str], ...] = ()
    more: int = 0


_BEGINS = {
    "moved": "With it moved:",
    "same": "No change, within each one's margin:",
    "open": "Undecided, with how far chance reaches:",
    "none": "None in either:",
    "withheld": "Different, but not comparable:",
}


def clauses(said: Sentence) -> list[Clause]:
    """What is true of something only. Of what cannot be told apart from chance the change is said with its reach."""
    found = [
        Clause(begins, tuple((_said(one), _anchor(one)) for one in several[:MOST_SAID]), len(several[MOST_SAID:]))
        for state, begins in _BEGINS.items()
        if (several := getattr(said, state))
    ]
    if not said.moved and found:
        found.insert(0, Clause("Of what else was measured, nothing is known to have moved with it."))
    return found


def _said(one: Movement) -> str:
    state = one.state
    if state in (State.NONE, State.SAME):
        return one.said
    if one.ratio is None:
        return f"{one.said} {' → '.join(format_quantity(x, one.unit) for x in (one.base_median, one.other_median))}"
    reach = f" ({_reach(one.reach)})" if state is State.OPEN and one.reach is not None else ""
    return f"{one.said} {change(one.ratio)}{reach}"


def _reach(share: float) -> str:
    return f"±{100 * share:.2g} %" if share < 1 else "more than ±100 %"


def change(ratio: float) -> str:
    """1.079 → '+7.9 %', 0.5 → '−50.0 %', 2.4 → '×2.40'."""
    return f"×{ratio:,.2f}" if ratio >= 2 else f"{100 * (ratio - 1):+.1f} %".replace("-", "−")


def _anchor(one: Movement) -> str:
    if one.state is State.NONE:
        return ""
    return slugify(f"moved {one.name} {one.node} {one.label if one.name == WAITS else ''} {one.part}".replace(".", " "))


@dataclass(frozen=True)
class Row:
    """A line of a table. dots: every replicate's place between the smallest and the largest, in percent, and its trial,
    for both configurations."""

    movement: Movement
    anchor: str
    base: str
    other: str
    title: str
    dots: tuple[tuple[tuple[float, int], ...], ...]


def rows(found: Sequence[Movement]) -> list[Row]:
    """All but what is 0 in every trial of both."""
    return [_row(one) for one in found if one.state is not State.NONE]


def _row(one: Movement) -> Row:
    values = [value.value for value in (*one.base, *one.other)]
    low, high = min(values), max(values)

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 1) if high > low else 50.0

    def texts(side: Sequence[Value]) -> str:
        return ", ".join(format_quantity(value.value, one.unit) for value in side)

    return Row(
        one,
        _anchor(one),
        format_quantity(one.base_median, one.unit),
        format_quantity(one.other_median, one.unit),
        f"{texts(one.base)} against {texts(one.other)}",
        tuple(tuple((place(value.value), value.trial_id) for value in side) for side in (one.base, one.other)),
    )


@dataclass(frozen=True)
class Part:
    """One figure of the page, None where there is nothing to draw; what of it is missing, in words."""

    figure: Figure | None
    missing: tuple[str, ...]


def parts(looks: Sequence[Look], found: Sequence[Movement]) -> dict[str, Part]:
    """The figures by name."""
    drawn = [one for one in found if one.name in DRAWN_COSTS and one.state is not State.NONE]
    figures: tuple[tuple[str, Figure | None, Callable[[Side], bool], str, str], ...] = (
        ("time", charts.over_time(looks), _has_series, "the rate of each second", ""),
        ("density", charts.density(looks), _has_latencies, "the latency of every transaction", "latency_log"),
        ("cpu", charts.processors(looks), _has("cpu.busy"), "what the processors did", "sar"),
        ("waits", charts.waiting(looks), _has(WAITS), "what the sessions waited for", "pg_stat"),
        (
            "costs",
            charts.costs(drawn, looks, trial_url),
            _has("wal.bytes"),
            "how much WAL and how many blocks",
            "pg_stat",
        ),
    )
    return {name: Part(figure, missing(looks, has, what, collector)) for name, figure, has, what, collector in figures}


def time_note(looks: Sequence[Look]) -> str:
    thin = f"Thin: every replicate{_of_many(looks)}; thick: their median at each second."
    width = charts.width_s(looks)
    return thin if width == 1 else f"{thin} A point is the mean of {width} seconds."


def _of_many(looks: Sequence[Look]) -> str:
    many = any(len(look.side.attempts) > charts.MOST_REPLICATES for look in looks)
    return f", of many the first {charts.MOST_REPLICATES}" if many else ""


def density_note(looks: Sequence[Look]) -> str:
    counted = "; ".join(
        f"{look.name}: {counts.total:,} in {len(look.side.with_latencies)} of {len(look.side.attempts)} trials"
        for look in looks
        if (counts := look.side.latencies)
    )
    marked = ", ".join(f"{percent:g} %" for percent in charts.MARKED)
    return f"Share of transactions in each quarter of a doubling; marks: within which {marked} of them were. {counted}."


def _has(metric: str) -> Callable[[Side], bool]:
    return lambda side: side.has(metric)


def _has_series(side: Side) -> bool:
    return any(series for _, series in side.series)


def _has_latencies(side: Side) -> bool:
    return side.latencies is not None


def missing(looks: Sequence[Look], has: Callable[[Side], bool], what: str, collector: str) -> tuple[str, ...]:
    """For each configuration without it why, and what else its collector could not gather."""
    said: dict[str, list[str]] = {}
    for look in looks:
        gaps = look.side.gaps(collector) if collector else ()
        texts = map(_gap, gaps) if has(look.side) else [_why_not(look.side, gaps, what, collector)]
        for text in texts:
            said.setdefault(text, []).append(look.name)
    return tuple(f"{' and '.join(names)}: {text}" for text, names in said.items())


def _why_not(side: Side, gaps: Sequence[Gap], what: str, collector: str) -> str:
    if side.published:
        why = "a published figure has no files."
    elif gaps:
        why = " ".join(map(_gap, gaps))
    elif not collector:
        why = "the workload does not tell it."
    elif not side.watched_by(collector):
        why = f"the plan had no collector {collector}."
    else:
        why = f"the collector {collector} told nothing of it."
    return f"{what}: not known, {why}"


def _gap(gap: Gap) -> str:
    trials = ", ".join(map(str, gap.trials))
    where = f" on {gap.node}" if gap.node else ""
    return f"{gap.source}{where}, trial{'' if len(gap.trials) == 1 else 's'} {trials}: {gap.reason}."


@dataclass(frozen=True)
class Plan:
    """A query's plans. marks: lines that differ in what the planner chose. open: shown without being asked for."""

    of: PlanPair
    marks: int
    open: bool


def plans(pairs: Sequence[PlanPair], query: str = "") -> list[Plan]:
    """query: the one that the cells are of, whose plan comes first and is open; else the first that differ are."""
    found: list[Plan] = []
    own = {pair.label for pair in pairs} & {query}
    for pair in sorted(pairs, key=lambda pair: pair.label not in own):
        marks = sum(bool(one.differs & PLANNED) for one in pair.pairs)
        first = marks > 0 and sum(plan.open for plan in found) < MOST_OPEN
        found.append(Plan(pair, marks, pair.label in own if own else first))
    return found


def plans_missing(looks: Sequence[Look]) -> tuple[str, ...]:
    if not any(look.side.plans for look in looks):
        return ()  # most workloads keep no plans: nothing is missing
    return tuple(f"{look.name}: no plans were kept." for look in looks if not look.side.plans)


def flame(result: Why) -> str:
    """The address of both call stacks function by function, where both were sampled; of each one its first
    configuration."""
    if not (result.base.stacks and result.other.stacks):
        return ""
    a, b = (f"c{side.configurations[0]}" for side in (result.base, result.other))
    return f"{reverse('flame')}?{urlencode({'a': a, 'b': b})}"
