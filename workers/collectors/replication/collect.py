"""Ask each server every second how far its standbys and subscribers are behind, and at the end when they catch up."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.interfaces import Stage
from workers.remote.command import quote
from workers.remote.job import Job

_HERE = Path(__file__).parent
_DATABASE = "postgres"  # not the trial's, whose statistics must not count these queries
_SENT_TO = """
SELECT DISTINCT application_name AS node FROM pg_stat_replication
WHERE application_name = ANY (string_to_array(:'nodes', ','))
"""
_PATIENCE_S = 12.0  # without any progress
_LIMIT_S = 600.0


@dataclass(frozen=True)
class SentTo:
    """The nodes that a server sent its WAL to when the measured window began."""

    nodes: tuple[str, ...]


class Replication:
    """The collector of `workers.interfaces.Collector`."""

    async def start(self, stage: Stage, node: str) -> None:
        """Start the sampler, up to its first sample, and note the nodes that the server sends to.

        Raises CommandError when it is down.
        """
        rows, _started = await asyncio.gather(
            stage.servers[node].query(_SENT_TO, variables={"nodes": _others(stage, node)}), _start_sampler(stage, node)
        )
        stage.keep(SentTo(tuple(row["node"] for row in rows)), node)

    async def stop(self, stage: Stage, node: str) -> None:
        """Wait until all nodes that this server sends to have caught up, then record the samples. Each that fails
        leaves a Gap."""
        for what, work in ((_("time to catch up"), _catch_up), (pgettext_lazy("gap", "samples"), _samples)):
            try:
                await work(stage, node)
            except TeitenError as error:
                stage.recorder.gap("replication", node, _("{what}: {error}", what=what, error=error.words))


async def _start_sampler(stage: Stage, node: str) -> None:
    server = stage.servers[node]
    argv = [*server.psql(_DATABASE), "-v", f"nodes={_others(stage, node)}"]
    script = f"exec {quote(argv)} <<'SQL'\n{(_HERE / 'sample.sql').read_text()}SQL\n"
    await Job.start(
        server.remote,
        _directory(stage, node),
        script,
        deadline_s=stage.lifetime_s,
        env=server.environment(local=True),
        begins="stdout",
    )


async def _catch_up(stage: Stage, node: str) -> None:
    sent_to = stage.kept(SentTo, node).nodes
    if not sent_to:
        return
    # the LSN that counts is the primary's, which knows it itself
    lsn = "" if node == "primary" else (await stage.primary.execute("SELECT pg_current_wal_lsn();")).strip()
    variables = {
        "lsn": lsn,
        "nodes": ",".join(sent_to),
        "patience_s": f"{_PATIENCE_S:g}",
        "limit_s": f"{_LIMIT_S:g}",
    }
    text = await stage.servers[node].execute(
        (_HERE / "catch_up.sql").read_text(), database=_DATABASE, variables=variables, timeout_s=_LIMIT_S + 60
    )
    stage.recorder.add(_path(node, "caught_up.json"), text)


async def _samples(stage: Stage, node: str) -> None:
    job = Job.attach(stage.servers[node].remote, _directory(stage, node))
    await job.signal("TERM")
    await job.wait()
    samples = stage.recorder.file(_path(node, "samples.txt"))
    await job.fetch_stdout(samples)
    stderr = await job.stderr()
    clocks = {"primary_clock_offset_s": stage.clock_offset_s("primary")}
    stage.recorder.add(_path(node, "clocks.json"), json.dumps(clocks))
    if not samples.stat().st_size and stderr:
        stage.recorder.gap("replication", node, _("samples: {reason}", reason=stderr.strip()))


def _others(stage: Stage, node: str) -> str:
    return ",".join(other for other in stage.servers if other != node)


def _directory(stage: Stage, node: str) -> str:
    return f"{stage.job_dir(stage.servers[node].remote)}/replication-{node}"


def _path(node: str, name: str) -> str:
    return f"collectors/replication/{node}/{name}"


COLLECTOR = Replication()
