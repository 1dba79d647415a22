"""Environments on their way into the warehouse: which layers each has, once for all attempts that ran in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from results import sql
from results.domain.environment.layers import environment_hash

# in one order, so that two who store the same at once do not wait for each other
_NEW = """
INSERT INTO results_environmentlayer (environment, node, layer_id)
SELECT * FROM unnest(%(environments)s::text[], %(nodes)s::text[], %(layers)s::text[])
    AS given (environment, node, layer_id)
ORDER BY environment, node, layer_id
ON CONFLICT DO NOTHING
"""


def store_environments(environments: Iterable[Collection[tuple[str, str]]]) -> None:
    """Store what environments, each of (role, hash of a layer), consist of, unless it is stored. Their layers are. One
    statement, none without layers."""
    rows = {(environment_hash(uses), *use) for uses in environments for use in uses}
    if rows:
        named = zip(("environments", "nodes", "layers"), map(list, zip(*rows, strict=True)), strict=True)
        sql.execute(_NEW, dict(named))
