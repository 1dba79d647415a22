"""Trials that lose their primary, and what is left of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from results import models
from results.domain.matrix import InstallationRef
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import connected

KEYS = "SELECT start, client, number FROM ledger"


def plan(seconds: float = 12, clients: int = 3, **arrangement: Any) -> dict[str, Any]:
    return {
        "workload": "ledger",
        "duration_s": seconds,
        "topology": "streaming",
        "topology_parameters": {"failover_at_s": 2, **arrangement},
        "parameters": {"clients": clients},
        "collectors": ["latency_log", "pg_stat"],
    }


def events(attempt: models.Attempt, kind: str) -> list[Mapping[str, Any]]:
    return [event for event in attempt.events if event["kind"] == kind]


def keys_of(address: Address, installation: InstallationRef, attempt: models.Attempt, node: str) -> set[Any]:
    """The rows of the ledger that a node's cluster has, asked of it alone."""
    topology = attempt.trial.configuration.spec["topology"]

    async def read_keys() -> set[Any]:
        async with connected(address) as remote:
            await cluster.stop_others(remote)
            server = await cluster.ensure(remote, installation, name=f"{topology}-{node}")
            rows = await server.query(KEYS, database=attempt.notes["data"]["database"])
            return {tuple(row.values()) for row in rows}

    return asyncio.run(read_keys())
