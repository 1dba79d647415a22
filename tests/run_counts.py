"""The counts of runs that the warehouse keeps, and what they have to be."""

from __future__ import annotations

from django.db import connection

_KEPT = """
SELECT plan_id, name, workload, standing, archived, published, tags, agents, sum(runs)::int
FROM results_runcount
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
HAVING sum(runs) <> 0
ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
"""
_OF_ALL_RUNS = """
SELECT coalesce(run.plan_id, 0),
    CASE WHEN run.plan_id IS NULL AND publication.id IS NULL THEN run.name ELSE '' END,
    run.workload, run.standing, run.archived, publication.id IS NOT NULL, run.tags, run.agents, count(*)::int
FROM results_run AS run
LEFT JOIN results_publication AS publication ON publication.id = run.publication_id
WHERE NOT run.private AND coalesce(publication.program, '') = ''
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
"""


def kept_counts() -> list[tuple[object, ...]]:
    """Return (plan, name, workload, standing, archived, published, tags, agents, runs) of each kind of runs."""
    return _rows(_KEPT)


def right_counts() -> list[tuple[object, ...]]:
    """Return the same, counted anew."""
    return _rows(_OF_ALL_RUNS)


def _rows(query: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()
