"""The verb on noise: keeps how much each metric spreads in a run whose configurations occur twice (`plan.aa`)."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from results import models, sql
from results.domain.statistics.difference import Sample, differences
from results.domain.statistics.power import FEWEST


@dataclass(frozen=True)
class Twins:
    """One metric of two configurations that run the same."""

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
    def sides(self) -> tuple[Sample, Sample]:
        return (
            Sample(self.values, tuple((1, block) for block in self.blocks)),
            Sample(self.twin_values, tuple((1, block) for block in self.twin_blocks)),
        )


@transaction.atomic
def keep(run_id: int) -> int:
    """Stores the spreads of a run's twins anew; how many. Metrics with values that are not above zero have none."""
    models.Noise.objects.filter(run_id=run_id).delete()
    twins = sql.rows(Twins, sql.load(__file__), {"run_id": run_id, "fewest": FEWEST})
    if not twins:
        return 0
    found = differences([one.sides for one in twins])
    kept = models.Noise.objects.bulk_create(
        models.Noise(
            run_id=run_id,
            configuration_id=one.configuration,
            twin_id=one.twin,
            metric_id=one.metric,
            node=one.node,
            label=one.label,
            spread=spread,
            replicates=used,
        )
        for one, spread, used, logarithmic in zip(
            twins, found.spread.tolist(), found.used.tolist(), found.logarithmic.tolist(), strict=True
        )
        if logarithmic
    )
    return len(kept)
