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
    by_hash = {environment_hash(uses): uses for uses in environments}
    rows = [(environment, *use) for environment, uses in by_hash.items() for use in uses]
    if rows:
        hashes, nodes, layers = map(list, zip(*rows, strict=True))
        sql.execute(_NEW, {"environments": hashes, "nodes": nodes, "layers": layers})
