"""Reach an agent: check its host key, discover its facts and installations, store them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from django.utils import timezone

from results import agents, hostfactors
from results.agents import Contact, FoundInstallation
from results.domain.errors import AgentError, AwayError, HostKeyError, TeitenError
from results.domain.kinds.host_factors import Change
from results.domain.kinds.programs import Program
from results.domain.matrix.program_needs import looked_for
from results.models import Agent
from workers import pruning, registry
from workers.host.factors import revert
from workers.lease import keep
from workers.orders import address_of
from workers.postgres.installation import Installation, discover_installations
from workers.remote import programs
from workers.remote.address import Address
from workers.remote.connection import HostKey, connected, host_key_of
from workers.remote.facts import discover, free_bytes

log = logging.getLogger(__name__)
_SETTLE_LIMIT_S = 200.0  # no trial can start meanwhile
_LOOK_LIMIT_S = 5.0  # somebody waits for it


def contact(agent_id: int) -> None:
    """Reaches the agent and stores what was found. What went wrong is stored on the agent, and raised as
    AgentError or HostKeyError."""
    agent = Agent.objects.select_related("jump").get(pk=agent_id)
    try:
        key = asyncio.run(host_key_of(address_of(agent)))
        keep(agents.record_offer, agent_id, key.line, key.fingerprint, timezone.now())
        _check_key(agent, key)
        keep(agent.refresh_from_db)
        settle(agent)
        found = asyncio.run(discovered(address_of(agent)))
    except AwayError:
        raise  # the agent has no part in it
    except TeitenError as error:
        keep(agents.record_failure, agent_id, error.as_dict())
        raise
    keep(agents.record_contact, agent_id, found, timezone.now())
    try:
        pruning.look(agent)
    except AgentError as error:  # it stands beside the agent's clusters; the agent itself can be used
        log.warning("agent %s: %s", agent.name, error)


def look(agent_id: int, wanted: Collection[Program]) -> None:
    """Looks for these programs on an agent whose host key is accepted, and stores what is there. It starts no server
    and may run beside a trial. Raises AgentError."""
    agent = Agent.objects.select_related("jump").get(pk=agent_id)

    async def looked() -> dict[str, str]:
        async with connected(address_of(agent), timeout_s=_LOOK_LIMIT_S) as remote:
            return await programs.look(remote, wanted)

    names = {program.name for program in wanted}
    agents.record_programs(agent_id, names, asyncio.run(looked()), timezone.now())


def _check_key(agent: Agent, key: HostKey) -> None:
    if agent.host_key_fingerprint == key.fingerprint:
        return
    if not agent.host_key_fingerprint:
        raise HostKeyError(
            f"The host key of {agent.name} has not been accepted.",
            fingerprint=key.fingerprint,
            where=agent.place,
            why=f"It offers {key.fingerprint}.",
            todo="Compare the fingerprint with the one shown on the agent itself, then accept it.",
        )
    raise HostKeyError(
        f"The host key of {agent.name} has changed.",
        fingerprint=key.fingerprint,
        where=agent.place,
        why=f"Accepted was {agent.host_key_fingerprint}; it offers {key.fingerprint}. "
        "The machine was set up anew, or something answers in its place.",
        todo="Nothing runs on it until somebody has compared the fingerprint and accepted the new key.",
    )


def settle(agent: Agent, limit_s: float = _SETTLE_LIMIT_S) -> None:
    """Reverts what is changed on the agent and was left by trials that vanished; what cannot be is on its page. Nothing
    else may use the agent meanwhile. limit_s: for all of it. Raises AgentError."""

    async def reverted() -> list[Change]:
        try:
            async with asyncio.timeout(limit_s), connected(address_of(agent)) as remote:
                return await revert(remote)
        except TimeoutError as error:
            raise AgentError(
                f"Setting back what trials left on {agent.name} took longer than {limit_s:g} s.",
                where=agent.place,
                todo="Try the commands 'revert' and 'show' of its host factors on the agent.",
            ) from error

    try:
        left = asyncio.run(reverted())
    except AgentError as error:
        keep(hostfactors.note_failure, agent.name, str(error), timezone.now())
        raise
    keep(hostfactors.note_changes, agent.name, left, timezone.now())


async def discovered(address: Address) -> Contact:
    """Facts and installations of an agent whose host key is accepted. Raises AgentError."""
    async with connected(address) as remote:
        wanted = looked_for(registry.kinds())
        facts = await discover(remote, address.data_dir, wanted)
        places = await free_bytes(remote, address.places)
        client_programs = [program.name for program in wanted if program.with_postgresql]
        installations = await discover_installations(remote, client_programs)
    return Contact(
        layers=facts.layers,
        installations=[_found(installation) for installation in installations],
        tools=facts.tools,
        disk=facts.disk | ({"places": places} if places else {}),
        cores=facts.cores,
        memory_bytes=facts.memory_bytes,
        clock_offset_s=facts.clock_offset_s,
    )


def _found(installation: Installation) -> FoundInstallation:
    return FoundInstallation(
        name=installation.name,
        bin_dir=installation.bin_dir,
        client_bin=installation.client_bin,
        version=installation.version,
        version_num=installation.version_num,
        configure=tuple(installation.configure),
        access_methods=tuple(installation.access_methods),
        extensions=tuple(installation.extensions),
        has_jit=installation.has_jit,
        settings=installation.settings,
    )
