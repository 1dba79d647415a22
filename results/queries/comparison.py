"""The comparison: one metric over one dimension, a series for each value of another, a panel for each of a third."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from results.domain.environment.difference import EnvironmentDifference
from results.domain.environment.rules import BUILDS
from results.domain.measurement.metrics import Better
from results.domain.statistics.difference import Sample
from results.domain.statistics.drift import drift
from results.domain.statistics.outliers import outliers
from results.domain.statistics.summary import Source, geometric_mean
from results.domain.statistics.verdict import DIRECTIONS, Asked, Verdicts, judge_columns
from results.queries.baselines import REFERENCE, matched, unmatched, wanted_bases
from results.queries.cells import Comparison, Key, Point, Replicate, Summary, Unmatched, Warned
from results.queries.configurations import STATES, Bools, Configurations, Ints, configurations, distinct
from results.queries.environments import Judged, Pair, Side, series_environments
from results.queries.facets import facets, let_through, metrics_of, percentile_choice
from results.queries.freshness import Freshness, freshness
from results.queries.metrics import MetricRow, unknown
from results.queries.ordering import in_order
from results.queries.points import NOWHERE, Points
from results.queries.references import ReferenceRow, reference
from results.queries.replicates import OWN, Cells, Replicates, in_cells, replicates
from results.queries.selection import JOINT, PUBLISHED, Selection, complete, dimensions, first_choice

__all__ = ["Comparison", "Point", "Replicate", "Summary", "Unmatched", "Warned", "compare"]


def compare(selection: Selection, known: Freshness | None = None) -> Comparison:
    """Five queries whatever the number of trials, one less where `freshness` of the runs is known already and where
    nothing has a baseline, three more for a reference as the baseline. Raises TeitenError that names an unknown x,
    series, metric, filter or baseline, or several nodes or labels in one cell."""
    known = known or freshness(selection.runs)
    rows = configurations(selection.runs)
    filters = {name: texts for name, texts in selection.filters.items() if name not in OWN}
    found = facets(rows, filters)
    choices = metrics_of(selection.runs)
    computed = percentile_choice(selection.metric, choices) if choices else None
    choices += [computed] if computed else []
    first = first_choice(selection.runs, found, choices)
    chosen = complete(selection, first, found, choices)
    chosen_rows = let_through(rows, filters)
    measured = replicates(chosen, chosen_rows, bool(computed), all_of_runs=len(chosen_rows) == len(rows))
    lost: tuple[int, ...] = ()
    if chosen.baseline.startswith(REFERENCE):
        line = reference(chosen.baseline.removeprefix(REFERENCE), known.references)
        measured, lost = measured + _referred(chosen, line, bool(computed)), line.lost
    metric = next((choice.row() for choice in choices if choice.name == chosen.metric), unknown(chosen.metric))
    panels, xs, series = (
        in_order([key[place] for key in measured.keys], name)
        for place, name in enumerate((chosen.panel, chosen.x, chosen.series or ""))
    )
    chosen = replace(chosen, baseline=chosen.baseline or next(iter(series), ""))
    cells = in_cells(measured, panels, series, xs)
    wanted = wanted_bases(cells.keys, chosen, series)
    bases = matched(wanted)
    base = _places(cells.keys, bases)
    asked = np.flatnonzero((base != NOWHERE) & (base != np.arange(len(base))))
    pairs, side = _environments(cells, asked, base, chosen)
    verdicts = _verdicts(cells, asked, base, metric, [pair.difference.comparable for pair in pairs])
    points = _points(cells, asked, base, verdicts, chosen.statistic)
    return Comparison(
        selection=chosen,
        first=replace(first, baseline=next((name for name in series if not name.startswith(REFERENCE)), "")),
        metric=metric,
        xs=xs,
        series=series,
        panels=panels,
        points=points,
        summaries=tuple(_summaries(points, chosen, xs)),
        mixed=measured.mixed,
        excluded=_excluded(chosen_rows, cells),
        facets=tuple(found),
        metrics=tuple(choices),
        unmatched=unmatched(wanted, series),
        warnings=tuple(_warnings(cells, rows.runs_with(PUBLISHED))),
        references=known.references,
        environment=series_environments(pairs, side),
        lost=lost,
    )


def _referred(chosen: Selection, line: ReferenceRow, computed: bool) -> Replicates:
    """The saved reference that is the baseline, as one more series: those of its pinned attempts that the filters let
    through, at the levels of the present x and panel; and the dimensions that vary within its cells. Filters by what
    it differs in from the other series are not for it."""
    names = dimensions(line.dimensions)
    parts = line.series.split(JOINT)
    levels = dict(zip(names, parts, strict=True)) if len(parts) == len(names) else {}
    its_own = {"run", *names, *(BUILDS if BUILDS & set(names) else ())}
    filters = {name: texts for name, texts in chosen.filters.items() if name not in its_own}
    rows = configurations(line.runs)
    passed = let_through(rows, {name: texts for name, texts in filters.items() if name not in OWN})
    filters |= {name: (levels[name],) for name in OWN if name in levels}
    own = replace(chosen, series="", filters=filters)
    everything = len(passed) == len(rows)
    return replicates(own, passed, computed, all_of_runs=everything, attempts=line.attempts).of_series(chosen.baseline)


def _places(keys: Sequence[Key], bases: Mapping[Key, Key]) -> Ints:
    """Of each cell the place of its base; NOWHERE without."""
    place = {key: number for number, key in enumerate(keys)}
    return np.array([place[bases[key]] if key in bases else NOWHERE for key in keys], dtype=np.int64)


def _environments(cells: Cells, asked: Ints, base: Ints, chosen: Selection) -> tuple[list[Pair], Callable[[Key], Side]]:
    """Of each cell that has a base, what else differs between the two; and what a cell of either ran in."""
    sides = np.union1d(asked, base[asked])
    ran = [tuple(dict.fromkeys(own)) for own in cells.split(_examples(cells, np.isin(cells.columns.cell, sides)))]
    judged = Judged(chain.from_iterable(ran[place] for place in sides.tolist()))
    levels = _Levels(cells.keys, chosen)
    place = {key: number for number, key in enumerate(cells.keys)}

    def side(key: Key) -> Side:
        start, end = cells.bounds[place[key] : place[key] + 2].tolist()
        return Side(ran[place[key]], tuple(cells.columns.trial[start:end].tolist()), levels.of(key))

    known: dict[Any, EnvironmentDifference] = {}
    pairs = []
    for other, of in zip(asked.tolist(), base[asked].tolist(), strict=True):
        key, its = cells.keys[other], cells.keys[of]
        question = (ran[of], ran[other], levels.between(its, key))
        if question not in known:
            known[question] = judged.difference(side(its), side(key))
        pairs.append(Pair(key, its, known[question]))
    return pairs, side


def _examples(cells: Cells, compared: Bools) -> list[int]:
    """Of each replicate that is compared the first attempt that ran in the same environment."""
    attempt, environment = cells.columns.attempt.copy(), cells.columns.environment
    order = np.lexsort((attempt, environment, ~compared))[: compared.sum()]
    _, first, of = np.unique(environment[order], return_index=True, return_inverse=True)
    attempt[order] = attempt[order][first][of]
    found: list[int] = attempt.tolist()
    return found


class _Levels:
    """Of each cell the levels of what tells it from others."""

    def __init__(self, keys: Iterable[Key], chosen: Selection) -> None:
        axes = (chosen.panel, chosen.x, chosen.series or "")
        self._known = [{text: _parts(axis, text) for text in {key[i] for key in keys}} for i, axis in enumerate(axes)]
        self._names = [{text: tuple(parts) for text, parts in of.items()} for of in self._known]

    def of(self, key: Key) -> dict[str, str]:
        panel, x, series = (known[text] for known, text in zip(self._known, key, strict=True))
        return x | series | panel

    def between(self, base: Key, key: Key) -> tuple[Any, ...]:
        """The same for all pairs of which the same levels differ."""
        if base[:2] != key[:2]:
            return base, key
        return base[2], key[2], self._names[0][key[0]], self._names[1][key[1]]


def _parts(axis: str, text: str) -> dict[str, str]:
    names, parts = dimensions(axis), text.split(JOINT)
    return dict(zip(names, parts, strict=True)) if len(parts) == len(names) else {axis: text}


def _verdicts(cells: Cells, asked: Ints, base: Ints, metric: MetricRow, comparable: Sequence[bool]) -> Verdicts:
    """Of each cell that has a base."""
    n = np.diff(cells.bounds)
    return judge_columns(
        Asked(
            sides=cells.matched(base[asked], asked),
            direction=np.full(len(asked), DIRECTIONS.index(Better(metric.better))),
            minimum_effect=np.full(len(asked), metric.minimum_effect),
            comparable=np.array(comparable, dtype=bool),
            n=n[asked],
            n_base=n[base[asked]],
        )
    )


def _points(cells: Cells, asked: Ints, base: Ints, verdicts: Verdicts, statistic: str) -> Points:
    value = cells.statistic(statistic)
    has = (base != NOWHERE) & (value[base] != 0)
    judged = np.full(len(base), NOWHERE)
    judged[asked] = np.arange(len(asked))
    return Points(
        cells=cells,
        value=value,
        base=base,
        ratio=np.divide(value, value[base], out=np.full(len(base), np.nan), where=has),
        verdicts=verdicts,
        judged=judged,
        apart=outliers(cells.columns.value, cells.bounds),
    )


def _summaries(points: Points, chosen: Selection, xs: Sequence[str]) -> list[Summary]:
    """In the order of the points."""
    base, ratio = points.base.tolist(), points.ratio.tolist()
    positive = points.cells.statistic("min") > 0
    counts = (positive & positive[points.base]).tolist()
    shown = [x for x in xs if x not in chosen.without]
    lines: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for place, (panel, x, series) in enumerate(points.cells.keys):
        if ratio[place] > 0 and x not in chosen.without:
            lines[panel, series][x] = place
    samples = points.cells.samples()
    summaries = []
    for (panel, name), line in lines.items():
        others = {place for place in line.values() if base[place] != place}
        counted = [place for place in line.values() if place in others and counts[place]]
        lost = others.difference(counted)
        missing = tuple(x for x in shown if x not in line or line[x] in lost)
        if not others:
            summaries.append(Summary(name, panel, 1.0, len(line), missing))
        elif counted:
            ratios = [ratio[place] for place in counted]
            sides = [(samples[base[place]], samples[place]) for place in counted]
            alone = len({base[place] for place in counted}) == len(counted)
            summaries.append(_summary(name, panel, ratios, sides, alone, missing))
    return summaries


def _summary(
    name: str,
    panel: str,
    ratios: Sequence[float],
    sides: Sequence[tuple[Sample, Sample]],
    alone: bool,
    missing: tuple[str, ...],
) -> Summary:
    """alone: no two cells share a base."""
    ratio = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
    among = geometric_mean(sides)
    if not alone and among.source is not Source.BLOCKS:
        # cells that share a base are not independent
        among = replace(among, low=None, high=None, source=Source.NOTHING)
    return Summary(
        name, panel, ratio, len(ratios), missing, among.low, among.high, among.source.value, estimate=among.ratio
    )


def _warnings(cells: Cells, published: Set[int]) -> list[Warned]:
    """Runs that drift, or in which the place within a block matters. published: runs that have no order."""
    # of a shown run a reference's trials are the same again
    own = np.array([not series.startswith(REFERENCE) for _, _, series in cells.keys], dtype=bool)
    columns = cells.columns.take(own[cells.columns.cell])
    ids, configuration = np.unique(columns.configuration, return_inverse=True)
    lines = columns.cell * len(ids) + configuration
    warned = []
    for run_id in sorted(set(columns.run.tolist()) - published):
        of = columns.run == run_id
        seen = drift(lines[of], columns.block[of], columns.position[of], columns.value[of])
        for kind, matters, change, p in (
            ("drift", seen.drifts, seen.change, seen.p),
            ("order", seen.order_matters, seen.order_change, seen.order_p),
        ):
            if matters and change is not None and p is not None:
                warned.append(Warned(run_id, kind, change, p, seen.trials))
    return warned


def _excluded(rows: Configurations, cells: Cells) -> dict[str, int]:
    counts = {state: int(rows.trials[state].sum()) for state in STATES}
    columns = cells.columns
    measured = distinct(columns.trial[np.isin(columns.configuration, rows.id)])
    return {state: counts[state] for state in STATES[1:]} | {"without": counts["done"] - len(measured)}
