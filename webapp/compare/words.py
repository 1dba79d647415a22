"""The comparison's answer in words: title, lead, what is missing, what the figures mean. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext, ngettext, pgettext

from results.domain.measurement.metrics import Better
from results.domain.messages import SEMICOLON, localized
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.verdict import Kind, Verdict
from results.queries.comparison.cells import Key, LeftOut, Unmatched
from results.queries.comparison.compare import Comparison, Point, Summary
from results.queries.shared.ordering import DEFAULT, VERSIONS, all_numbers
from results.queries.shared.selection import LABEL, dimensions
from webapp.chooser import title as dimension_title
from webapp.compare.confounders import confounders, listed
from webapp.labels import axis_title, short_levels
from webapp.language import joined

MOST_NAMES = 3  # of series in a title
MOST_SAID = 4  # series of which the lead speaks
MOST_IN_SENTENCE = 2  # dimensions of an axis
_MOVED = (Kind.WORSE, Kind.BETTER, Kind.LOWER, Kind.HIGHER)  # named in this order where they are equally many
_INSTALLED = "postgresql-"
_SWITCHED = {"on", "off", "true", "false"}
_TIMES = {"tps", "us", "s", "1/s", "B/s"}
_WORDS = {
    "faster": _("faster"),
    "slower": _("slower"),
    "smaller": _("smaller"),
    "larger": _("larger"),
    Kind.BETTER: _("better"),
    Kind.WORSE: _("worse"),
    Kind.HIGHER: _("higher"),
    Kind.LOWER: _("lower"),
}
_Places = tuple[str, str, str]  # where all of two cells are, all of n, and some of n
_CELLS: _Places = (_("in both cells"), _("in all {n} cells"), _("in {count} of {n} cells"))
_QUERIES: _Places = (_("at both queries"), _("at all {n:,} queries"), _("at {count} of {n:,} queries"))
_CONFIGURATIONS: _Places = (
    _("at both configurations"),
    _("at all {n:,} configurations"),
    _("at {count} of {n:,} configurations"),
)
_LEVELS: _Places = (
    _("at both levels of {dimension}"),
    _("at all {n:,} levels of {dimension}"),
    _("at {count} of {n:,} levels of {dimension}"),
)
_LEVELS_OF: dict[str, _Places] = {
    "clients": (
        _("at both client counts"),
        _("at all {n:,} client counts"),
        _("at {count} of {n:,} client counts"),
    ),
    "label": (_("at both labels"), _("at all {n:,} labels"), _("at {count} of {n:,} labels")),
    "version": (_("at both versions"), _("at all {n:,} versions"), _("at {count} of {n:,} versions")),
    "installation": (
        _("at both installations"),
        _("at all {n:,} installations"),
        _("at {count} of {n:,} installations"),
    ),
    "scale": (_("at both scales"), _("at all {n:,} scales"), _("at {count} of {n:,} scales")),
    "script": (_("at both scripts"), _("at all {n:,} scripts"), _("at {count} of {n:,} scripts")),
}
_DIRECTIONS = {Better.HIGHER: _("Higher is better."), Better.LOWER: _("Lower is better.")}
_WARNINGS = {
    "drift": _(
        "changed by {change:+.1%} from the run's first trial to its last, whatever the configuration "
        "(p = {p:.2g}, {trials} trials)"
    ),
    "order": _(
        "changed by {change:+.1%} from a block's first trial to its last, whatever the configuration "
        "(p = {p:.2g}, {trials} trials)"
    ),
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
        return gettext("Compare")
    base = comparison.selection.baseline
    names = names_of(comparison)
    others = [names[series] for series in comparison.series if series != base]
    if base not in names or not comparison.selection.series or not others:
        label, x = localized(comparison.metric.label), axis_title(comparison.selection.x, comparison.metric)
        return gettext("{metric} by {x}").format(metric=label, x=x)
    several = listed(others) if len(others) <= MOST_NAMES else gettext("{n} others").format(n=len(others))
    text = gettext("{series} against {base}").format(series=several, base=names[base])
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
        rest = pgettext("a metric and its ratio", "{metric} {rest}")
        sentences[0] = replace(first, rest=rest.format(metric=localized(comparison.metric.label), rest=first.rest))
    return sentences


def _sentence(series: str, judged: Sequence[Point], comparison: Comparison) -> Sentence:
    name = names_of(comparison)[series]
    kinds = Counter(point.verdict.kind for point in judged if point.verdict)
    moved = sorted((kind for kind in _MOVED if kinds[kind]), key=lambda kind: -kinds[kind])
    total = len(judged)
    ratio = _ratio(series, judged, comparison)
    if not moved:
        kind, count = kinds.most_common(1)[0]
        claim = _unmoved(name, kind, judged, comparison, _place(count, total, comparison))
        return Sentence(kind, claim, _rest(ratio, kinds, [kind]))
    claim = _moved(name, [_part(kind, _place(kinds[kind], total, comparison), comparison) for kind in moved])
    agreed = len(moved) == 1 and not kinds[Kind.NOT_COMPARABLE]
    if all(point.verdict and point.verdict.of_these_runs for point in judged):
        claim = gettext("{claim} in these runs").format(claim=claim)
    return Sentence(moved[0] if agreed else "", claim, _rest(ratio, kinds, moved))


def _moved(name: str, parts: Sequence[str]) -> str:
    """Return the claim about a series that moved: in one direction, or at some places in the other."""
    first, *others = parts
    if not others:
        return gettext("{series} is {verdict}").format(series=name, verdict=first)
    return gettext("{series} is {first} and {second}").format(series=name, first=first, second=joined(others))


def _part(kind: Kind, place: str, comparison: Comparison) -> str:
    word = localized(_WORDS[_word(kind, comparison)])
    text = pgettext("faster at 3 of 8 client counts", "{verdict} {place}")
    return text.format(verdict=word, place=place) if place else word


def _word(kind: Kind, comparison: Comparison) -> str:
    """Return the key of the word."""
    if kind in (Kind.HIGHER, Kind.LOWER):
        return kind
    better = kind is Kind.BETTER
    if comparison.metric.unit in _TIMES and comparison.metric.name != "lag":
        return "faster" if better else "slower"
    if comparison.metric.unit == "B" and comparison.metric.better == Better.LOWER:
        return "smaller" if better else "larger"
    return kind


def _unmoved(name: str, kind: Kind, judged: Sequence[Point], comparison: Comparison, place: str) -> str:
    """Return the claim about a series that is nowhere known to have moved.

    place: where that is so, '' where there is one place only."""
    point = judged[0]
    base = point.base[2] if point.base else comparison.selection.baseline
    values = {"series": name, "base": names_of(comparison).get(base, base), "place": place}
    if kind is Kind.SAME:
        text = (
            gettext("{series} is the same as {base}, within ±{margin:.3g} %, {place}")
            if place
            else gettext("{series} is the same as {base}, within ±{margin:.3g} %,")
        )
        return text.format(**values, margin=comparison.metric.minimum_effect * 100)
    if kind is Kind.NOT_COMPARABLE:
        own = [one for one in comparison.environment if one.series == judged[0].series]
        text = (
            gettext("{series} cannot be compared with {base}: {differences}, {place}")
            if place
            else gettext("{series} cannot be compared with {base}: {differences},")
        )
        return text.format(**values, differences=confounders(own))
    text = (
        gettext("{series} is {verdict} against {base} {place}")
        if place
        else gettext("{series} is {verdict} against {base}")
    )
    return text.format(**values, verdict=localized(kind.words))


def _place(count: int, total: int, comparison: Comparison) -> str:
    """'at 3 of 8 client counts', 'at both labels', 'in all 12 cells'; '' of a single place."""
    if total == 1:
        return ""
    chosen = comparison.selection
    both, all_, some = _CELLS if chosen.panel else _places(comparison)
    text = some if count < total else both if total == 2 else all_
    return localized(text).format(count=count, n=total, dimension=dimension_title(chosen.x))


def _places(comparison: Comparison) -> _Places:
    """Return how the levels of the axis are spoken of: as configurations where they are of more dimensions than a
    sentence can hold."""
    x = comparison.selection.x
    if x == LABEL and "query" in comparison.metric.name.split("."):
        return _QUERIES
    return _CONFIGURATIONS if len(dimensions(x)) > MOST_IN_SENTENCE else _LEVELS_OF.get(x, _LEVELS)


def _rest(ratio: str, kinds: Counter[Kind], named: Sequence[Kind]) -> str:
    return localized(SEMICOLON).join([ratio, *_others(kinds, named)])


def _others(kinds: Counter[Kind], named: Sequence[Kind]) -> Iterator[str]:
    for kind in (Kind.SAME, Kind.TOO_FEW, Kind.NOT_COMPARABLE):
        if kinds[kind] and kind not in named:
            if kind is Kind.SAME:
                yield gettext("the same at {n}").format(n=kinds[kind])
            else:
                yield gettext("{verdict} at {n}").format(verdict=localized(kind.words), n=kinds[kind])


def _ratio(series: str, judged: Sequence[Point], comparison: Comparison) -> str:
    """Return '×0.928 (95 % interval 0.915 … 0.941, geometric mean)', over what can be compared."""
    judged = list(filter(_comparable, judged))
    if len(judged) == 1 and judged[0].ratio is not None:
        return _ratio_of_cell(judged[0])
    summaries = [summary for summary in comparison.summaries if summary.series == series and summary.ratio is not None]
    if not summaries:
        return gettext("no ratio")
    if len(summaries) > 1:
        ratios = [summary.ratio for summary in summaries if summary.ratio is not None]
        text = gettext("×{low:.3f} to ×{high:.3f} (geometric means of {n} panels)")
        return text.format(low=min(ratios), high=max(ratios), n=len(summaries))
    return _summary(summaries[0])


def _comparable(point: Point) -> bool:
    return point.verdict is not None and point.verdict.kind is not Kind.NOT_COMPARABLE


def _ratio_of_cell(point: Point) -> str:
    verdict = point.verdict
    if verdict is None or verdict.ratio is None or verdict.low is None:
        return f"×{point.ratio:.3f}"
    # xgettext:no-python-format
    text = gettext("×{ratio:.3f} (95 % interval {low:.3f} … {high:.3f}, ratio of geometric means)")
    return text.format(ratio=verdict.ratio, low=verdict.low, high=verdict.high)


def _summary(summary: Summary) -> str:
    if summary.estimate is None or summary.low is None or summary.high is None:
        return gettext("×{ratio:.3f} (geometric mean)").format(ratio=summary.ratio)
    # xgettext:no-python-format
    text = gettext("×{ratio:.3f} (95 % interval {low:.3f} … {high:.3f}, geometric mean)")
    return text.format(ratio=summary.estimate, low=summary.low, high=summary.high)


def missing(comparison: Comparison) -> list[int]:
    """Return the selected runs that are not there."""
    there = {text for facet in comparison.facets if facet.name == "run" for text in facet.texts}
    return [run for run in comparison.selection.runs if str(run) not in there]


def unmatched(comparison: Comparison) -> list[str]:
    """Cells, and configurations within cells, without a counterpart, in words."""
    names = names_of(comparison)
    cells_of: dict[tuple[str, str], list[str]] = {}
    for row in comparison.unmatched:
        lacking = "" if row.lacks == "cell" else names.get(row.base[2], row.base[2])
        cells_of.setdefault((names.get(row.series, row.series), lacking), []).append(_x_and_panel(row))
    x = axis_title(comparison.selection.x, comparison.metric)
    sentences = [_unmatched(*of, x, several) for of, several in cells_of.items()]
    if comparison.lost:
        lost = gettext(
            "{n} of the trials that {baseline} was saved with count no more, or lost its metric when read again"
        )
        sentences.insert(0, lost.format(n=len(comparison.lost), baseline=comparison.selection.baseline))
    return sentences + _left_out(comparison)


def _unmatched(series: str, base: str, x: str, places: Sequence[str]) -> str:
    """base: of which there is nothing, '' where it is the series of which there is none."""
    text = (
        gettext("{series} has nothing of {base} to be compared with at {x} {levels}")
        if base
        else gettext("{series} has no result at {x} {levels}")
    )
    return text.format(series=series, base=base, x=x, levels=_shortened(places))


def _x_and_panel(cell: Unmatched | LeftOut) -> str:
    return gettext("{x} ({panel})").format(x=cell.x, panel=cell.panel) if cell.panel else cell.x


def _left_out(comparison: Comparison) -> list[str]:
    """Return a sentence for each configuration that ratios leave out, with all cells of a series where they do."""
    names = names_of(comparison)
    base_of = {point.key: point.base[2] for point in comparison.points if point.base}
    cells_of: dict[tuple[str, str, str], list[str]] = {}
    for one in comparison.left_out:
        series, base = (names.get(name, name) for name in (one.series, base_of[one.panel, one.x, one.series]))
        lacking = (series, base) if one.lacks == "cell" else (base, series)
        cells_of.setdefault((*lacking, configuration(one)), []).append(_x_and_panel(one))
    x = axis_title(comparison.selection.x, comparison.metric)
    text = gettext(
        "{series} was not measured with {configuration} at {x} {levels}: its comparison with {other} leaves it out"
    )
    return [
        text.format(series=series, configuration=which, x=x, levels=_shortened(several), other=other)
        for (series, other, which), several in cells_of.items()
    ]


def configuration(one: LeftOut) -> str:
    """'clients 4, scale 10'."""
    return joined(f"{dimension_title(name)} {level}" for name, level in one.levels.items())


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
        of_own = ngettext("{n} of {total:,} configuration", "{n} of {total:,} configurations", point.configurations)
        counts.append(of_own.format(n=point.compared, total=point.configurations))
        which.append(gettext("{configurations}, which the baseline lacks").format(configurations=listed(own)))
    if of_base and point.base:
        total = by_key[point.base].configurations
        counts.append(gettext("{n} of the baseline's {total}").format(n=total - len(of_base), total=total))
        which.append(gettext("{configurations}, which only the baseline has").format(configurations=listed(of_base)))
    left_out_ones = localized(SEMICOLON).join(which)
    return (
        gettext("ratio of {counts}").format(counts=listed(counts)),
        gettext("Left out: {configurations}.").format(configurations=left_out_ones),
    )


def warnings(comparison: Comparison) -> list[tuple[int, str]]:
    """(run, what happened to its values while it was measured)."""
    return [
        (w.run_id, localized(_WARNINGS[w.kind]).format(change=w.change, p=w.p, trials=w.trials).replace("-", "−", 1))
        for w in comparison.warnings
    ]


def _shortened(places: Sequence[str], most: int = 12) -> str:
    if len(places) <= most:
        return listed(places)
    return gettext("{places} and {n} more").format(places=joined(places[:most]), n=len(places) - most)


def direction(better: str) -> str:
    return localized(_DIRECTIONS.get(Better(better), ""))


def rule(comparison: Comparison) -> str:
    """Which rule judged, with which margin, corrected for how many, resting on what besides; '' where nothing is
    compared."""
    verdicts = [point.verdict for point in comparison.points if point.verdict is not None]
    if not verdicts:
        return ""
    family = comparison.family or len(verdicts)
    corrected = gettext("corrected for the {n} comparisons of these runs") if family > 1 else gettext("one comparison")
    parts = joined(
        (
            gettext("Verdicts by rule {rule}").format(rule=verdicts[0].rule),
            gettext("margin ±{margin:.3g} %").format(margin=verdicts[0].margin * 100),
            corrected.format(n=family),
            *_other_runs(comparison, verdicts),
        )
    )
    if not any(verdict.looks for verdict in verdicts):
        return gettext("{parts}.").format(parts=parts)
    text = gettext("{parts}. Replicates were added after looks: a difference takes an adjusted p of {level:.2g}.")
    return text.format(parts=parts, level=min(verdict.level for verdict in verdicts))


def _other_runs(comparison: Comparison, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Give what other runs are part of the verdicts."""
    runs = sorted({verdict.runs for verdict in verdicts if verdict.runs})
    if runs:
        first, last = runs[0], runs[-1]
        text = (
            gettext("with the spread of {first} runs")
            if first == last
            else gettext("with the spread of {first} to {last} runs")
        )
        yield text.format(first=first, last=last)
    if any(verdict.earlier for verdict in verdicts):
        n = len(comparison.earlier_runs)
        text = ngettext("with the noise of {n:,} earlier run", "with the noise of {n:,} earlier runs", n)
        yield text.format(n=n)
