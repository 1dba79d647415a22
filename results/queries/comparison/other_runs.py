"""What other runs of the same plans measured of the same configurations: how far the levels of runs lie apart, and how
much single values vary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, NamedTuple

from results.domain.statistics.borrowing import own_variances
from results.domain.statistics.difference import Noise, RunMean, Sample, apart
from results.domain.statistics.run_levels import run_mean
from results.queries.comparison.cells import chosen_fields, joined_fields, sample_of
from results.queries.comparison.family import UnitPair
from results.queries.comparison.freshness import Freshness
from results.queries.comparison.units import Unit
from results.queries.shared.configurations import ConfigurationRow

Same = tuple[frozenset[tuple[str, str]], str, str]  # what is alike of those that are the same but for their run
FEWEST_FREEDOM = 4  # degrees of freedom from which earlier runs say how much values vary
Measured = Callable[[Sequence[int]], Sequence[Unit]]


@dataclass(frozen=True)
class OtherRuns:
    """What the verdicts of a comparison rest on besides the runs compared.

    samples: of configurations that other runs measured too, their values with what those say.
    levels: runs that say how far the levels of runs lie apart.
    noise: earlier runs that say how much single values vary."""

    samples: Mapping[Unit, Sample]
    levels: tuple[int, ...] = ()
    noise: tuple[int, ...] = ()


def other_runs(family: Sequence[UnitPair], units: Sequence[Unit], known: Freshness, measured: Measured) -> OtherRuns:
    """Return what other runs say of the configurations compared. Two queries where there are any.

    units: all that the runs compared measured; they are other runs of one another.
    measured: what runs measured of the metric asked for; two queries."""
    if not family:
        return OtherRuns({})
    compared = {row.run_id for unit in units for row in unit.rows}
    across = _units(pair for pair in family if _apart(pair))
    levels = set(known.others) - compared if across else set[int]()
    earlier = set(known.earlier) - compared
    beside = measured(sorted(levels | earlier)) if levels | earlier else ()
    noise = _noise(beside, earlier)
    samples = _with_noise(_units(family), noise)
    samples |= _with_levels(across, samples, _means((*units, *beside), levels | compared) if across else {})
    return OtherRuns(samples, levels=_runs_of_means(samples.values()), noise=_runs_of_noise(samples, noise))


def _runs_of_means(samples: Iterable[Sample]) -> tuple[int, ...]:
    return tuple(sorted({mean.run for sample in samples for mean in sample.other_runs}))


def _with_levels(
    units: Iterable[Unit], samples: Mapping[Unit, Sample], means: Mapping[Same, Mapping[int, RunMean]]
) -> dict[Unit, Sample]:
    """Return the values of the configurations, with the means of other runs."""
    return {unit: replace(samples.get(unit, unit.sample), other_runs=_beside(unit, means)) for unit in units}


def _runs_of_noise(samples: Iterable[Unit], noise: Mapping[Same, _EarlierNoise]) -> tuple[int, ...]:
    known = [noise.get(_same(unit, unit.rows[0])) for unit in samples] if noise else []
    return tuple(sorted({run for one in known if one for run in one.runs}))


def _with_noise(units: Iterable[Unit], noise: Mapping[Same, _EarlierNoise]) -> dict[Unit, Sample]:
    """Return the values of the configurations whose noise is known, with it."""
    known = {unit: noise.get(_same(unit, unit.rows[0])) for unit in units} if noise else {}
    return {unit: replace(unit.sample, earlier_noise=own.noise) for unit, own in known.items() if own}


def _units(pairs: Iterable[UnitPair]) -> dict[Unit, None]:
    return dict.fromkeys(chain.from_iterable((*pair.bases, *pair.others) for pair in pairs))


def _apart(pair: UnitPair) -> bool:
    return any(apart(base.sample, other.sample) for base, other in product(pair.bases, pair.others))


def _means(units: Iterable[Unit], runs: Set[int]) -> dict[Same, dict[int, RunMean]]:
    """Return of each configuration the mean of each of these runs that measured it, without a value of zero or
    below."""
    means: dict[Same, dict[int, RunMean]] = defaultdict(dict)
    for (same, _), fields in _by_configuration(units, runs).items():
        values: dict[int, list[float]] = defaultdict(list)
        for run, value in zip(fields.run_id, fields.value, strict=True):
            values[run].append(value)
        means[same] |= {run: run_mean(run, own) for run, own in values.items() if min(own) > 0}
    return means


class _EarlierNoise(NamedTuple):
    noise: Noise
    runs: frozenset[int]  # that say it


def _noise(units: Iterable[Unit], runs: Set[int]) -> dict[Same, _EarlierNoise]:
    """Return of each configuration how much its values varied within these runs, all together."""
    by_configuration = _by_configuration(units, runs)
    samples = [sample_of(fields, part) for (_, part), fields in by_configuration.items()]
    variances, freedom = own_variances(samples)
    each = zip(by_configuration.items(), variances.tolist(), freedom.tolist(), strict=True)
    return {
        same: _EarlierNoise(Noise(variance, free), frozenset(fields.run_id))
        for ((same, _), fields), variance, free in each
        if free > FEWEST_FREEDOM
    }


def _by_configuration(units: Iterable[Unit], runs: Set[int]) -> dict[tuple[Same, tuple[str, str]], Any]:
    """Return the fields, see `fields_of`, of what these runs measured of each configuration and part."""
    by_configuration: dict[tuple[Same, tuple[str, str]], list[Any]] = defaultdict(list)
    for unit in units:
        same_of = {row.id: _same(unit, row) for row in unit.rows}
        fields = chosen_fields(unit.fields, [*map(runs.__contains__, unit.fields.run_id)])
        if len({*same_of.values()}) == 1 and fields.value:
            by_configuration[same_of[unit.rows[0].id], unit.part].append(fields)
            continue
        own = [same_of[configuration] for configuration in fields.configuration_id]
        for same in dict.fromkeys(own):
            by_configuration[same, unit.part].append(chosen_fields(fields, [one == same for one in own]))
    return {key: joined_fields(several) for key, several in by_configuration.items()}


def _beside(unit: Unit, known: Mapping[Same, Mapping[int, RunMean]]) -> tuple[RunMean, ...]:
    own = set(unit.fields.run_id)
    means = {run: mean for row in unit.rows for run, mean in known.get(_same(unit, row), {}).items() if run not in own}
    return tuple(means[run] for run in sorted(means))


def _same(unit: Unit, row: ConfigurationRow) -> Same:
    return row.besides_run, unit.node, unit.label
