"""A trial by TCP: measured by password, which its bundle does not hold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from results import models
from results.domain.matrix import InstallationRef
from workers.bundle import reader
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import connected


def test_a_trial_by_tcp_is_measured_and_its_bundle_holds_no_password(
    measure: Callable[..., models.Attempt], bundles: Path, address: Address, postgres_16: InstallationRef
) -> None:
    attempt = measure(
        duration_s=1,
        topology_parameters={"connection": "tcp"},
        settings={"log_connections": "on", "log_statement": "all"},
        parameters={"connect": True, "clients": 2},
    )
    assert attempt.error is None, attempt.error
    password = asyncio.run(password_of(address, postgres_16))
    files = reader.open_files(bundles / attempt.bundle)
    assert b"host=127.0.0.1" in files["collectors/pg_stat/primary/server.log"]
    assert [name for name, content in files.items() if password in content] == []


async def password_of(address: Address, installation: InstallationRef) -> bytes:
    async with connected(address) as remote:
        text = (await remote.get(f"{cluster.directory_of(remote, installation, ())}/password")).strip()
    assert len(text) == 48
    return text
