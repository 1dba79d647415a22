"""Store the noise of an A/A run, whose configurations occur twice: how much each metric spreads."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from results import models, sql
from results.domain.statistics.difference import Sample, differences
from results.domain.statistics.power import FEWEST


@dataclass(frozen=True)
class AaPair:
    """The values of one metric in two configurations of an A/A run that are the same.

    blocks, twin_blocks: the block of each value
    """

    configuration: int
    twin: int
    metric: str
    node: str
    label: str
    values: tuple[float, ...]
    blocks: tuple[int, ...]
    twin_values: tuple[float, ...]
    twin_blocks: tuple[int, ...]

    @property
    def samples(self) -> tuple[Sample, Sample]:
        return (
            Sample(self.values, tuple((1, block) for block in self.blocks)),
            Sample(self.twin_values, tuple((1, block) for block in self.twin_blocks)),
        )


@transaction.atomic
def store_noise(run_id: int) -> int:
    """Store the spreads of a run's A/A pairs anew; return how many. A metric with values of zero or less has none."""
    models.Noise.objects.filter(run_id=run_id).delete()
    pairs = sql.rows(AaPair, sql.load(__file__), {"run_id": run_id, "fewest": FEWEST})
    if not pairs:
        return 0
    result = differences([pair.samples for pair in pairs])
    columns = zip(result.spread.tolist(), result.used.tolist(), result.logarithmic.tolist(), strict=True)
    noise: list[models.Noise] = []
    for pair, (spread, replicates, logarithmic) in zip(pairs, columns, strict=True):
        if logarithmic:
            noise.append(_noise(run_id, pair, spread, replicates))
    return len(models.Noise.objects.bulk_create(noise))


def _noise(run_id: int, pair: AaPair, spread: float, replicates: int) -> models.Noise:
    return models.Noise(
        run_id=run_id,
        configuration_id=pair.configuration,
        twin_id=pair.twin,
        metric_id=pair.metric,
        node=pair.node,
        label=pair.label,
        spread=spread,
        replicates=replicates,
    )
