"""Noise: how much metrics spread where nothing differs, as A/A runs told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from results import sql
from results.domain.statistics.power import detectable, replicates_needed
from results.queries.shared.words import as_messages

USUAL_REPLICATES = 5


@dataclass(frozen=True)
class NoiseRow:
    """One metric of two configurations of a run that are the same.

    spread: standard deviation of single values, as a share (0.02 = 2 %), of `replicates` pairs.
    trial_ids: all trials it was computed from.
    agents: role → name."""

    id: int
    run_id: int
    workload: str
    agents: Mapping[str, str]
    configuration: str
    twin: str
    metric: str
    unit: str
    node: str
    label: str
    spread: float
    replicates: int
    trial_ids: tuple[int, ...]

    @property
    def detectable(self) -> float | None:
        """The smallest difference that five replicates show in four of five cases."""
        return detectable(self.spread, USUAL_REPLICATES)


@dataclass(frozen=True)
class AgentNoise:
    """One metric over the configurations of an agent's latest A/A run of a workload.

    spread: their median.
    largest: the widest.
    title: the metric's label.
    directed: whether more or less of it is better."""

    run_id: int
    workload: str
    ended_at: datetime | None
    metric: str
    title: str
    directed: bool
    node: str
    label: str
    spread: float
    largest: float
    configurations: int
    replicates: int
    minimum_effect: float

    def __post_init__(self) -> None:
        as_messages(self, "title")

    @property
    def detectable(self) -> float | None:
        return detectable(self.spread, USUAL_REPLICATES)


@dataclass(frozen=True)
class Expected:
    """What the noise of an A/A run lets a plan show.

    spread: the median of its configurations.
    node, label: of a metric that has several, and no total, the ones that spread most, of so many `kinds`."""

    run_id: int
    metric: str
    node: str
    label: str
    kinds: int
    spread: float
    configurations: int
    minimum_effect: float

    def detectable(self, replicates: int) -> float | None:
        """The smallest difference that so many blocks show in four of five cases."""
        return detectable(self.spread, replicates)

    @property
    def needed(self) -> int | None:
        """Blocks that show the metric's smallest difference that matters."""
        return replicates_needed(self.spread, self.minimum_effect)


def list_noise(ids: Sequence[int]) -> list[NoiseRow]:
    """Newest run first. One query."""
    return sql.rows(NoiseRow, _ROWS, {"ids": list(ids)})


def agent_noise(agent: str) -> list[AgentNoise]:
    """Of the agent's latest A/A run of each workload, its first metric first. One query."""
    return sql.rows(AgentNoise, sql.load(__file__, "agent_noise"), {"agent": agent})


def expected_noise(workload: str, metric: str, agents: Mapping[str, str]) -> Expected | None:
    """Of the latest A/A run of the workload on these agents in these roles, None where there was none. One query.

    The agents of an imported run are others, whatever they are called."""
    pairs = [f"{role} {agent}" for role, agent in agents.items()]
    rows = sql.rows(Expected, _EXPECTED, {"workload": workload, "metric": metric, "agents": pairs})
    return rows[0] if rows else None


_ROWS = """
SELECT noise.id, noise.run_id, run.workload, configuration.spec::json -> 'agents' AS agents,
    configuration.name AS configuration, twin.name AS twin, noise.metric_id AS metric, metric.unit,
    noise.node, noise.label, noise.spread, noise.replicates,
    ARRAY(
        SELECT trial.id FROM results_trial AS trial
        WHERE trial.configuration_id IN (noise.configuration_id, noise.twin_id) AND trial.state = 'done'
        ORDER BY trial.block, trial.position
    ) AS trial_ids
FROM results_noise AS noise
JOIN results_run AS run ON run.id = noise.run_id
JOIN results_configuration AS configuration ON configuration.id = noise.configuration_id
JOIN results_configuration AS twin ON twin.id = noise.twin_id
JOIN results_metric AS metric ON metric.name = noise.metric_id
WHERE noise.id = ANY(%(ids)s)
ORDER BY noise.id DESC
"""

_EXPECTED = """
SELECT noise.run_id, noise.metric_id AS metric, noise.node, noise.label,
    count(*) OVER (PARTITION BY noise.run_id, noise.label = '', noise.node = '') AS kinds,
    count(*) AS configurations, metric.minimum_effect,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY noise.spread) AS spread
FROM results_noise AS noise
JOIN results_run AS run ON run.id = noise.run_id
JOIN results_configuration AS configuration ON configuration.id = noise.configuration_id
JOIN results_metric AS metric ON metric.name = noise.metric_id
WHERE NOT EXISTS (SELECT FROM results_runimport WHERE run_id = run.id)
    AND run.workload = %(workload)s AND run.standing <> 'excluded' AND NOT run.private AND noise.metric_id = %(metric)s
    AND (SELECT array_agg(key || ' ' || value) FROM jsonb_each_text(configuration.spec -> 'agents'))
        <@ %(agents)s::text[]
GROUP BY noise.run_id, noise.metric_id, noise.node, noise.label, metric.minimum_effect
ORDER BY noise.run_id DESC, noise.label <> '', noise.node <> '', spread DESC
LIMIT 1
"""
