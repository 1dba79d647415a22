"""Servers that Teiten did not arrange, for trials of the topology endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from results.domain.matrix import InstallationRef
from workers.postgres import cluster
from workers.postgres.server import Server
from workers.remote.address import Address
from workers.remote.connection import connected


@asynccontextmanager
async def built(address: Address, installation: InstallationRef, names: tuple[str, ...]) -> AsyncIterator[list[Server]]:
    """Servers in a directory that no agent knows, reached by TCP without password."""
    elsewhere = replace(address, name="elsewhere", data_dir=f"{address.data_dir}-elsewhere")
    async with connected(elsewhere) as remote:
        trust = ["host all all 127.0.0.1/32 trust"]
        servers = [
            await cluster.ensure(remote, installation, listen="127.0.0.1", hba=trust, name=name) for name in names
        ]
        try:
            yield servers
        finally:
            await cluster.stop_others(remote)


def plan(servers: list[Server], **more: Any) -> dict[str, Any]:
    listed = ", ".join(f"127.0.0.1:{server.port}" for server in servers)
    return {
        "topology": "endpoints",
        "agents": {"client": "live"},
        "topology_parameters": {"endpoints": listed, "user": "teiten", **more},
        "cache": "as-found",
        "parameters": {"script": "custom", "custom_script": "SELECT 1;", "clients": 2},
    }


def prepare(servers: list[Server], script: str) -> None:
    """Runs a psql script on each server."""

    async def done() -> None:
        for server in servers:
            async with connected(server.remote.address) as remote:
                await replace(server, remote=remote).execute(script)

    asyncio.run(done())
