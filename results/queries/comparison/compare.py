"""The comparison: one metric over one dimension, a series for each value of another, a panel for each of a third."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, compress

import numpy as np

from results.domain.statistics.drift import drift
from results.domain.statistics.outliers import outliers
from results.domain.statistics.verdict import Verdict
from results.queries.comparison.baselines import (
    CELL,
    REFERENCE,
    baseline_of,
    baseline_of_reference,
    matched,
    own_dimensions,
    unmatched,
    wanted_bases,
)
from results.queries.comparison.cells import (
    Comparison,
    Key,
    Point,
    Replicate,
    RunWarning,
    Summary,
    Unmatched,
)
from results.queries.comparison.family import family_of
from results.queries.comparison.freshness import Freshness, freshness
from results.queries.comparison.judging import Judged, judged
from results.queries.comparison.label_order import label_order
from results.queries.comparison.other_runs import other_runs
from results.queries.comparison.references import ReferenceRow, reference
from results.queries.comparison.replicates import OWN, Cells, cells_of
from results.queries.comparison.summaries import summaries, summed_up
from results.queries.comparison.units import Unit, newest_within_bounds, units_of
from results.queries.shared.composites import Parts, composite_parts
from results.queries.shared.configurations import STATES, ConfigurationRow, configurations
from results.queries.shared.facets import Filters, MetricChoice, facets, metrics_of, passing, percentile_choice
from results.queries.shared.metrics import MetricRow, unknown
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.selection import (
    IMPORTED,
    JOINT,
    PUBLISHED,
    Selection,
    complete,
    default_baseline,
    dimensions,
    first_choice,
)

__all__ = ["Comparison", "Point", "Replicate", "RunWarning", "Summary", "Unmatched", "compare"]


def compare(selection: Selection, known: Freshness | None = None, *, mixtures: bool = False) -> Comparison:
    """Return the answer to a selection. Five queries whatever the number of trials, one less where `freshness` of the
    runs is known already and where nothing has a baseline, three more for a reference as the baseline. Raises
    TeitenError that names an unknown x, series, metric, filter or baseline, or several nodes or labels in one cell.
    Two queries more where other runs of the same plans say something: earlier ones, or any where what is compared was
    measured in different runs.

    mixtures: cells may hold several configurations; else what would be mixed is filtered by its first level."""
    known = known or freshness(selection.runs)
    rows = configurations(selection.runs)
    parts = composite_parts(rows)
    metrics, computed = _metrics(selection)
    every = facets(rows, {})
    first = first_choice(selection.runs, every, metrics, rows, parts)
    chosen = complete(selection, first, every, metrics)
    metric = next((choice.row() for choice in metrics if choice.name == chosen.metric), unknown(chosen.metric))
    units = units_of(chosen, metric, rows, parts, computed)
    factors = set[str]() if mixtures else {name for row in rows for name in row.levels}
    chosen, cells = _unmixed(chosen, units, parts, factors)
    line = _reference(chosen, known)
    saved = _reference_units(chosen, metric, line, parts, computed)
    cells = cells.joined(_reference_cells(chosen, line, saved, parts))
    panels, xs, series = cells.axes(chosen, label_order(chosen, metric, units))
    cells = cells.ordered(panels, xs, series)
    standard = _standard_baseline(selection, chosen, xs, series, cells)
    chosen = replace(chosen, baseline=chosen.baseline or standard)
    wanted = wanted_bases(cells.units, chosen, series)
    bases = matched(wanted)
    baseline = baseline_of_reference(chosen, line) if line else baseline_of(chosen, cells.units, bases)
    family = family_of(chosen, units, saved, baseline, parts)
    others = other_runs(
        family,
        (*units, *saved),
        known,
        lambda beside: units_of(chosen, metric, newest_within_bounds(configurations(beside)), parts, computed),
    )
    answers = judged(chosen, family, baseline, cells, bases, metric, parts, others.samples)
    points = _points(cells, bases, answers, chosen.statistic)
    filters = _of_configurations(chosen.filters)
    return Comparison(
        selection=chosen,
        first=replace(first, baseline=standard),
        metric=metric,
        xs=xs,
        series=series,
        panels=panels,
        points=points,
        summaries=tuple(summaries(points, cells.samples, summed_up(xs, chosen, metric))),
        mixed=cells.mixed,
        excluded=_excluded(passing(rows, filters), cells),
        facets=tuple(facets(rows, filters) if filters else every),
        metrics=metrics,
        unmatched=unmatched(wanted, series),
        warnings=tuple(_warnings(cells, _published(rows))),
        references=known.references,
        environment=answers.environment,
        lost=line.lost if line else (),
        family=answers.family,
        other_runs=others.levels,
        earlier_runs=others.noise,
        left_out=answers.left_out,
    )


def _standard_baseline(
    asked: Selection, chosen: Selection, xs: Sequence[str], series: Sequence[str], cells: Cells
) -> str:
    """Return what ratios refer to where nobody says it; of a single line that nobody asked for, its first cell."""
    if chosen.series:
        count = Counter(name for _, _, name in cells.units)
        return default_baseline({name: count[name] for name in series if not name.startswith(REFERENCE)}, chosen.series)
    return f"{CELL}{xs[0]}".strip() if asked.series is None and len(xs) > 1 else ""


def _unmixed(chosen: Selection, units: Sequence[Unit], parts: Parts, factors: Set[str]) -> tuple[Selection, Cells]:
    """Return the selection with a filter by the first level of each of these factors that would be mixed within cells
    and that nobody filters by, where cells are compared at all; and the cells. Who wants a mixture names its levels."""
    cells = cells_of(chosen, units, parts)
    while chosen.series or chosen.baseline:
        name = next((name for name in cells.mixed if name in factors and name not in chosen.filters), None)
        if name is None:
            break
        levels = sorted_levels({unit.level(name) for own in cells.units.values() for unit in own}, name)
        chosen = replace(chosen, filters={**chosen.filters, name: levels[:1]})
        cells = cells_of(chosen, units, parts)
    return chosen, cells


def _published(rows: Sequence[ConfigurationRow]) -> set[int]:
    """Return the runs of figures that were not measured here."""
    return {row.run_id for row in rows if PUBLISHED in row.texts or IMPORTED in row.texts}


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


def _reference_units(
    chosen: Selection, metric: MetricRow, line: ReferenceRow | None, parts: Parts, computed: bool
) -> tuple[Unit, ...]:
    """Return what the pinned attempts of a saved reference measured."""
    if line is None:
        return ()
    return units_of(replace(chosen, series=""), metric, configurations(line.runs), parts, computed, line.attempts)


def _reference_cells(chosen: Selection, line: ReferenceRow | None, saved: Sequence[Unit], parts: Parts) -> Cells:
    """Return a saved reference as one more series: what the filters let through, at the levels of the present x and
    panel; and the dimensions that vary within its cells. Filters by what it differs in from the other series are not
    for it."""
    if line is None:
        return Cells({}, ())
    names, levels = dimensions(line.dimensions), line.series.split(JOINT)
    at = dict(zip(names, levels, strict=True)) if len(names) == len(levels) else {}
    its_own = own_dimensions(line)
    filters = {name: texts for name, texts in chosen.filters.items() if name not in its_own}
    filters |= {name: (at[name],) for name in OWN if name in at}
    return cells_of(replace(chosen, series="", filters=filters), saved, parts).renamed(chosen.baseline)


def _points(cells: Cells, bases: Mapping[Key, Key], answers: Judged, statistic: str) -> tuple[Point, ...]:
    apart = outliers([sample.values for sample in cells.samples.values()])
    statistics = {key: _statistics(sample.values) for key, sample in cells.samples.items()}
    alone = Counter((one.panel, one.x, one.series) for one in answers.left_out if one.lacks == "baseline")
    points = []
    for (key, replicates), indexes in zip(cells.replicates.items(), apart, strict=True):
        panel, x, series = key
        base, own, verdict = bases.get(key), statistics[key], answers.verdicts.get(key)
        count = len(cells.units[key])
        point = Point(
            x=x,
            series=series,
            panel=panel,
            value=own[statistic],
            median=own["median"],
            mean=own["mean"],
            minimum=own["min"],
            maximum=own["max"],
            values=replicates,
            configurations=count,
            base=base,
            ratio=_ratio(verdict, key == base and own[statistic] != 0),
            verdict=verdict,
            outliers=tuple([replicates[index].trial_id for index in indexes]),
            compared=count - alone[key] if verdict else None,
        )
        point.__dict__["fields"] = cells.fields[key]  # its cached property
        points.append(point)
    return tuple(points)


def _ratio(verdict: Verdict | None, is_base: bool) -> float | None:
    """Return the one that was judged; 1 for a cell that is its own base."""
    if verdict is None:
        return 1.0 if is_base else None
    return verdict.ratio


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
    # of a shown run the trials of a reference are the same again
    fields_of_cells = [fields for key, fields in cells.fields.items() if not key[2].startswith(REFERENCE)]
    cell = np.repeat(np.arange(len(fields_of_cells)), [len(fields.value) for fields in fields_of_cells])
    run, configuration, block, position, value = (
        np.array(list(chain.from_iterable(getattr(fields, name) for fields in fields_of_cells)))
        for name in ("run_id", "configuration_id", "block", "position", "value")
    )
    line = cell * (configuration.max(initial=0) + 1) + configuration  # each configuration of a cell has its own level
    warnings = []
    for run_id in sorted({*run.tolist()} - published):
        own = run == run_id
        seen = drift(line[own], block[own], position[own], value[own])
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
        if ids.issuperset(fields.configuration_id):
            measured.update(fields.trial_id)
        else:
            measured.update(compress(fields.trial_id, map(ids.__contains__, fields.configuration_id)))
    return {state: counts[state] for state in STATES[1:]} | {"without": counts["done"] - len(measured)}
