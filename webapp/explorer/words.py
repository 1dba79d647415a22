"""The comparison's answer in words: title, lead, what is missing, what the figures mean. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from results.domain.measurement.metrics import Better
from results.domain.statistics.verdict import Kind
from results.queries.comparison import Comparison, Point, Summary
from results.queries.ordering import VERSIONS, all_numbers
from webapp.explorer.controls import title as dimension_title

MOST_NAMES = 3  # of series in a title
MOST_SAID = 4  # series of which the lead speaks
_INSTALLED = "postgresql-"
_TIMES = {"tps", "us", "s", "1/s", "B/s"}
_LEVELS = {"clients": "client count", "label": "query", "version": "version", "installation": "installation",
           "scale": "scale", "script": "script"}  # fmt: skip


@dataclass(frozen=True)
class Said:
    """One series in words. kind: that colours it; '' where its cells do not agree or some are not comparable."""

    kind: str
    claim: str
    rest: str


def names_of(found: Comparison) -> dict[str, str]:
    """Series → how it is called on the page: without what all installations are called alike."""
    alike = all(series.startswith(_INSTALLED) for series in found.series)
    return {series: series.removeprefix(_INSTALLED) if alike else series for series in found.series}


def panel_name(found: Comparison, panel: str) -> str:
    """'clients 4': a number alone says nothing."""
    dimension = found.selection.panel
    return f"{dimension_title(dimension)} {panel}" if all_numbers(found.panels, dimension) else panel


def heading(found: Comparison) -> str:
    """'PostgreSQL 18.4 and 12.1 against 11.6'; without a baseline 'Transactions per second by clients'."""
    if not found.metric.label:
        return "Compare"
    base = found.selection.baseline
    names = names_of(found)
    others = [names[series] for series in found.series if series != base]
    if base not in names or not found.selection.series or not others:
        return f"{found.metric.label} by {dimension_title(found.selection.x)}"
    text = f"{listed(others) if len(others) <= MOST_NAMES else f'{len(others)} others'} against {names[base]}"
    return f"PostgreSQL {text}" if found.selection.series in VERSIONS and names[base][:1].isdigit() else text


def listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def lead(found: Comparison) -> list[Said]:
    """What the verdicts say of each series. The metric is named once."""
    judged = {
        series: several
        for series in found.series
        if (several := [p for p in found.points if p.series == series and p.verdict is not None])
    }
    said = [_said(series, several, found) for series, several in list(judged.items())[:MOST_SAID]]
    return [replace(one, rest=f"{found.metric.label} {one.rest}") if one is said[0] else one for one in said]


def _said(series: str, judged: Sequence[Point], found: Comparison) -> Said:
    name = names_of(found)[series]
    kinds = Counter(point.verdict.kind for point in judged if point.verdict)
    one = next((kind for kind in (Kind.BETTER, Kind.WORSE, Kind.HIGHER, Kind.LOWER) if kinds[kind]), None)
    moved = [kind for kind in (Kind.WORSE, Kind.BETTER, Kind.LOWER, Kind.HIGHER) if kinds[kind]]
    total = len(judged)
    ratio = _ratio(series, judged, found)
    if not moved:
        kind, count = kinds.most_common(1)[0]
        claim = f"{name} {_unmoved(kind, judged[0], found)}{_of(count, total, found)}"
        return Said(kind, claim, "; ".join([ratio, *_others(kinds, [kind])]))
    moved.sort(key=lambda kind: -kinds[kind])
    parts = [f"{_word(kind, found)}{_of(kinds[kind], total, found)}" for kind in moved]
    claim = f"{name} is {' and '.join(parts)}"
    plain = len(moved) == 1 and not kinds[Kind.NOT_COMPARABLE]
    return Said(one if plain and one else "", claim, "; ".join([ratio, *_others(kinds, moved)]))


def _word(kind: Kind, found: Comparison) -> str:
    if kind in (Kind.HIGHER, Kind.LOWER):
        return str(kind)
    better = kind is Kind.BETTER
    if found.metric.unit in _TIMES and found.metric.name != "lag":
        return "faster" if better else "slower"
    if found.metric.unit == "B" and found.metric.better == Better.LOWER:
        return "smaller" if better else "larger"
    return "better" if better else "worse"


def _unmoved(kind: Kind, point: Point, found: Comparison) -> str:
    base = point.base[2] if point.base else found.selection.baseline
    base = names_of(found).get(base, base)
    if kind is Kind.SAME:
        return f"is the same as {base}, within ±{found.metric.minimum_effect * 100:.3g} %,"
    if kind is Kind.NOT_COMPARABLE:
        return f"cannot be compared with {base}: something else that matters differs,"
    return f"is {kind.words} against {base}"


def _of(count: int, total: int, found: Comparison) -> str:
    if total == 1:
        return ""
    if found.selection.panel:
        return f" in {'all' if count == total else f'{count} of'} {total} cells"
    where = levels(total, found.selection.x)
    return f" at all {where}" if count == total else f" at {count} of {where}"


def levels(count: int, dimension: str) -> str:
    """'8 client counts', '1 level of work_mem'."""
    noun = _LEVELS.get(dimension)
    if noun is None:
        return f"{count} level{'' if count == 1 else 's'} of {dimension_title(dimension)}"
    return f"{count} {noun if count == 1 else noun.removesuffix('y') + 'ies' if noun.endswith('y') else noun + 's'}"


def _others(kinds: Counter[Kind], said: Sequence[Kind]) -> Iterator[str]:
    for kind in (Kind.SAME, Kind.TOO_FEW, Kind.NOT_COMPARABLE):
        if kinds[kind] and kind not in said:
            yield f"{'the same' if kind is Kind.SAME else kind.words} at {kinds[kind]}"


def _ratio(series: str, judged: Sequence[Point], found: Comparison) -> str:
    """'×0.928 (95 % interval 0.915 … 0.941, geometric mean)'. An interval stands beside the ratio that it is around: of
    geometric means."""
    summaries = [summary for summary in found.summaries if summary.series == series and summary.ratio is not None]
    if len(judged) == 1 and (verdict := judged[0].verdict) and judged[0].ratio is not None:
        if verdict.ratio is None or verdict.low is None:
            return f"×{judged[0].ratio:.3f}"
        return f"×{verdict.ratio:.3f} (95 % interval {verdict.low:.3f} … {verdict.high:.3f}, ratio of geometric means)"
    if not summaries:
        return "no ratio"
    if len(summaries) > 1:
        ratios = [summary.ratio for summary in summaries if summary.ratio is not None]
        return f"×{min(ratios):.3f} to ×{max(ratios):.3f} (geometric means of {len(summaries)} panels)"
    return _summary(summaries[0])


def _summary(summary: Summary) -> str:
    if summary.estimate is None or summary.low is None or summary.high is None:
        return f"×{summary.ratio:.3f} (geometric mean)"
    return f"×{summary.estimate:.3f} (95 % interval {summary.low:.3f} … {summary.high:.3f}, geometric mean)"


def missing(found: Comparison) -> list[int]:
    """Runs that are asked for and are not there."""
    there = {text for facet in found.facets if facet.name == "run" for text in facet.texts}
    return [run for run in found.selection.runs if str(run) not in there]


def unmatched(found: Comparison) -> list[str]:
    """Cells without a counterpart, in words."""
    names = names_of(found)
    places: dict[tuple[str, str], list[str]] = {}
    for row in found.unmatched:
        base = names.get(row.base[2], row.base[2])
        what = "has no result" if row.lacks == "cell" else f"has nothing of {base} to be compared with"
        place = f"{row.x} ({row.panel})" if row.panel else row.x
        places.setdefault((names.get(row.series, row.series), what), []).append(place)
    x = dimension_title(found.selection.x)
    lost = (
        f"{len(found.lost)} of the trials that {found.selection.baseline} was saved with count no more, or lost its "
        "metric when read again"
    )
    return [lost][: len(found.lost)] + [
        f"{series} {what} at {x} {_shortened(several)}" for (series, what), several in places.items()
    ]


def warnings(found: Comparison) -> list[tuple[int, str]]:
    """(run, what happened to its values while it was measured)."""
    texts = {
        "drift": "changed by {change:+.1%} from the run's first trial to its last, whatever the configuration",
        "order": "changed by {change:+.1%} from a block's first trial to its last, whatever the configuration",
    }
    return [
        (w.run_id, f"{texts[w.kind].format(change=w.change)} (p = {w.p:.2g}, {w.trials} trials)".replace("-", "−", 1))
        for w in found.warnings
    ]


def _shortened(places: Sequence[str], most: int = 12) -> str:
    return listed(places) if len(places) <= most else f"{', '.join(places[:most])} and {len(places) - most} more"


def direction(better: str) -> str:
    return {Better.HIGHER: "Higher is better.", Better.LOWER: "Lower is better."}.get(Better(better), "")


def rule(found: Comparison) -> str:
    """Which rule judged how many cells, with which margin; '' where nothing is compared."""
    verdicts = [point.verdict for point in found.points if point.verdict is not None]
    if not verdicts:
        return ""
    cells = f"corrected for {len(verdicts)} cells" if len(verdicts) > 1 else "one cell"
    return f"Verdicts by rule {verdicts[0].rule}, margin ±{verdicts[0].margin * 100:.3g} %, {cells}."
