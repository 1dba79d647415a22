"""The comparison: one metric over one dimension, a series for each value of another, a panel for each of a third."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, compress

from results.domain.environment.rules import BUILDS
from results.domain.measurement.metrics import Better
from results.domain.statistics.drift import drift
from results.domain.statistics.outliers import outliers
from results.domain.statistics.verdict import Question, Sample, Verdict, judge
from results.queries.comparison.baselines import REFERENCE, matched, unmatched, wanted_bases
from results.queries.comparison.cells import (
    Comparison,
    Key,
    Point,
    Replicate,
    RunWarning,
    Summary,
    Unmatched,
)
from results.queries.comparison.freshness import Freshness, freshness
from results.queries.comparison.references import ReferenceRow, reference
from results.queries.comparison.replicates import OWN, Cells, cells_of
from results.queries.comparison.summaries import summaries
from results.queries.environment.environments import EnvironmentComparison, Pair, Side, series_environments
from results.queries.shared.configurations import STATES, ConfigurationRow, configurations
from results.queries.shared.facets import Filters, MetricChoice, facets, metrics_of, passing, percentile_choice
from results.queries.shared.metrics import MetricRow, unknown
from results.queries.shared.selection import JOINT, PUBLISHED, Selection, complete, dimensions, first_choice

__all__ = ["Comparison", "Point", "Replicate", "RunWarning", "Summary", "Unmatched", "compare"]


def compare(selection: Selection, known: Freshness | None = None) -> Comparison:
    """Return the answer to a selection. Five queries whatever the number of trials, one less where `freshness` of the
    runs is known already and where nothing has a baseline, three more for a reference as the baseline. Raises
    TeitenError that names an unknown x, series, metric, filter or baseline, or several nodes or labels in one cell."""
    known = known or freshness(selection.runs)
    rows = configurations(selection.runs)
    filters = _of_configurations(selection.filters)
    varied = tuple(facets(rows, filters))
    metrics, computed = _metrics(selection)
    first = first_choice(selection.runs, varied, metrics)
    chosen = complete(selection, first, varied, metrics)
    metric = next((choice.row() for choice in metrics if choice.name == chosen.metric), unknown(chosen.metric))
    chosen_rows = passing(rows, filters)
    cells = cells_of(chosen, chosen_rows, computed)
    line = _reference(chosen, known)
    if line:
        cells = cells.joined(_reference_cells(chosen, line, computed))
    panels, xs, series = cells.axes(chosen)
    cells = cells.ordered(panels, xs, series)
    chosen = replace(chosen, baseline=chosen.baseline or _first(series))
    wanted = wanted_bases(cells.replicates, chosen, series)
    bases = matched(wanted)
    pairs, sides = _environments(cells, bases, chosen)
    points = _points(cells, bases, _verdicts(cells.samples, pairs, metric), chosen.statistic)
    return Comparison(
        selection=chosen,
        first=replace(first, baseline=_first([name for name in series if not name.startswith(REFERENCE)])),
        metric=metric,
        xs=xs,
        series=series,
        panels=panels,
        points=points,
        summaries=tuple(summaries(points, cells.samples, [x for x in xs if x not in chosen.without])),
        mixed=cells.mixed,
        excluded=_excluded(chosen_rows, cells),
        facets=varied,
        metrics=metrics,
        unmatched=unmatched(wanted, series),
        warnings=tuple(_warnings(cells, _published(rows))),
        references=known.references,
        environment=series_environments(pairs, sides),
        lost=line.lost if line else (),
    )


def _first(series: Sequence[str]) -> str:
    return next(iter(series), "")


def _published(rows: Sequence[ConfigurationRow]) -> set[int]:
    """Return the runs that are publications."""
    return {row.run_id for row in rows if PUBLISHED in row.texts}


def _of_configurations(filters: Filters) -> dict[str, tuple[str, ...]]:
    """Return the filters without those of the measurement's own dimensions."""
    return {name: tuple(texts) for name, texts in filters.items() if name not in OWN}


def _metrics(selection: Selection) -> tuple[tuple[MetricChoice, ...], bool]:
    """Return the metrics of the runs, and whether the one that is asked for is a percentile that is not stored, which
    is then the last of them."""
    stored = metrics_of(selection.runs)
    computed = percentile_choice(selection.metric, stored) if stored else None
    return (*stored, *([computed] if computed else [])), computed is not None


def _reference(chosen: Selection, known: Freshness) -> ReferenceRow | None:
    """Return the saved reference that is the baseline, if one is."""
    if not chosen.baseline.startswith(REFERENCE):
        return None
    return reference(chosen.baseline.removeprefix(REFERENCE), known.references)


def _reference_cells(chosen: Selection, line: ReferenceRow, computed: bool) -> Cells:
    """Return a saved reference as one more series: those of its pinned attempts that the filters let through, at the
    levels of the present x and panel; and the dimensions that vary within its cells. Filters by what it differs in from
    the other series are not for it."""
    levels = _parts(line.dimensions, line.series)
    names = dimensions(line.dimensions)
    its_own = {"run", *names, *(BUILDS if BUILDS & set(names) else ())}
    filters = {name: texts for name, texts in chosen.filters.items() if name not in its_own}
    rows = passing(configurations(line.runs), _of_configurations(filters))
    filters |= {name: (levels[name],) for name in OWN if name in levels}
    own = replace(chosen, series="", filters=filters)
    return cells_of(own, rows, computed, line.attempts).renamed(chosen.baseline)


def _environments(cells: Cells, bases: Mapping[Key, Key], chosen: Selection) -> tuple[list[Pair], Mapping[Key, Side]]:
    """Return of each cell that is compared with another what else differs between the two, and both their sides."""
    compared = {key: base for key, base in bases.items() if base != key}
    names = (chosen.panel, chosen.x, chosen.series or "")
    parts = [
        {text: _parts(name, text) for text in texts} for name, texts in zip(names, cells.axes(chosen), strict=True)
    ]
    sides = {}
    for key in dict.fromkeys((*compared, *compared.values())):
        panel, x, series = (levels[text] for levels, text in zip(parts, key, strict=True))
        fields = cells.fields[key]
        sides[key] = Side(fields.attempt_id, fields.trial_id, levels=x | series | panel)
    environments = EnvironmentComparison(chain.from_iterable(side.attempts for side in sides.values()))
    pairs = [Pair(key, base, environments.difference(sides[base], sides[key])) for key, base in compared.items()]
    return pairs, sides


def _parts(axis: str, text: str) -> dict[str, str]:
    """Return the level of each dimension that an axis is made of."""
    names, parts = dimensions(axis), text.split(JOINT)
    return dict(zip(names, parts, strict=True)) if len(parts) == len(names) else {axis: text}


def _verdicts(samples: Mapping[Key, Sample], pairs: Sequence[Pair], metric: MetricRow) -> dict[Key, Verdict]:
    questions = [
        Question(
            base=samples[pair.base],
            other=samples[pair.key],
            better=Better(metric.better),
            minimum_effect=metric.minimum_effect,
            comparable=pair.difference.comparable,
        )
        for pair in pairs
    ]
    return {pair.key: verdict for pair, verdict in zip(pairs, judge(questions), strict=True)}


def _points(
    cells: Cells, bases: Mapping[Key, Key], verdicts: Mapping[Key, Verdict], statistic: str
) -> tuple[Point, ...]:
    apart = outliers([sample.values for sample in cells.samples.values()])
    statistics = {key: _statistics(sample.values) for key, sample in cells.samples.items()}
    points = []
    for (key, replicates), indexes in zip(cells.replicates.items(), apart, strict=True):
        panel, x, series = key
        base, own = bases.get(key), statistics[key]
        divisor = statistics[base][statistic] if base else 0.0
        points.append(
            Point(
                x=x,
                series=series,
                panel=panel,
                value=own[statistic],
                median=own["median"],
                mean=own["mean"],
                minimum=own["min"],
                maximum=own["max"],
                values=replicates,
                configurations=cells.configurations[key],
                base=base,
                ratio=own[statistic] / divisor if divisor else None,
                verdict=verdicts.get(key),
                outliers=tuple(replicates[index].trial_id for index in indexes),
            )
        )
    return tuple(points)


def _statistics(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    middle, odd = divmod(len(ordered), 2)
    return {
        "median": ordered[middle] if odd else (ordered[middle - 1] + ordered[middle]) / 2,
        "mean": math.fsum(values) / len(values),
        "min": ordered[0],
        "max": ordered[-1],
    }


def _warnings(cells: Cells, published: Set[int]) -> list[RunWarning]:
    """Return the runs that drift, or in which the place within a block matters.

    published: runs that have no order."""
    by_run: dict[int, list[tuple[int, int, int, float]]] = {}
    lines = 0  # so many configurations in cells, each of which has a level of its own
    for key, replicates in cells.replicates.items():
        if key[2].startswith(REFERENCE):  # of a shown run its trials are the same again
            continue
        line_of: dict[int, int] = {}
        for r in replicates:
            line = lines + line_of.setdefault(r.configuration_id, len(line_of))
            by_run.setdefault(r.run_id, []).append((line, r.block, r.position, r.value))
        lines += len(line_of)
    warnings = []
    for run_id in sorted(by_run.keys() - published):
        seen = drift(*zip(*by_run[run_id], strict=True))
        for kind, matters, change, p in (
            ("drift", seen.drifts, seen.change, seen.p),
            ("order", seen.order_matters, seen.order_change, seen.order_p),
        ):
            if matters and change is not None and p is not None:
                warnings.append(RunWarning(run_id, kind, change, p, seen.trials))
    return warnings


def _excluded(rows: Sequence[ConfigurationRow], cells: Cells) -> dict[str, int]:
    """Return how many trials are in no cell, by state; `without`: done, but without the metric."""
    counts = {state: sum(getattr(row, state) for row in rows) for state in STATES}
    ids = {row.id for row in rows}
    measured: set[int] = set()
    for fields in cells.fields.values():
        measured.update(compress(fields.trial_id, map(ids.__contains__, fields.configuration_id)))
    return {state: counts[state] for state in STATES[1:]} | {"without": counts["done"] - len(measured)}
