"""What the page of two cells says of them: the sentence on top, lines of its tables, what is missing. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext, ngettext

from results.domain.measurement.one_fact import LAW
from results.domain.measurement.query_plans import PLANNED
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.statistics.change_sentence import Sentence
from results.domain.statistics.metric_changes import WAITS, MetricChange, State, Value
from results.domain.statistics.quantities import PLAIN
from results.domain.units import format_quantity
from results.queries.comparison.compare import Comparison, Point
from results.queries.why.why import Gap, PlanPair, Side, Why
from webapp.charts import why as charts
from webapp.charts.style import Figure
from webapp.charts.why import Look
from webapp.language import joined
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
    "moved": _("Changed with it:"),
    "small": _("Changed, by less than the margin of each:"),
    "same": _("No change, within each one's margin:"),
    "open": _("Undecided, with how far chance reaches:"),
    "none": _("None in either:"),
    "withheld": _("Different, but not comparable:"),
}
_NOTHING_MOVED = Clause(_("Of what else was measured, nothing is known to have changed with it."))


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
    items = tuple((f"{localized(PLAIN[change.name])} {_medians(change)}", _anchor(change)) for change in changes)
    ends = gettext("Each client waits for its answer: {law}.").format(law=localized(LAW))
    return [Clause(gettext("The same in other words:"), items, ends=ends)] if items else []


def _text(change: MetricChange) -> str:
    """The name of what was measured, and how it changed: 'WAL +7.9 %'."""
    name = localized(change.said)
    if change.state in (State.NONE, State.SAME):
        return name
    if change.ratio is None:
        return f"{name} {_medians(change)}"
    text = f"{name} {percent_change(change.ratio)}"
    if change.state is State.SMALL:
        return gettext("{change} of {margin}").format(change=text, margin=_margin(change))
    if change.state is State.OPEN and change.reach is not None:
        return _with_reach(text, _reach(change.reach), note(change))
    return text


def _with_reach(change: str, reach: str, noted: str) -> str:
    if noted:
        return gettext("{change} ({reach}; {note})").format(change=change, reach=reach, note=noted)
    return gettext("{change} ({reach})").format(change=change, reach=reach)


def _medians(change: MetricChange) -> str:
    return " → ".join(format_quantity(median, change.unit) for median in (change.base_median, change.other_median))


def _margin(change: MetricChange) -> str:
    return f"{100 * change.verdict.margin:g} %"


def note(change: MetricChange) -> str:
    """What a reader needs beside a verdict that its interval seems to contradict; '' where it does not."""
    verdict = change.verdict
    if change.state is State.SMALL:
        return gettext("changed, by less than {margin}").format(margin=_margin(change))
    if change.state is not State.OPEN or not verdict.excludes_one:
        return ""
    if verdict.adjusted is None:
        return gettext("fewer than three replicates")
    return gettext("not beyond chance among all configurations")


def _reach(share: float) -> str:
    return f"±{100 * share:.2g} %" if share < 1 else gettext("more than {percent}").format(percent="±100 %")


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
        title=gettext("{base} against {other}").format(
            base=_values(change.base, change.unit), other=_values(change.other, change.unit)
        ),
        dots=(_dots(change.base, low, high), _dots(change.other, low, high)),
        note=note(change),
        same_fact_as=PLAIN.get(change.same_fact_as, ""),
    )


def _values(replicates: Sequence[Value], unit: str) -> str:
    return joined(format_quantity(replicate.value, unit) for replicate in replicates)


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
        "time": Part(charts.over_time(looks), gaps(_has_series, gettext("the rate of each second"), "")),
        "density": Part(
            charts.density(looks), gaps(_has_latencies, gettext("the latency of every transaction"), "latency_log")
        ),
        "cpu": Part(charts.processors(looks), gaps(has_busy, gettext("CPU usage"), "sar")),
        "waits": Part(charts.waiting(looks), gaps(has_waits, gettext("wait events of sessions"), "pg_stat")),
        "costs": Part(
            charts.costs(costs, looks, trial_url),
            gaps(has_wal, gettext("how much WAL and how many blocks"), "pg_stat"),
        ),
    }


def time_note(looks: Sequence[Look], *, closed_loop: bool) -> str:
    text = _lines_note(looks)
    if closed_loop and charts.has_both(looks):
        one_fact = gettext(" Both lines show one fact, as each client waits for its answer: {law}.")
        text += one_fact.format(law=localized(LAW))
    width_s = charts.width_s(looks)
    if width_s != 1:
        text += gettext(" A point is the mean of {n} seconds.").format(n=width_s)
    return text


def _lines_note(looks: Sequence[Look]) -> str:
    """What the lines are; not all replicates may be in the figure."""
    if any(len(look.side.attempts) > charts.MOST_REPLICATES for look in looks):
        text = gettext("Thin: every replicate, of many the first {n}; thick: their median at each second.")
        return text.format(n=charts.MOST_REPLICATES)
    return gettext("Thin: every replicate; thick: their median at each second.")


def density_note(looks: Sequence[Look]) -> str:
    counts = []
    for look in looks:
        side = look.side
        if side.latencies:
            text = gettext("{name}: {total:,} in {known} of {all} trials")
            known, trials = len(side.with_latencies), len(side.attempts)
            counts.append(text.format(name=look.name, total=side.latencies.total, known=known, all=trials))
    marks = joined(f"{percent:g}\u00a0%" for percent in charts.MARKED)
    text = gettext(
        "Share of transactions in each quarter of a doubling; marks: within which {marks} of them were. {counts}."
    )
    return text.format(marks=marks, counts=gettext("; ").join(counts))


def _has(metric: str) -> Callable[[Side], bool]:
    return lambda side: side.has(metric)


def _has_series(side: Side) -> bool:
    return any(series for _, series in side.series)


def _has_latencies(side: Side) -> bool:
    return side.latencies is not None


_DETACHED = ("", "latency_log")  # the workload itself and the collector of what `results.detaching` moves


def missing(looks: Sequence[Look], has: Callable[[Side], bool], what: str, collector: str) -> tuple[str, ...]:
    """For each configuration without it why, and what else its collector could not gather."""
    names_by_text: dict[str, list[str]] = {}
    for look in looks:
        gaps = look.side.gaps(collector) if collector else ()
        texts = map(_gap, gaps) if has(look.side) else [_why_not(look.side, gaps, what, collector)]
        for text in texts:
            names_by_text.setdefault(text, []).append(look.name)
    text_of = gettext("{names}: {text}")
    return tuple(text_of.format(names=gettext(" and ").join(names), text=text) for text, names in names_by_text.items())


def _why_not(side: Side, gaps: Sequence[Gap], what: str, collector: str) -> str:
    if side.published:
        why = gettext("figures that were not measured here have no such files.")
    elif side.archived and collector in _DETACHED:
        why = gettext("{where}.").format(where=localized(side.archived))
    elif gaps:
        why = " ".join(map(_gap, gaps))
    elif not collector:
        why = gettext("the workload does not report it.")
    elif not side.watched_by(collector):
        why = gettext("the plan had no collector {collector}.").format(collector=collector)
    else:
        why = gettext("the collector {collector} recorded nothing of it.").format(collector=collector)
    return gettext("{what}: not known, {why}").format(what=what, why=why)


def _gap(gap: Gap) -> str:
    where = gettext("{source} on {node}").format(source=gap.source, node=gap.node) if gap.node else gap.source
    text = ngettext("{where}, trial {trials}: {reason}.", "{where}, trials {trials}: {reason}.", len(gap.trials))
    return text.format(where=where, trials=joined(map(str, gap.trials)), reason=localized(gap.reason))


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
    text = gettext("{name}: no plans were kept.")
    return tuple(text.format(name=look.name) for look in looks if not look.side.plans)


def flame(result: Why) -> str:
    """The address of both call stacks function by function, where both were sampled; of each one its first
    configuration."""
    if not (result.base.stacks and result.other.stacks):
        return ""
    fields = {"a": f"c{result.base.configurations[0]}", "b": f"c{result.other.configurations[0]}"}
    return f"{reverse('flame')}?{urlencode(fields)}"
