"""Set, verify and revert the host factors of one attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import TrialError
from results.domain.kinds.host_factors import (
    BUILT_IN,
    CPUS,
    DATA,
    TABLESPACE,
    WAL,
    HostFactor,
    HostLevel,
    KnownHost,
    MidRun,
    cpus_by_role,
    cpus_of,
    roles_of,
)
from results.domain.matrix.clusters import placement
from results.domain.measurement.parsed_trial import LayerUse
from results.domain.messages import gettext_lazy as _
from workers.host import cpus, factors, places
from workers.host.event import Event
from workers.host.factors import ReportChanges
from workers.interfaces import Stage
from workers.remote.address import Layout
from workers.remote.connection import Remote
from workers.remote.facts import discover


@dataclass
class HostUse:
    """The host factors of one attempt.

    known: agent → the host factors and storage places that its operator defined
    trial: '<run>/<trial>'
    set_on: (role, factor, level) of each that was set
    role_cpus: role → list for taskset, where each role has processors of its own
    """

    stage: Stage
    known: Mapping[str, KnownHost]
    trial: str
    report_changes: ReportChanges
    set_on: list[tuple[str, HostFactor, HostLevel]] = field(default_factory=list)
    role_cpus: dict[str, str] = field(default_factory=dict)

    async def prepare(self, in_mid_run: MidRun | None = None) -> None:
        """Revert what other attempts left, then set every level and the storage places, before servers are started.

        Raises AgentError where something cannot be reverted, TrialError, VerifyError.

        in_mid_run: what the topology sets while the load runs; it becomes `stage.event`
        """
        for remote in self._remotes():
            await self._revert_changes(remote)
        for role, remote, names in self._machines():
            for name in names:
                if name not in BUILT_IN:
                    await self._apply(role, remote, name)
            remote.address = replace(remote.address, layout=await self._layout(remote, names))
        await self._pin_roles()
        if in_mid_run:
            remote = self.stage.agents[in_mid_run.node]
            factor, level = self._find_level(remote, in_mid_run.factor, in_mid_run.level)
            self.stage.event = Event(remote, factor, level, self.trial, self.report_changes)

    async def _pin_roles(self) -> None:
        """Pin each role to its processors, where the plan names them by role: servers by their postmaster, clients by
        their jobs."""
        spec = self.stage.spec
        if not cpus_by_role(spec.host.get(CPUS, "")):
            return
        for role in self._roles_of(CPUS):
            remote = self.stage.agents[role]
            cpu_list = await cpus.list_for(remote, cpus_of(spec.host[CPUS], role))
            layout = remote.address.layout
            is_server = role in spec.servers
            layout = replace(layout, cpus=cpu_list) if is_server else replace(layout, job_cpus=cpu_list)
            self.stage.agents[role] = remote.laid_out(layout)
            self.role_cpus[role] = cpu_list

    async def make_tablespaces(self) -> None:
        """Make the tablespaces that the plan places, once the servers run. Raises CommandError."""
        for server in self.stage.servers.values():
            layout = server.remote.address.layout
            if layout.tablespace and not server.outside:
                await places.make_tablespace(server, layout.tablespace)

    async def verify(self) -> list[LayerUse]:
        """Record a Check for every level on every machine, before the clock starts; return the layers of what is set.

        Raises AgentError.
        """
        for role, factor, level in self.set_on:
            self.stage.recorder.check(await factors.check(self.stage.agents[role], factor, level, role))
        for role, remote in self.stage.agents.items():
            if remote.address.layout.job_cpus:
                self.stage.recorder.check(await cpus.check_jobs(remote, self.stage.job_dir(remote), role))
        for role, server in self.stage.servers.items():
            if server.outside:
                continue
            layout = server.remote.address.layout
            if layout.cpus:
                self.stage.recorder.check(await cpus.check(server, layout.cpus, role))
            for check in await places.checks(server, self.stage.database, layout.folders, role):
                self.stage.recorder.check(check)
        return [
            LayerUse(role, Layer(LayerKind.HOST, await self._content(remote, names)))
            for role, remote, names in self._machines()
        ]

    async def revert(self) -> None:
        """Revert every change, after the trial. Raises AgentError where one is left, after trying all."""
        reverts = [self._revert_changes(remote) for remote in self._remotes()]
        for error in await asyncio.gather(*reverts, return_exceptions=True):
            if error is not None:
                raise error

    async def _revert_changes(self, remote: Remote) -> None:
        await factors.revert_all(remote, self.report_changes)

    def _remotes(self) -> list[Remote]:
        return list({remote.address.name: remote for remote in self.stage.agents.values()}.values())

    def _is_on(self, role: str, remote: Remote) -> bool:
        return self.stage.agents[role].address.name == remote.address.name

    def _machines(self) -> Iterator[tuple[str, Remote, list[str]]]:
        """Yield each machine on which something is set: the first role for which it is, and the factors' names."""
        for remote in self._remotes():
            first_roles: dict[str, str] = {}
            for name in self.stage.spec.host:
                roles = [role for role in self._roles_of(name) if self._is_on(role, remote)]
                if roles:
                    first_roles[name] = roles[0]
            if first_roles:
                names = list(first_roles)
                yield first_roles[names[0]], remote, names

    def _roles_of(self, name: str) -> tuple[str, ...]:
        spec = self.stage.spec
        return roles_of(name, spec.host[name], spec.agents, self.known, poolers=spec.beside, outside=spec.outside)

    async def _apply(self, role: str, remote: Remote, name: str) -> None:
        factor, level = self._find_level(remote, name, self.stage.spec.host[name])
        self.set_on.append((role, factor, level))
        await factors.apply(remote, factor, level, self.trial, self.report_changes)

    def _find_level(self, remote: Remote, name: str, label: str) -> tuple[HostFactor, HostLevel]:
        factor = self.known[remote.address.name].factors.get(name)
        level = factor.level(label) if factor else None
        if factor is None or level is None:
            raise TrialError(
                _(
                    "Agent {agent} no longer has host factor {name!r} with a level {level!r}.",
                    agent=remote.address.name,
                    name=name,
                    level=label,
                ),
                where=remote.phase,
                why=_("An operator changed or removed its definition after the run was made."),
                todo=_("Define it again on the agent's page, then retry; or change the plan."),
            )
        return factor, level

    async def _layout(self, remote: Remote, names: list[str]) -> Layout:
        host = self.stage.spec.host
        storage = placement(self.stage.spec, remote.address.name, self.known)
        for name, folder in storage.folders.items():
            if not folder:
                raise TrialError(
                    _(
                        "Agent {agent} no longer has a storage place {place!r}.",
                        agent=remote.address.name,
                        place=host[name],
                    ),
                    where=remote.phase,
                    why=_("The plan's host.{name} names it.", name=name),
                    todo=_("Name it again on the agent's page, then retry; or change the plan."),
                )
        return Layout(
            data=storage.folders.get(DATA, ""),
            wal=storage.folders.get(WAL, ""),
            tablespace=storage.folders.get(TABLESPACE, ""),
            cpus=await cpus.list_for(remote, host[CPUS]) if CPUS in names and not cpus_by_role(host[CPUS]) else "",
            apart=storage.apart,
        )

    async def _content(self, remote: Remote, names: list[str]) -> dict[str, Any]:
        host, layout = self.stage.spec.host, remote.address.layout
        content: dict[str, Any] = {name: host[name] for name in names if name not in BUILT_IN}
        if layout.cpus:
            content[CPUS] = {"list": layout.cpus, "by": "taskset"}
        if lists := {r: text for r, text in self.role_cpus.items() if self._is_on(r, remote)}:
            content[CPUS] = {"lists": lists, "by": "taskset"}
        for name, folder in layout.folders.items():
            facts = await discover(remote, folder)
            storage = next(layer.content for layer in facts.layers if layer.kind is LayerKind.STORAGE)
            content[name] = {"place": host[name], **storage}
        return content
