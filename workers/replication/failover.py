"""Strike the primary at a stated second of the measured window, and promote the standby that has received most WAL.

The promoted server is no longer a standby: its cluster's mark of a copy (`copy-of`, see `standby`) is removed before
the promotion, so that the next trial copies it anew. The old primary stays on its timeline: it recovers when the next
trial starts it, and is that trial's primary again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from results.domain.errors import TrialError
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end
from workers.interfaces import Stage
from workers.pgpool import failover as pgpool_failover
from workers.remote.clock import SECONDS
from workers.remote.job import Job
from workers.servers import nodes

from .failover_parameters import CUT, HANG, KILL, FailoverOptions, failover_options
from .failover_report import FILE, Failover

_HERE = Path(__file__).parent
PROMOTE = (_HERE / "promote.sql").read_text()
STRIKE = SECONDS + (_HERE / "strike.sh").read_text()
_RECEIVED = """
SELECT pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')::bigint AS bytes
"""
# The end of a job is reported only after its last process was looked for, which is too late to time a failover.
_GONE = """
cd -- "$1" || exit
until grep -q '^gone ' stdout || flock -n lock true; do sleep 0.01; done
cat stdout
"""
_UNMARK_COPY = 'rm -f -- "$1" && shift && exec "$@"'
_JOIN_FILES = 'umask 077 && out=$1 && shift && cat -- "$@" >"$out"'
_STRIKE_LIMIT_S = 200.0
_PROMOTE_LIMIT_S = 660.0
_CONNECT_S = 2  # libpq's shortest


def failed_nodes(stage: Stage) -> set[str]:
    """Return the nodes that the failover has taken out of service."""
    return {"primary"} - {stage.serving}


async def environment(stage: Stage) -> dict[str, str]:
    """Return the libpq variables by which clients reach whichever server takes writes. Raises CommandError.

    They name all servers of the trial, the primary first; only the load's server where no failover is planned, or
    behind a pooler.
    """
    variables = stage.environment(stage.loads[0])
    if failover_options(stage.spec.topology_parameters) is None:
        return variables
    if stage.poolers:
        return variables | {"PGCONNECT_TIMEOUT": str(_CONNECT_S)}
    servers = [stage.servers[node] for node in stage.spec.servers]
    files = [server.password_file for server in servers if server.password_file]
    if files:
        variables["PGPASSFILE"] = stage.password_file(stage.client, "any")
        await stage.client.script(_JOIN_FILES, variables["PGPASSFILE"], *files)
    return variables | {
        "PGHOST": ",".join(server.host for server in servers),
        "PGPORT": ",".join(str(server.port) for server in servers),
        "PGTARGETSESSIONATTRS": "read-write",
        "PGCONNECT_TIMEOUT": str(_CONNECT_S),
    }


def connection(stage: Stage, silence_s: int) -> str:
    """Return pgbench's database argument.

    Where the network is to be cut, it has options by which libpq (12 and later) gives up a connection without any
    answer or acknowledgement for silence_s seconds, at least 2.
    """
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


def reordered_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the libpq variables for clients that have lost the first of several servers: they try it last."""
    lists = {name: environment[name].split(",") for name in ("PGHOST", "PGPORT")}
    return {name: ",".join([*others, first]) for name, (first, *others) in lists.items()}


def require_same_worker(stage: Stage) -> None:
    """Raise TrialError (retryable) where the worker that was to carry out the failover is gone."""
    if stage.picked_up and failover_options(stage.spec.topology_parameters) is not None:
        raise TrialError(
            _("The worker ended while it carried out the failover."),
            where="measure",
            why=_("Its moments are lost with it, and so is what the trial was to measure."),
            todo=_("Nothing: the trial runs again."),
            retryable=True,
        )


async def prepare(stage: Stage) -> None:
    """Store what the failover is to change on a machine, before the load begins, so that it can always be reverted.

    Raises TrialError.
    """
    if stage.event:
        await stage.event.keep()


async def settle(stage: Stage) -> None:
    """End an old primary that runs on behind a cut network, after the load, and then revert the cut.

    Raises VerifyError where the network was no longer cut, AgentError where the cut cannot be reverted.
    """
    if stage.event is None:
        return
    server = stage.primary
    await stage.event.require(str(server.port))
    await server.remote.script(STRIKE, "0", KILL, "0", server.installation.bin_dir, server.data_dir)
    await stage.event.revert()


async def carry_out(stage: Stage, window_start_s: float) -> None:
    """Carry out the failover that the plan requests, if any, and add its moments to the recorder.

    Raises TrialError where the primary is not lost or no standby takes over.

    window_start_s: start of the measured window, by time.monotonic()
    """
    options = failover_options(stage.spec.topology_parameters)
    if options is None:
        return
    report = await (_fail_over_by_pgpool if stage.poolers else _fail_over)(stage, options, window_start_s)
    stage.serving = report.promoted
    stage.recorder.add(f"workload/{FILE}", report.to_json())


async def _fail_over(stage: Stage, options: FailoverOptions, window_start_s: float) -> Failover:
    struck_s, gone_s = await (_cut_network if options.kind == CUT else _strike_primary)(stage, options, window_start_s)
    from_s = struck_s if options.kind == HANG else gone_s
    await asyncio.sleep(max(0.0, from_s + options.promote_after_s - time.time()))
    received = await _received_bytes(stage)
    node = max(received, key=lambda name: received[name])
    promotion_s, promoted_s = await _promote(stage, node)
    return Failover(options.kind, options.at_s, struck_s, gone_s, promotion_s, promoted_s, node, received)


async def _fail_over_by_pgpool(stage: Stage, options: FailoverOptions, window_start_s: float) -> Failover:
    """Strike the primary and wait until pgpool-II promotes a standby. A hanging server hangs until the window ends."""
    left_s = stage.spec.duration_s - options.at_s
    hang_options = replace(options, promote_after_s=left_s if options.kind == HANG else 0.0)
    struck_s, gone_s = await _strike_primary(stage, hang_options, window_start_s)
    promotion = await pgpool_failover.wait_for_promotion(stage, limit_s=left_s)
    moments = (struck_s, gone_s, promotion.requested_s, promotion.promoted_s)
    return Failover(options.kind, options.at_s, *moments, promotion.node, received={})


async def _cut_network(stage: Stage, options: FailoverOptions, window_start_s: float) -> tuple[float, float]:
    assert stage.event is not None
    await asyncio.sleep(max(0.0, options.at_s - (time.monotonic() - window_start_s)))
    began_s, ended_s = await stage.event.begin(str(stage.primary.port))
    offset_s = stage.clock_offset_s("primary")
    return began_s - offset_s, ended_s - offset_s


async def _strike_primary(stage: Stage, options: FailoverOptions, window_start_s: float) -> tuple[float, float]:
    server = stage.primary
    delay_s = max(0.0, options.at_s - (time.monotonic() - window_start_s))
    words = (
        f"{delay_s:.3f}",
        options.kind,
        f"{options.promote_after_s:.3f}",
        server.installation.bin_dir,
        server.data_dir,
    )
    job = await Job.start(
        server.remote,
        f"{stage.job_dir(server.remote)}/failover",
        ["sh", "-c", STRIKE, "strike", *words],
        deadline_s=options.at_s + options.promote_after_s + _STRIKE_LIMIT_S,
    )
    await asyncio.sleep(delay_s)
    output = await server.remote.script(_GONE, job.directory, timeout_s=options.promote_after_s + _STRIKE_LIMIT_S)
    moments = _moments(output.stdout, stage.clock_offset_s("primary"))
    if "gone" not in moments:
        finished = await job.finished()
        raise TrialError(
            _("The primary could not be lost as the plan asks."),
            where="topology.failover",
            why=masked_end(finished.stderr, 1200)
            or _("The command ended with status {status}.", status=finished.result.exit_status),
            todo=_("Look at the primary's log, which is kept with the trial."),
        )
    return moments["struck"], moments["gone"]


async def _received_bytes(stage: Stage) -> dict[str, int]:
    """Return the position of each standby, in bytes of WAL."""
    standbys = [node for node in stage.spec.servers if node != "primary"]
    answers = await nodes.all_of(stage.servers[node].query(_RECEIVED) for node in standbys)
    return {node: int(rows[0]["bytes"] or 0) for node, rows in zip(standbys, answers, strict=True)}


async def _promote(stage: Stage, node: str) -> tuple[float, float]:
    server = stage.servers[node]
    mark = f"{nodes.directory_of(stage, node)}/copy-of"
    result = await server.remote.script(
        _UNMARK_COPY,
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
            _("{node} could not be promoted.", node=node),
            where="topology.failover",
            why=masked_end(result.stderr, 1200),
            todo=_("Look at its log, which is kept with the trial."),
        )
    return moments["promotion"], moments["promoted"]


def _moments(text: str, clock_offset_s: float) -> Mapping[str, float]:
    """Return the moments of lines `WORD EPOCH_SECONDS`, converted from an agent's clock to the worker's."""
    pairs = [line.split() for line in text.splitlines() if line.strip()]
    return {word: float(at_s) - clock_offset_s for word, at_s in pairs}
