"""The verdicts of a view's cells: those that their configurations have among all that was measured of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from results.domain.environment.difference import EnvironmentDifference, KeyJudgement, merged, ranked
from results.domain.environment.rules import PLAN, Cause
from results.domain.kinds.parameter_names import parameter_level
from results.domain.measurement.metrics import Better
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.difference import Sample
from results.domain.statistics.verdict import Question, Verdict, judge
from results.queries.comparison.baselines import Baseline
from results.queries.comparison.cells import Key, LeftOut, sample_of
from results.queries.comparison.family import UnitPair, left_out, pairs_of_cells
from results.queries.comparison.replicates import Cells, replicate_fields_of
from results.queries.comparison.units import RUN, Unit
from results.queries.environment.environments import (
    EnvironmentComparison,
    Pair,
    SeriesEnvironment,
    Side,
    environments_of,
    series_environments,
)
from results.queries.shared.composites import Parts
from results.queries.shared.metrics import MetricRow
from results.queries.shared.selection import JOINT, Selection, dimensions

_NOTHING_IN_COMMON = KeyJudgement(
    "",
    PLAN,
    "configurations",
    (),
    (),
    Cause.CONFOUNDER,
    _("The two sides have no configuration in common: each was measured under conditions that the other was not."),
    warn=True,
)
_LEFT_OUT = _("The other side lacks them: neither the ratio nor the verdict speaks of them.")


@dataclass(frozen=True)
class Judged:
    """verdicts: of each cell that is compared with another.
    environment: what differs besides, of each series against its base.
    family: pairs of configurations that were judged together.
    left_out: configurations within these cells that are not compared."""

    verdicts: Mapping[Key, Verdict]
    environment: tuple[SeriesEnvironment, ...]
    family: int = 0
    left_out: tuple[LeftOut, ...] = ()


def judged(
    chosen: Selection,
    family: Sequence[UnitPair],
    baseline: Baseline,
    cells: Cells,
    bases: Mapping[Key, Key],
    metric: MetricRow,
    parts: Parts,
    samples: Mapping[Unit, Sample],
) -> Judged:
    """Judge the whole family, whatever the view shows of it. A cell of one configuration has the verdict of that; one
    of several is compared with its base configuration by configuration. One query, none without bases.

    bases: of each cell that has one, itself included.
    samples: of units where they are more than their values: with what other runs measured of the same."""
    compared = {key: base for key, base in bases.items() if base != key}
    if not compared:
        return Judged({}, ())
    sides = _sides(chosen, cells, compared)
    environments = EnvironmentComparison(
        environments_of(list(dict.fromkeys(_attempts(family, sides.values())))),
        parts,
        client_overhead=metric.client_overhead,
    )
    return judged_sides(chosen, family, baseline, cells, compared, sides, environments, metric, samples)


def judged_sides(
    chosen: Selection,
    family: Sequence[UnitPair],
    baseline: Baseline,
    cells: Cells,
    compared: Mapping[Key, Key],
    sides: Mapping[Key, Side],
    environments: EnvironmentComparison,
    metric: MetricRow,
    samples: Mapping[Unit, Sample],
) -> Judged:
    """Judge as `judged` does, where the environments are read already. No query.

    compared: of each cell the one that it is compared with.
    sides: what is behind each cell."""
    difference_of = {pair: _pair_difference(pair, baseline, environments) for pair in family}
    of_cells = pairs_of_cells(family, cells.units, compared)
    cell_pairs, alone = [], []
    for key, pairs in of_cells.items():
        of_pairs = [difference_of.get(pair) or _pair_difference(pair, baseline, environments) for pair in pairs]
        difference = _difference(of_pairs, sides[compared[key]], sides[key], environments)
        of_cell = _left_out(chosen, key, compared[key], pairs, cells)
        cell_pairs.append(Pair(key, compared[key], _with_left_out(difference, of_cell)))
        alone += of_cell
    questions = {pair: _question(pair, baseline, difference_of[pair].comparable, metric, samples) for pair in family}
    verdicts = _verdicts(questions, cell_pairs, of_cells, cells, metric, samples)
    family_size = sum(one.comparable for one in questions.values())
    return Judged(verdicts, series_environments(cell_pairs, sides), family_size, tuple(alone))


def _verdicts(
    asked: Mapping[UnitPair, Question],
    cell_pairs: Sequence[Pair],
    of_cells: Mapping[Key, Sequence[UnitPair]],
    cells: Cells,
    metric: MetricRow,
    samples: Mapping[Unit, Sample],
) -> dict[Key, Verdict]:
    """Return the verdict of each cell.

    asked: the family.
    cell_pairs: what differs besides between each cell and its base."""
    whole = {key: pairs[0] for key, pairs in of_cells.items() if len(pairs) == 1 and pairs[0] in asked}
    beside = {
        one.key: _mixture(one, of_cells[one.key], cells, metric, samples) for one in cell_pairs if one.key not in whole
    }
    verdicts = judge(tuple(asked.values()), beside=tuple(beside.values()))
    of_pair = dict(zip(asked, verdicts, strict=False))
    of_mixture = dict(zip(beside, verdicts[len(asked) :], strict=True))
    return {key: of_pair[whole[key]] if key in whole else of_mixture[key] for key in of_cells}


def _sides(chosen: Selection, cells: Cells, compared: Mapping[Key, Key]) -> dict[Key, Side]:
    """Return what is behind each cell, at the levels that the view tells it by."""
    names = (chosen.panel, chosen.x, chosen.series or "")
    axes = [
        {text: _levels(name, text) for text in texts} for name, texts in zip(names, cells.axes(chosen), strict=True)
    ]
    sides = {}
    for key in dict.fromkeys((*compared, *compared.values())):
        panel, x, series = (levels[text] for levels, text in zip(axes, key, strict=True))
        sides[key] = side_of(cells.units[key], x | series | panel)
    return sides


def levels_of(chosen: Selection, key: Key) -> dict[str, str]:
    """Return the levels of the dimensions by which a view tells a cell from others."""
    panel, x, series = map(_levels, (chosen.panel, chosen.x, chosen.series or ""), key)
    return x | series | panel


def _levels(axis: str, text: str) -> dict[str, str]:
    """Return the level of each dimension that an axis is made of."""
    names, levels = dimensions(axis), text.split(JOINT)
    return dict(zip(names, levels, strict=True)) if len(levels) == len(names) else {axis: text}


def side_of(units: Sequence[Unit], levels: Mapping[str, str]) -> Side:
    """Return what is behind a cell.

    levels: of the dimensions by which a view tells it from others."""
    fields = replicate_fields_of(units)
    plans = tuple([row.texts for unit in units for row in unit.rows])
    return Side(fields.attempt_id, fields.trial_id, levels, plans)


def _attempts(family: Iterable[UnitPair], sides: Iterable[Side]) -> Iterable[int]:
    for pair in family:
        for unit in (*pair.bases, *pair.others):
            yield from unit.fields.attempt_id
    for side in sides:
        yield from side.attempts


def _pair_difference(pair: UnitPair, baseline: Baseline, environments: EnvironmentComparison) -> EnvironmentDifference:
    names = baseline.dimensions
    left = side_of(pair.bases, {name: pair.bases[0].level(name) for name in names})
    right = side_of(pair.others, {name: pair.others[0].level(name) for name in names})
    return environments.difference(left, right)


def _question(
    pair: UnitPair, baseline: Baseline, comparable: bool, metric: MetricRow, samples: Mapping[Unit, Sample]
) -> Question:
    return Question(
        base=_sample(pair.bases, samples),
        other=_sample(pair.others, samples),
        better=Better(metric.better),
        minimum_effect=metric.minimum_effect,
        comparable=comparable,
        side=tuple(map(pair.others[0].level, baseline.dimensions)),
        looks=_looks([pair]),
    )


def _looks(pairs: Sequence[UnitPair]) -> tuple[int, ...]:
    """Return how many replicates a side there were, each time that blocks were added to a run of theirs."""
    rows = {row.run_id: row for pair in pairs for unit in (*pair.bases, *pair.others) for row in unit.rows}
    looks = [(run, look) for run, row in rows.items() for look in row.looks]
    return tuple(
        sum(min(_count(side, run, look) for side in (pair.bases, pair.others)) for pair in pairs) for run, look in looks
    )


def _count(units: Sequence[Unit], run: int, look: int) -> int:
    """Return how many replicates there were when the run had so many blocks."""
    return sum(one.run_id != run or one.block <= look for unit in units for one in unit.replicates)


def _sample(units: Sequence[Unit], samples: Mapping[Unit, Sample]) -> Sample:
    if len(units) > 1:
        return sample_of(replicate_fields_of(units), units[0].part)
    return samples.get(units[0], units[0].sample)


def _difference(
    of_pairs: Sequence[EnvironmentDifference], base: Side, other: Side, environments: EnvironmentComparison
) -> EnvironmentDifference:
    """Return what differs between a cell and its base: over the configurations that both have, or, where they have none
    in common, over all."""
    if of_pairs:
        return merged(list({id(one): one for one in of_pairs}.values()))
    whole = environments.difference(base, other)
    if not whole.comparable:
        return whole
    return replace(whole, judgements=ranked((*whole.judgements, _NOTHING_IN_COMMON)))


def _left_out(chosen: Selection, key: Key, base: Key, pairs: Sequence[UnitPair], cells: Cells) -> list[LeftOut]:
    """Return the configurations of a cell and its base that are in none of their pairs, by what tells them apart."""
    sides = cells.units[base], cells.units[key]
    alone = left_out(pairs, *sides)
    if not any(alone):
        return []
    units = [*sides[0], *sides[1]]
    names = [*cells.mixed, *([RUN] if RUN in chosen.filters else [])]
    varied = _varying(units, names) or _varying(units, sorted(units[0].rows[0].texts))
    return [
        LeftOut(*key, lacks, {name: unit.level(name) for name in varied})
        for lacks, own in zip(("cell", "baseline"), alone, strict=True)
        for unit in own
    ]


def _varying(units: Sequence[Unit], names: Sequence[str]) -> list[str]:
    return [name for name in names if len({unit.level(name) for unit in units}) > 1]


def _with_left_out(difference: EnvironmentDifference, left_out: Sequence[LeftOut]) -> EnvironmentDifference:
    """Return what differs between a cell and its base, with the configurations that only one of them has."""
    if not left_out:
        return difference
    left, right = (tuple(_levels_text(one) for one in left_out if one.lacks == lacks) for lacks in ("cell", "baseline"))
    judgement = KeyJudgement("", PLAN, "configurations", left, right, Cause.NOTED, _LEFT_OUT, warn=True)
    return replace(difference, judgements=ranked((*difference.judgements, judgement)))


def _levels_text(one: LeftOut) -> str:
    return linked(COMMA, (parameter_level(name, level) for name, level in one.levels.items()))


def _mixture(
    one: Pair, pairs: Sequence[UnitPair], cells: Cells, metric: MetricRow, samples: Mapping[Unit, Sample]
) -> Question:
    """Return the question of a cell that holds other configurations than a pair of the family."""
    return Question(
        base=cells.samples[one.base],
        other=cells.samples[one.key],
        better=Better(metric.better),
        minimum_effect=metric.minimum_effect,
        comparable=one.difference.comparable,
        strata=tuple((_sample(pair.bases, samples), _sample(pair.others, samples)) for pair in pairs),
        looks=_looks(pairs),
    )
