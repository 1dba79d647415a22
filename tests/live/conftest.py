"""A real agent: the sshd, account and installations that the environment names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from results.domain.matrix import InstallationRef, find_installation
from tests.conftest import process_number
from workers.postgres import cluster
from workers.postgres.installation import discover_installations
from workers.remote.address import Address
from workers.remote.connection import Remote, connected


@pytest.fixture(scope="session")
def address(agent_environment: dict[str, Any]) -> Iterator[Address]:
    """The agent, with directories of these tests' own in each process; their servers are stopped at the end."""
    folder = f"{agent_environment['home']}/live{process_number() or ''}"
    address = Address(
        name="live",
        **{name: agent_environment[name] for name in ("host", "port", "user", "key_path", "host_key")},
        data_dir=f"{folder}/data",
        work_dir=f"{folder}/work",
        search=tuple(agent_environment["search"]),
    )
    yield address
    asyncio.run(_stop_servers(address))


async def _stop_servers(address: Address) -> None:
    async with connected(address) as remote:
        await cluster.stop_others(remote)


@pytest.fixture
async def remote(address: Address) -> AsyncIterator[Remote]:
    async with connected(address) as opened:
        yield opened


@pytest.fixture(scope="session")
def installations(address: Address) -> list[InstallationRef]:
    """What the agent has, asked once."""

    async def ask() -> list[InstallationRef]:
        async with connected(address) as opened:
            return [installation.ref for installation in await discover_installations(opened, ["pgbench"])]

    return asyncio.run(ask())


@pytest.fixture(scope="session")
def postgres_16(installations: list[InstallationRef]) -> InstallationRef:
    return _installation("16", installations)


@pytest.fixture(scope="session")
def postgres_18(installations: list[InstallationRef]) -> InstallationRef:
    return _installation("18", installations)


def _installation(version: str, installations: list[InstallationRef]) -> InstallationRef:
    installation = find_installation(version, installations)
    if installation is None:
        pytest.fail(f"The agent has no PostgreSQL {version}: run `make test`.")
    return installation
