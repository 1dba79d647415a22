"""Topologies over two agents: nodes reach each other by TCP and password, of which no bundle holds one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from results import models
from workers.bundle import reader
from workers.remote.address import Address
from workers.remote.connection import connected

PLACES = {"primary": "live", "client": "live"}


async def passwords(address: Address) -> list[bytes]:
    async with connected(address) as remote:
        output = await remote.script('cat "$1"/clusters/*/password 2>/dev/null', address.data_dir, check=False)
        return [word.encode() for word in output.stdout.split()]


@pytest.mark.parametrize(
    ("topology", "role", "changes"),
    [
        ("logical", "subscriber", {"topology_parameters": {"load": "both"}, "parameters": {"script": "tpcb-like"}}),
        ("fdw", "shard", {"installation": "15", "topology_parameters": {"async_capable": True}}),
    ],
)
def test_the_other_servers_are_on_another_agent(
    measure: Callable[..., models.Attempt],
    far: Address,
    address: Address,
    bundles: Path,
    topology: str,
    role: str,
    changes: dict[str, Any],
) -> None:
    attempt = measure(topology=topology, agents=PLACES | {role: "far"}, **changes)
    assert attempt.error is None, attempt.error
    secrets = asyncio.run(passwords(far))
    assert secrets
    files = reader.open_files(bundles / attempt.bundle)
    assert [name for name, content in files.items() if any(secret in content for secret in secrets)] == []
