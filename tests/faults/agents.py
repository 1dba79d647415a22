"""Agents of the fleet: folders of their own on this machine, reached through the fleet's sshd."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.utils import timezone

from results import agents as verbs
from results import models
from results.agents import Contact
from tests.live.trials.conftest import agent_fields
from workers import contact
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import connected
from workers.remote.transport import host_key_of


@contextmanager
def introduced(
    names: Iterable[str], folder: Path, port: int, environment: Mapping[str, Any]
) -> Iterator[list[Address]]:
    """Makes agents known to the warehouse as a first contact does, until the block ends.

    folder: gets theirs.
    port: of the sshd.
    environment: how the tests' account is reached."""
    base = Address(
        name="",
        **{name: environment[name] for name in ("host", "user", "key_path", "host_key")},
        port=port,
        data_dir="",
        work_dir="",
        search=tuple(one for one in environment["search"] if "/old" not in one),
    )
    facts: Contact | None = None
    made = []
    for name in names:
        address = replace(base, name=name, data_dir=f"{folder}/data-{name}", work_dir=f"{folder}/{name}")
        facts = facts or asyncio.run(contact.discover_agent(address))
        row = verbs.create_agent(agent_fields(address), "test")
        _accept_host_key(row, address)
        verbs.record_contact(row.pk, facts, timezone.now())
        made.append(address)
    try:
        yield made
    finally:
        for address in made:
            asyncio.run(_removed(address))


def _accept_host_key(row: models.Agent, address: Address) -> None:
    """As a person does, or a later contact finds a key that nobody has accepted, and the agent gets no more trials."""
    key = asyncio.run(host_key_of(address))
    verbs.record_offer(row.pk, key.line, key.fingerprint, timezone.now())
    row.refresh_from_db()
    verbs.accept_host_key(row, key.fingerprint, "test")
    verbs.record_offer(row.pk, key.line, key.fingerprint, timezone.now())


async def _removed(address: Address) -> None:
    async with connected(address) as remote:
        await cluster.stop_others(remote)
        await remote.run("rm", "-rf", "--", address.data_dir, address.work_dir)
