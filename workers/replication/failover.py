"""Loses the primary at a stated second of the measured window, and promotes the standby that has received most.

The promoted server is a standby no more: its cluster loses the mark of a copy (`copy-of`, see `standby`) before it is
told, so that the next trial copies it anew. The old primary stays what it was, on its own timeline: it recovers when
the next trial starts it, and is that trial's primary again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from results.domain.errors import TrialError
from workers.interfaces import Stage
from workers.pgpool import failover as pgpool_failover
from workers.remote.clock import SECONDS
from workers.remote.job import Job
from workers.servers import nodes

from .failover_parameters import CUT, HANG, KILL, Asked, asked_for
from .failover_report import FILE, Failover

_HERE = Path(__file__).parent
PROMOTE = (_HERE / "promote.sql").read_text()
STRIKE = SECONDS + (_HERE / "strike.sh").read_text()
_RECEIVED = """
SELECT pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')::bigint AS bytes
"""
# A job's own end is known only after its last process was looked for: too late where every moment counts.
_GONE = """
cd -- "$1" || exit
until grep -q '^gone ' stdout || flock -n lock true; do sleep 0.01; done
cat stdout
"""
_END_OF_A_COPY = 'rm -f -- "$1" && shift && exec "$@"'
_JOIN = 'umask 077 && out=$1 && shift && cat -- "$@" >"$out"'
_STRIKE_LIMIT_S = 200.0
_PROMOTE_LIMIT_S = 660.0
_CONNECT_S = 2  # libpq's shortest


def lost(stage: Stage) -> set[str]:
    """The nodes that the failover took, once another serves."""
    return {"primary"} - {stage.serving}


async def environment(stage: Stage) -> dict[str, str]:
    """How the clients reach whichever server takes writes, for libpq: all servers of the trial, the primary first; that
    of the one load where none is to be lost, or where a pooler stands before them. Raises CommandError."""
    own = stage.environment(stage.loads[0])
    if asked_for(stage.spec.topology_parameters) is None:
        return own
    if stage.poolers:
        return own | {"PGCONNECT_TIMEOUT": str(_CONNECT_S)}
    servers = [stage.servers[node] for node in stage.spec.servers]
    files = [server.password_file for server in servers if server.password_file]
    if files:
        own["PGPASSFILE"] = stage.password_file(stage.client, "any")
        await stage.client.script(_JOIN, own["PGPASSFILE"], *files)
    return own | {
        "PGHOST": ",".join(server.host for server in servers),
        "PGPORT": ",".join(str(server.port) for server in servers),
        "PGTARGETSESSIONATTRS": "read-write",
        "PGCONNECT_TIMEOUT": str(_CONNECT_S),
    }


def connection(stage: Stage, silence_s: int) -> str:
    """The database as pgbench is told it. Where the network is to be cut, with what makes libpq give up a connection on
    which nothing has come for silence_s seconds, from 2: neither an answer nor an acknowledgement (libpq 12)."""
    if stage.event is None:
        return stage.database
    options = {
        "dbname": stage.database,
        "keepalives_idle": 1,
        "keepalives_interval": 1,
        "keepalives_count": silence_s - 1,
        "tcp_user_timeout": 1000 * silence_s,
    }
    return " ".join(f"{name}={value}" for name, value in options.items())


def elsewhere_first(environment: Mapping[str, str]) -> dict[str, str]:
    """The same for clients that have lost the first of several servers: they try it last."""
    turned = {name: environment[name].split(",") for name in ("PGHOST", "PGPORT")}
    return {name: ",".join([*others, first]) for name, (first, *others) in turned.items()}


async def prepare(stage: Stage) -> None:
    """Before the load begins: what the failover is to change on a machine can be reverted by whoever comes next. Raises
    TrialError."""
    if stage.event:
        await stage.event.keep()


async def settle(stage: Stage) -> None:
    """After the load: an old primary that lives on behind a cut is ended, and only then the cut lifted. Raises
    VerifyError where there was no cut any more, AgentError where it cannot be lifted."""
    if stage.event is None:
        return
    server = stage.primary
    await stage.event.require(str(server.port))
    await server.remote.script(STRIKE, "0", KILL, "0", server.installation.bin_dir, server.data_dir)
    await stage.event.revert()


async def carry_out(stage: Stage, since: float) -> None:
    """The failover that the plan asks for, if any, to its end; its moments are added to the recorder. since: the
    window's start by time.monotonic(). Raises TrialError when the primary is not lost or no standby takes over."""
    asked = asked_for(stage.spec.topology_parameters)
    if asked is None:
        return
    report = await (_by_pooler if stage.poolers else _by_worker)(stage, asked, since)
    stage.serving = report.promoted
    stage.recorder.add(f"workload/{FILE}", report.to_json())


async def _by_worker(stage: Stage, asked: Asked, since: float) -> Failover:
    struck_s, gone_s = await (_cut if asked.kind == CUT else _strike)(stage, asked, since)
    from_s = struck_s if asked.kind == HANG else gone_s
    await asyncio.sleep(max(0.0, from_s + asked.promote_after_s - time.time()))
    received = await _received(stage)
    node = max(received, key=lambda name: received[name])
    promotion_s, promoted_s = await _promote(stage, node)
    return Failover(asked.kind, asked.at_s, struck_s, gone_s, promotion_s, promoted_s, node, received)


async def _by_pooler(stage: Stage, asked: Asked, since: float) -> Failover:
    """pgpool-II promotes by itself, whenever it finds out. A server that hangs does so until the window is over."""
    left_s = stage.spec.duration_s - asked.at_s
    lost = replace(asked, promote_after_s=left_s if asked.kind == HANG else 0.0)
    struck_s, gone_s = await _strike(stage, lost, since)
    promotion = await pgpool_failover.promoted(stage, limit_s=left_s)
    moments = (struck_s, gone_s, promotion.asked_s, promotion.promoted_s)
    return Failover(asked.kind, asked.at_s, *moments, promotion.node, received={})


async def _cut(stage: Stage, asked: Asked, since: float) -> tuple[float, float]:
    assert stage.event is not None
    await asyncio.sleep(max(0.0, asked.at_s - (time.monotonic() - since)))
    began_s, ended_s = await stage.event.begin(str(stage.primary.port))
    offset_s = stage.clock_offset_s("primary")
    return began_s - offset_s, ended_s - offset_s


async def _strike(stage: Stage, asked: Asked, since: float) -> tuple[float, float]:
    server = stage.primary
    delay_s = max(0.0, asked.at_s - (time.monotonic() - since))
    words = (f"{delay_s:.3f}", asked.kind, f"{asked.promote_after_s:.3f}", server.installation.bin_dir, server.data_dir)
    job = await Job.start(
        server.remote,
        f"{stage.job_dir(server.remote)}/failover",
        ["sh", "-c", STRIKE, "strike", *words],
        deadline_s=asked.at_s + asked.promote_after_s + _STRIKE_LIMIT_S,
    )
    await asyncio.sleep(delay_s)
    said = await server.remote.script(_GONE, job.directory, timeout_s=asked.promote_after_s + _STRIKE_LIMIT_S)
    moments = _moments(said.stdout, stage.clock_offset_s("primary"))
    if "gone" not in moments:
        finished = await job.finished()
        raise TrialError(
            "The primary could not be lost as the plan asks.",
            where="topology.failover",
            why=finished.stderr.strip()[-1200:] or f"The command ended with status {finished.result.exit_status}.",
            todo="Look at the primary's log, which is kept with the trial.",
        )
    return moments["struck"], moments["gone"]


async def _received(stage: Stage) -> dict[str, int]:
    """How far each standby is, in bytes of WAL."""
    standbys = [node for node in stage.spec.servers if node != "primary"]
    answers = await nodes.all_of(stage.servers[node].query(_RECEIVED) for node in standbys)
    return {node: int(rows[0]["bytes"] or 0) for node, rows in zip(standbys, answers, strict=True)}


async def _promote(stage: Stage, node: str) -> tuple[float, float]:
    server = stage.servers[node]
    mark = f"{nodes.directory_of(stage, node)}/copy-of"
    result = await server.remote.script(
        _END_OF_A_COPY,
        mark,
        *server.psql("postgres"),
        stdin=PROMOTE,
        env=server.environment(local=True),
        check=False,
        timeout_s=_PROMOTE_LIMIT_S,
    )
    moments = _moments(result.stdout, stage.clock_offset_s(node))
    if result.exit_status != 0 or "promoted" not in moments:
        raise TrialError(
            f"{node} could not be promoted.",
            where="topology.failover",
            why=result.stderr.strip()[-1200:],
            todo="Look at its log, which is kept with the trial.",
        )
    return moments["promotion"], moments["promoted"]


def _moments(text: str, clock_offset_s: float) -> Mapping[str, float]:
    """Lines `WORD EPOCH_SECONDS` by an agent's clock → by the worker's."""
    pairs = [line.split() for line in text.splitlines() if line.strip()]
    return {word: float(at_s) - clock_offset_s for word, at_s in pairs}
