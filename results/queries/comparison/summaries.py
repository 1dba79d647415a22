"""Series of a comparison over all their cells: the geometric mean of the cells' ratios. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from results.domain.measurement.metrics import TOTAL
from results.domain.statistics.difference import Sample
from results.domain.statistics.summary import Mean, Source, geometric_mean, mean_ratio
from results.domain.statistics.verdict import Kind, Verdict
from results.queries.comparison.cells import Key, Point, Summary
from results.queries.shared.labels import parts_of_whole
from results.queries.shared.metrics import MetricRow
from results.queries.shared.selection import LABEL, Selection


def summaries(points: Sequence[Point], samples: Mapping[Key, Sample], shown: Sequence[str]) -> list[Summary]:
    """Return a summary of each series in each panel that has a cell to be counted, in the order of the points.

    shown: levels of x that count."""
    by_key = {point.key: point for point in points}
    lines: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        if point.ratio and point.ratio > 0 and point.x in shown:
            lines.setdefault((point.panel, point.series), []).append(point)
    all_ = (_summary(line, by_key, samples, shown) for line in lines.values())
    return [summary for summary in all_ if summary is not None]


def summed_up(xs: Sequence[str], chosen: Selection, metric: MetricRow) -> list[str]:
    """Return the levels of x that a mean is over: what is part of another label ('copy: orders' of 'copy') counts in
    that, and a total beside its parts not at all."""
    left_out = set(chosen.without)
    if chosen.x == LABEL:
        left_out.update(set(xs) - set(parts_of_whole(xs)))
        left_out.update({TOTAL} & {metric.whole})
    return [x for x in xs if x not in left_out]


def _summary(
    line: Sequence[Point], by_key: Mapping[Key, Point], samples: Mapping[Key, Sample], shown: Sequence[str]
) -> Summary | None:
    """Return the summary of one series in one panel; None where no cell can be counted."""
    panel, series = line[0].panel, line[0].series
    own_bases = [point for point in line if point.base == point.key]
    if len(own_bases) == len(line):
        return Summary(series, panel, 1.0, len(line), _missing(shown, line))
    pairs = _counted(line, by_key)
    if not pairs:
        return None
    mean = _mean(pairs, samples)
    return Summary(
        series=series,
        panel=panel,
        ratio=mean_ratio([point.ratio or 1.0 for _, point in pairs]),
        cells=len(pairs),
        missing=_missing(shown, [*own_bases, *(point for _, point in pairs)]),
        low=mean.low,
        high=mean.high,
        source=mean.source.value,
        estimate=mean.ratio,
    )


def _counted(line: Sequence[Point], by_key: Mapping[Key, Point]) -> list[tuple[Point, Point]]:
    """Return (base, cell) of each cell that can be compared with another, where all values of both are above zero."""
    compared = [(by_key[point.base], point) for point in line if point.base and point.verdict and _comparable(point)]
    return [(base, point) for base, point in compared if point.minimum > 0 and base.minimum > 0]


def _comparable(point: Point) -> bool:
    return point.verdict is None or point.verdict.kind is not Kind.NOT_COMPARABLE


def _mean(pairs: Sequence[tuple[Point, Point]], samples: Mapping[Key, Sample]) -> Mean:
    """Return the mean over (base, cell) pairs; no interval where cells share a base (they are not independent), or hold
    several configurations (their values are no sample of anything)."""
    if any(max(base.configurations, point.configurations) > 1 for base, point in pairs):
        ratios = [point.ratio for _, point in pairs if point.ratio]
        return Mean(mean_ratio(ratios), None, None, len(pairs), Source.NOTHING)
    if any(point.verdict and point.verdict.runs for _, point in pairs):
        return _mean_over_runs([point.verdict for _, point in pairs if point.verdict])
    return _mean_over_replicates(pairs, samples)


def _mean_over_replicates(pairs: Sequence[tuple[Point, Point]], samples: Mapping[Key, Sample]) -> Mean:
    mean = geometric_mean([(samples[base.key], samples[point.key]) for base, point in pairs])
    shared = len({base.key for base, _ in pairs}) < len(pairs)
    if shared and mean.source is not Source.BLOCKS:
        return replace(mean, low=None, high=None, source=Source.NOTHING)
    return mean


def _mean_over_runs(verdicts: Sequence[Verdict]) -> Mean:
    """Return the mean over cells whose intervals hold the level of a run, which is common to all of them; no interval
    where that of a cell does not."""
    ratio = mean_ratio([verdict.ratio for verdict in verdicts if verdict.ratio])
    ends = [(verdict.low, verdict.high) for verdict in verdicts if verdict.low and verdict.high and verdict.runs]
    if len(ends) < len(verdicts):
        return Mean(ratio, None, None, len(verdicts), Source.NOTHING)
    low, high = map(mean_ratio, zip(*ends, strict=True))
    return Mean(ratio, low, high, len(verdicts), Source.RUNS)


def _missing(shown: Sequence[str], counted: Sequence[Point]) -> tuple[str, ...]:
    there = {point.x for point in counted}
    return tuple(x for x in shown if x not in there)
