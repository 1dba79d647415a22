"""Values of attempts on their way into the warehouse: the row of an attempt, and the measures that it names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from results import reading, sql

Key = tuple[str, str, str]  # metric, node, label


class _Measure(NamedTuple):
    id: int
    metric_id: str
    node: str
    label: str


# the metrics are locked, so that nobody forgets one whose value is being stored
_KNOWN = """
SELECT measure.id, measure.metric_id, measure.node, measure.label
FROM unnest(%(metrics)s::text[], %(nodes)s::text[], %(labels)s::text[]) AS given (metric_id, node, label)
JOIN results_measure AS measure USING (metric_id, node, label)
JOIN results_metric AS metric ON metric.name = measure.metric_id
FOR KEY SHARE OF metric
"""
# in one order, so that two who store the same at once do not wait for each other
_NEW = """
INSERT INTO results_measure (metric_id, node, label)
SELECT * FROM unnest(%(metrics)s::text[], %(nodes)s::text[], %(labels)s::text[]) AS given (metric_id, node, label)
ORDER BY metric_id, node, label
ON CONFLICT DO NOTHING
"""


def store_values(attempts: Iterable[tuple[int, int, Mapping[Key, float]]]) -> None:
    """COPY the values of attempts, (run, attempt, its values in the order to keep), whose metrics are stored,
    inside the current transaction."""
    with_values = [one for one in attempts if one[2]]
    ids = _ids({key for _, _, values in with_values for key in values})
    records = (
        (run_id, attempt_id, [ids[key] for key in values], list(values.values()))
        for run_id, attempt_id, values in with_values
    )
    sql.copy("results_attemptvalues", ("run_id", "attempt_id", "measures", "values"), records)


def _ids(keys: Collection[Key]) -> dict[Key, int]:
    """Return the ids of measures, of which those that are new are stored."""
    reading.from_primary()
    known = _known(keys)
    if new := keys - known.keys():
        sql.execute(_NEW, _columns(new))
        known |= _known(new)
    return known


def _known(keys: Collection[Key]) -> dict[Key, int]:
    return {one[1:]: one.id for one in sql.tuples(_Measure, _KNOWN, _columns(keys))}


def _columns(keys: Collection[Key]) -> dict[str, Sequence[str]]:
    return {name: [key[at] for key in keys] for at, name in enumerate(("metrics", "nodes", "labels"))}
