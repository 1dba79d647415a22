"""The comparison's answer in words: title, lead, what is missing, what the figures mean. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from results.domain.measurement.metrics import Better
from results.domain.statistics.verdict import Kind, Verdict
from results.domain.units import counted
from results.queries.comparison.cells import Key, LeftOut
from results.queries.comparison.compare import Comparison, Point, Summary
from results.queries.shared.ordering import DEFAULT, VERSIONS, all_numbers
from results.queries.shared.selection import LABEL, dimensions
from webapp.chooser import title as dimension_title
from webapp.compare.confounders import confounders, listed
from webapp.labels import axis_title, short_levels

MOST_NAMES = 3  # of series in a title
MOST_SAID = 4  # series of which the lead speaks
MOST_IN_SENTENCE = 2  # dimensions of an axis
_MOVED = (Kind.WORSE, Kind.BETTER, Kind.LOWER, Kind.HIGHER)  # named in this order where they are equally many
_INSTALLED = "postgresql-"
_SWITCHED = {"on", "off", "true", "false"}
_TIMES = {"tps", "us", "s", "1/s", "B/s"}
_LEVELS = {
    "clients": "client count",
    "label": "label",
    "version": "version",
    "installation": "installation",
    "scale": "scale",
    "script": "script",
}


@dataclass(frozen=True)
class Sentence:
    """One series in words.

    kind: that colours it; '' where its cells do not agree or some are not comparable."""

    kind: str
    claim: str
    rest: str


def names_of(comparison: Comparison) -> dict[str, str]:
    """Series → how it is called on the page: without what all installations are called alike, and of what is on or off
    with its name."""
    if comparison.series and set(comparison.series) <= _SWITCHED:
        name = dimension_title(comparison.selection.series or "")
        return {series: f"{name} {series}" for series in comparison.series}
    alike = all(series.startswith(_INSTALLED) for series in comparison.series)
    short = short_levels(comparison.selection.series or "", comparison.series)
    return {series: name.removeprefix(_INSTALLED) if alike else name for series, name in short.items()}


def panel_name(comparison: Comparison, panel: str) -> str:
    """'clients 4': a number alone says nothing."""
    dimension = comparison.selection.panel
    return f"{dimension_title(dimension)} {panel}" if all_numbers(comparison.panels, dimension) else panel


def heading(comparison: Comparison) -> str:
    """'PostgreSQL 18.4 and 12.1 against 11.6'; without a baseline 'Transactions per second by clients'."""
    if not comparison.metric.label:
        return "Compare"
    base = comparison.selection.baseline
    names = names_of(comparison)
    others = [names[series] for series in comparison.series if series != base]
    if base not in names or not comparison.selection.series or not others:
        return f"{comparison.metric.label} by {axis_title(comparison.selection.x, comparison.metric)}"
    text = f"{listed(others) if len(others) <= MOST_NAMES else f'{len(others)} others'} against {names[base]}"
    return f"PostgreSQL {text}" if comparison.selection.series in VERSIONS and names[base][:1].isdigit() else text


def constants(comparison: Comparison) -> list[str]:
    """What all cells have in common, of the factors: filtered to one value that is set."""
    filters = comparison.selection.filters
    varied = {name for name in comparison.selection.axes if name}
    alone = {name: texts[0] for name, texts in filters.items() if len(texts) == 1 and name not in varied}
    return [f"{dimension_title(name)} {text}" for name, text in alone.items() if text != DEFAULT]


def lead(comparison: Comparison) -> list[Sentence]:
    """Return what the verdicts say of each series; nothing of a single line, whose cells are compared with one of them.
    The metric is named once."""
    if not comparison.selection.series:
        return []
    by_series: dict[str, list[Point]] = {series: [] for series in comparison.series}
    for point in comparison.points:
        if point.verdict is not None:
            by_series[point.series].append(point)
    judged = [(series, points) for series, points in by_series.items() if points]
    sentences = [_sentence(series, points, comparison) for series, points in judged[:MOST_SAID]]
    for first in sentences[:1]:
        sentences[0] = replace(first, rest=f"{comparison.metric.label} {first.rest}")
    return sentences


def _sentence(series: str, judged: Sequence[Point], comparison: Comparison) -> Sentence:
    name = names_of(comparison)[series]
    kinds = Counter(point.verdict.kind for point in judged if point.verdict)
    moved = sorted((kind for kind in _MOVED if kinds[kind]), key=lambda kind: -kinds[kind])
    total = len(judged)
    ratio = _ratio(series, judged, comparison)
    if not moved:
        kind, count = kinds.most_common(1)[0]
        claim = f"{name} {_unmoved(kind, judged, comparison)}{_of(count, total, comparison)}"
        return Sentence(kind, claim, "; ".join([ratio, *_others(kinds, [kind])]))
    parts = [f"{_word(kind, comparison)}{_of(kinds[kind], total, comparison)}" for kind in moved]
    agreed = len(moved) == 1 and not kinds[Kind.NOT_COMPARABLE]
    claim = f"{name} is {' and '.join(parts)}"
    if all(point.verdict and point.verdict.of_these_runs for point in judged):
        claim = f"{claim} in these runs"
    return Sentence(moved[0] if agreed else "", claim, "; ".join([ratio, *_others(kinds, moved)]))


def _word(kind: Kind, comparison: Comparison) -> str:
    if kind in (Kind.HIGHER, Kind.LOWER):
        return str(kind)
    better = kind is Kind.BETTER
    if comparison.metric.unit in _TIMES and comparison.metric.name != "lag":
        return "faster" if better else "slower"
    if comparison.metric.unit == "B" and comparison.metric.better == Better.LOWER:
        return "smaller" if better else "larger"
    return "better" if better else "worse"


def _unmoved(kind: Kind, judged: Sequence[Point], comparison: Comparison) -> str:
    point = judged[0]
    base = point.base[2] if point.base else comparison.selection.baseline
    base = names_of(comparison).get(base, base)
    if kind is Kind.SAME:
        return f"is the same as {base}, within ±{comparison.metric.minimum_effect * 100:.3g} %,"
    if kind is Kind.NOT_COMPARABLE:
        own = [one for one in comparison.environment if one.series == judged[0].series]
        return f"cannot be compared with {base}: {confounders(own)},"
    return f"is {kind.words} against {base}"


def _of(count: int, total: int, comparison: Comparison) -> str:
    if total == 1:
        return ""
    if comparison.selection.panel:
        return f" in {_every(f'{total} cells') if count == total else f'{count} of {total} cells'}"
    queries = comparison.selection.x == LABEL and "query" in comparison.metric.name.split(".")
    where = counted(total, "query") if queries else levels(total, comparison.selection.x)
    return f" at {_every(where)}" if count == total else f" at {count} of {where}"


def _every(where: str) -> str:
    """'2 client counts' → 'both client counts', '3 client counts' → 'all 3 client counts'."""
    number, _, noun = where.partition(" ")
    return f"both {noun}" if number == "2" else f"all {where}"


def levels(count: int, dimension: str) -> str:
    """'8 client counts', '1 level of work_mem'; of more dimensions than a sentence can hold '7 configurations'."""
    noun = "configuration" if len(dimensions(dimension)) > MOST_IN_SENTENCE else _LEVELS.get(dimension)
    if noun is None:
        return f"{counted(count, 'level')} of {dimension_title(dimension)}"
    return counted(count, noun)


def _others(kinds: Counter[Kind], named: Sequence[Kind]) -> Iterator[str]:
    for kind in (Kind.SAME, Kind.TOO_FEW, Kind.NOT_COMPARABLE):
        if kinds[kind] and kind not in named:
            yield f"{'the same' if kind is Kind.SAME else kind.words} at {kinds[kind]}"


def _ratio(series: str, judged: Sequence[Point], comparison: Comparison) -> str:
    """Return '×0.928 (95 % interval 0.915 … 0.941, geometric mean)', over what can be compared."""
    judged = list(filter(_comparable, judged))
    if len(judged) == 1 and judged[0].ratio is not None:
        return _ratio_of_cell(judged[0])
    summaries = [summary for summary in comparison.summaries if summary.series == series and summary.ratio is not None]
    if not summaries:
        return "no ratio"
    if len(summaries) > 1:
        ratios = [summary.ratio for summary in summaries if summary.ratio is not None]
        return f"×{min(ratios):.3f} to ×{max(ratios):.3f} (geometric means of {len(summaries)} panels)"
    return _summary(summaries[0])


def _comparable(point: Point) -> bool:
    return point.verdict is not None and point.verdict.kind is not Kind.NOT_COMPARABLE


def _ratio_of_cell(point: Point) -> str:
    verdict = point.verdict
    if verdict is None or verdict.ratio is None or verdict.low is None:
        return f"×{point.ratio:.3f}"
    return f"×{verdict.ratio:.3f} (95 % interval {verdict.low:.3f} … {verdict.high:.3f}, ratio of geometric means)"


def _summary(summary: Summary) -> str:
    if summary.estimate is None or summary.low is None or summary.high is None:
        return f"×{summary.ratio:.3f} (geometric mean)"
    return f"×{summary.estimate:.3f} (95 % interval {summary.low:.3f} … {summary.high:.3f}, geometric mean)"


def missing(comparison: Comparison) -> list[int]:
    """Return the selected runs that are not there."""
    there = {text for facet in comparison.facets if facet.name == "run" for text in facet.texts}
    return [run for run in comparison.selection.runs if str(run) not in there]


def unmatched(comparison: Comparison) -> list[str]:
    """Cells, and configurations within cells, without a counterpart, in words."""
    names = names_of(comparison)
    cells_of: dict[tuple[str, str], list[str]] = {}
    for row in comparison.unmatched:
        base = names.get(row.base[2], row.base[2])
        what = "has no result" if row.lacks == "cell" else f"has nothing of {base} to be compared with"
        x_and_panel = f"{row.x} ({row.panel})" if row.panel else row.x
        cells_of.setdefault((names.get(row.series, row.series), what), []).append(x_and_panel)
    x = axis_title(comparison.selection.x, comparison.metric)
    sentences = [f"{series} {what} at {x} {_shortened(several)}" for (series, what), several in cells_of.items()]
    if comparison.lost:
        count, baseline = len(comparison.lost), comparison.selection.baseline
        lost = f"{count} of the trials that {baseline} was saved with count no more, or lost its metric when read again"
        sentences.insert(0, lost)
    return sentences + _left_out(comparison)


def _left_out(comparison: Comparison) -> list[str]:
    """Return a sentence for each configuration that ratios leave out, with all cells of a series where they do."""
    names = names_of(comparison)
    base_of = {point.key: point.base[2] for point in comparison.points if point.base}
    cells_of: dict[tuple[str, str, str], list[str]] = {}
    for one in comparison.left_out:
        series, base = (names.get(name, name) for name in (one.series, base_of[one.panel, one.x, one.series]))
        lacking = (series, base) if one.lacks == "cell" else (base, series)
        x_and_panel = f"{one.x} ({one.panel})" if one.panel else one.x
        cells_of.setdefault((*lacking, configuration(one)), []).append(x_and_panel)
    x = axis_title(comparison.selection.x, comparison.metric)
    return [
        f"{lacking} was not measured with {levels} at {x} {_shortened(several)}: "
        f"its comparison with {other} leaves it out"
        for (lacking, other, levels), several in cells_of.items()
    ]


def configuration(one: LeftOut) -> str:
    """'clients 4, scale 10'."""
    return ", ".join(f"{dimension_title(name)} {level}" for name, level in one.levels.items())


def left_out(comparison: Comparison) -> dict[Key, tuple[str, str]]:
    """Return of each cell whose ratio does not speak of all its configurations, or of all its base's, of how many it
    does, and which it leaves out."""
    by_key = {point.key: point for point in comparison.points}
    alone_of: dict[Key, list[LeftOut]] = {}
    for one in comparison.left_out:
        alone_of.setdefault((one.panel, one.x, one.series), []).append(one)
    return {key: _left_out_of(by_key[key], by_key, alone) for key, alone in alone_of.items()}


def _left_out_of(point: Point, by_key: Mapping[Key, Point], alone: Sequence[LeftOut]) -> tuple[str, str]:
    own, of_base = ([configuration(one) for one in alone if one.lacks == lacks] for lacks in ("baseline", "cell"))
    counts, which = [], []
    if own:
        counts.append(f"{point.compared} of {counted(point.configurations, 'configuration')}")
        which.append(f"{listed(own)}, which the baseline lacks")
    if of_base and point.base:
        configurations = by_key[point.base].configurations
        counts.append(f"{configurations - len(of_base)} of the baseline's {configurations}")
        which.append(f"{listed(of_base)}, which only the baseline has")
    return f"ratio of {' and '.join(counts)}", f"Left out: {'; '.join(which)}."


def warnings(comparison: Comparison) -> list[tuple[int, str]]:
    """(run, what happened to its values while it was measured)."""
    texts = {
        "drift": "changed by {change:+.1%} from the run's first trial to its last, whatever the configuration",
        "order": "changed by {change:+.1%} from a block's first trial to its last, whatever the configuration",
    }
    return [
        (w.run_id, f"{texts[w.kind].format(change=w.change)} (p = {w.p:.2g}, {w.trials} trials)".replace("-", "−", 1))
        for w in comparison.warnings
    ]


def _shortened(places: Sequence[str], most: int = 12) -> str:
    return listed(places) if len(places) <= most else f"{', '.join(places[:most])} and {len(places) - most} more"


def direction(better: str) -> str:
    return {Better.HIGHER: "Higher is better.", Better.LOWER: "Lower is better."}.get(Better(better), "")


def rule(comparison: Comparison) -> str:
    """Which rule judged, with which margin, corrected for how many, resting on what besides; '' where nothing is
    compared."""
    verdicts = [point.verdict for point in comparison.points if point.verdict is not None]
    if not verdicts:
        return ""
    family = comparison.family or len(verdicts)
    cells = f"corrected for the {family} comparisons of these runs" if family > 1 else "one comparison"
    margin = f"margin ±{verdicts[0].margin * 100:.3g} %"
    text = ", ".join((f"Verdicts by rule {verdicts[0].rule}", margin, cells, *_other_runs(comparison, verdicts)))
    if not any(verdict.looks for verdict in verdicts):
        return f"{text}."
    level = min(verdict.level for verdict in verdicts)
    return f"{text}. Replicates were added after looks: a difference takes an adjusted p of {level:.2g}."


def _other_runs(comparison: Comparison, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Give what other runs are part of the verdicts."""
    runs = sorted({verdict.runs for verdict in verdicts if verdict.runs})
    if runs:
        yield f"with the spread of {' to '.join(map(str, runs[:: max(len(runs) - 1, 1)]))} runs"
    if any(verdict.earlier for verdict in verdicts):
        yield f"with the noise of {counted(len(comparison.earlier_runs), 'earlier run')}"
