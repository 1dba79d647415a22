"""Contact an agent: check its host key, discover its facts and installations, store them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from django.utils import timezone

from results import agents, hostfactors
from results.agents import Contact, DiscoveredInstallation
from results.domain.errors import AgentError, AwayError, HostKeyError, TeitenError
from results.domain.kinds.host_factors import Change
from results.domain.kinds.programs import Program
from results.domain.matrix.program_needs import looked_for
from results.domain.messages import gettext_lazy as _
from results.models import Agent
from workers import pruning, registry
from workers.host.factors import revert
from workers.lease import retry
from workers.orders import address_of
from workers.postgres.installation import Installation, discover_installations
from workers.remote import programs
from workers.remote.address import Address
from workers.remote.connection import HostKey, connected, host_key_of
from workers.remote.facts import discover, free_bytes

log = logging.getLogger(__name__)
_REVERT_LIMIT_S = 200.0  # no trial can start meanwhile
_PROGRAMS_LIMIT_S = 5.0  # a person waits for it


def contact(agent_id: int) -> None:
    """Reach an agent and store what is discovered. Raises AgentError or HostKeyError, and stores it with the agent."""
    agent = Agent.objects.select_related("jump").get(pk=agent_id)
    try:
        key = asyncio.run(host_key_of(address_of(agent)))
        retry(agents.record_offer, agent_id, key.line, key.fingerprint, timezone.now())
        _check_key(agent, key)
        retry(agent.refresh_from_db)
        revert_changes(agent)
        facts = asyncio.run(discover_agent(address_of(agent)))
    except AwayError:
        raise  # not the agent's failure
    except TeitenError as error:
        retry(agents.record_failure, agent_id, error.as_dict())
        raise
    retry(agents.record_contact, agent_id, facts, timezone.now())
    try:
        pruning.record_clusters(agent)
    except AgentError as error:  # stored and shown with the agent's clusters; the agent itself can be used
        log.warning("agent %s: %s", agent.name, error)


def find_programs(agent_id: int, requested: Collection[Program]) -> None:
    """Look for programs on an agent whose host key is accepted, and store which are there. Raises AgentError.

    It starts no server, and may run beside a trial.
    """
    agent = Agent.objects.select_related("jump").get(pk=agent_id)

    async def find() -> dict[str, str]:
        async with connected(address_of(agent), timeout_s=_PROGRAMS_LIMIT_S) as remote:
            return await programs.look(remote, requested)

    names = {program.name for program in requested}
    agents.record_programs(agent_id, names, asyncio.run(find()), timezone.now())


def _check_key(agent: Agent, key: HostKey) -> None:
    if agent.host_key_fingerprint == key.fingerprint:
        return
    if not agent.host_key_fingerprint:
        raise HostKeyError(
            _("The host key of {agent} has not been accepted.", agent=agent.name),
            fingerprint=key.fingerprint,
            where=agent.location,
            why=_("It offers {fingerprint}.", fingerprint=key.fingerprint),
            todo=_("Compare the fingerprint with the one shown on the agent itself, then accept it."),
        )
    raise HostKeyError(
        _("The host key of {agent} has changed.", agent=agent.name),
        fingerprint=key.fingerprint,
        where=agent.location,
        why=_(
            "Accepted was {accepted}; it offers {fingerprint}. The machine was set up anew, or "
            "something answers in its place.",
            accepted=agent.host_key_fingerprint,
            fingerprint=key.fingerprint,
        ),
        todo=_("Nothing runs on it until somebody has compared the fingerprint and accepted the new key."),
    )


def revert_changes(agent: Agent, limit_s: float = _REVERT_LIMIT_S) -> None:
    """Revert the host factors that vanished trials left changed; those that cannot be are on the agent's page.

    Nothing else may use the agent meanwhile. Raises AgentError.

    limit_s: seconds for all of it
    """

    async def revert_all() -> list[Change]:
        try:
            async with asyncio.timeout(limit_s), connected(address_of(agent)) as remote:
                return await revert(remote)
        except TimeoutError as error:
            raise AgentError(
                _(
                    "Setting back what trials left on {agent} took longer than {seconds:g} s.",
                    agent=agent.name,
                    seconds=limit_s,
                ),
                where=agent.location,
                todo=_("Try the commands 'revert' and 'show' of its host factors on the agent."),
            ) from error

    try:
        changes = asyncio.run(revert_all())
    except AgentError as error:
        retry(hostfactors.note_failure, agent.name, str(error), timezone.now())
        raise
    retry(hostfactors.note_changes, agent.name, changes, timezone.now())


async def discover_agent(address: Address) -> Contact:
    """Return facts and installations of an agent whose host key is accepted. Raises AgentError."""
    async with connected(address) as remote:
        requested = looked_for(registry.kinds())
        facts = await discover(remote, address.data_dir, requested)
        places = await free_bytes(remote, address.places)
        client_programs = [program.name for program in requested if program.with_postgresql]
        installations = await discover_installations(remote, client_programs)
    return Contact(
        layers=facts.layers,
        installations=[_discovered(installation) for installation in installations],
        tools=facts.tools,
        disk=facts.disk | ({"places": places} if places else {}),
        cores=facts.cores,
        memory_bytes=facts.memory_bytes,
        clock_offset_s=facts.clock_offset_s,
    )


def _discovered(installation: Installation) -> DiscoveredInstallation:
    return DiscoveredInstallation(
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
