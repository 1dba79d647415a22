"""Builds the server as other topologies do, and runs the registry as a job of the attempt."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import TrialError
from results.domain.measurement.parsed_trial import Check
from workers.interfaces import Stage
from workers.postgres import cluster
from workers.remote.job import Job
from workers.servers import access, checks, nodes

from .spec import LEADER

_SERVICE = (Path(__file__).parent / "registry.pl").read_text()
_ASK = """
exec perl -MIO::Socket::INET -e '
    my $peer = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => $ARGV[1], Timeout => 10) or die "$@\\n";
    print $peer "$ARGV[2]\\n";
    print scalar <$peer>;
' "$1" "$2" "$3"
"""
_PATIENCE_S = 20.0


@dataclass(frozen=True)
class Registry:
    """The running registry: a `workers.interfaces.Service`."""

    job: Job
    port: int

    async def ask(self, line: str) -> str:
        """What it answers to `put KEY VALUE` or `get KEY`. Raises CommandError."""
        return (await self.job.remote.script(_ASK, "127.0.0.1", str(self.port), line)).stdout.strip()

    async def log_tail(self) -> str:
        return await self.job.stderr()


class Registered:
    """The topology of `workers.interfaces.Topology` and `ReleasingTopology`."""

    async def build(self, stage: Stage) -> None:
        """The registry, then the server, which is made known to it. Raises TrialError, CommandError."""
        remote, connection = stage.agents["primary"], "auto"
        listen, lines = access.listening(stage, "primary", connection=connection)
        registry = await _started(stage)
        stage.services["registry"] = registry
        stage.keep(registry)
        server = await cluster.ensure(
            remote,
            stage.installation("primary"),
            initdb=stage.spec.initdb,
            settings=stage.spec.settings,
            listen=listen,
            hba=lines,
            name=nodes.cluster_name(stage, "primary"),
        )
        stage.servers["primary"] = server
        await nodes.stop_others(stage, [(remote, server.data_dir)])
        if listen:
            await access.hand_out(stage, "primary")
        await registry.ask(f"put {LEADER} port {server.port}")
        stage.recorder.note("registry_port", registry.port)

    async def verify(self, stage: Stage) -> None:
        await checks.record_primary(stage)
        known = await stage.kept(Registry).ask(f"get {stage.spec.topology_parameters['key']}")
        wanted = f"port {stage.primary.port}"
        stage.recorder.check(Check("leader from registry", "primary", wanted, known, known == wanted))

    async def release(self, stage: Stage) -> None:
        if stage.has_kept(Registry):
            await stage.kept(Registry).job.kill()

    async def tear_down(self, stage: Stage) -> None:
        await nodes.stop_others(stage)


async def _started(stage: Stage) -> Registry:
    remote = stage.agents["registry"]
    job = await Job.start(
        remote, f"{stage.job_dir(remote)}/registry", ["perl", "-e", _SERVICE], deadline_s=stage.lifetime_s
    )
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        port = (await job.stdout()).strip()
        if port:
            return Registry(job, int(port))
        await asyncio.sleep(0.05)
    raise TrialError("The registry does not start.", where="prepare", why=await job.stderr(), todo="Look at its words.")


TOPOLOGY = Registered()
