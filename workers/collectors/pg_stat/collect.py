"""Read each server's statistics before, during and after the measured window."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.interfaces import Stage
from workers.postgres.server import Server
from workers.remote.command import quote
from workers.remote.job import Job

from .samples import RUNNING

_HERE = Path(__file__).parent
_LATE_S = 10.0  # after the window's end; what a server does by itself until then is little
_LOG_HEAD_BYTES, _LOG_TAIL_BYTES = 400_000, 600_000  # kept of a flood


@dataclass(frozen=True)
class LogBefore:
    """The size of a server's log when the measured window began."""

    size_bytes: int


class PgStat:
    """The collector of `workers.interfaces.Collector`."""

    async def start(self, stage: Stage, node: str) -> None:
        """Take the first snapshot, and start the sampler, up to its first sample.

        Raises CommandError when the server does not answer.
        """
        server = stage.servers[node]
        log_bytes, *_rest = await asyncio.gather(
            server.log_size(), _snapshot(stage, node, "before.json"), _start_sampler(stage, node)
        )
        stage.keep(LogBefore(log_bytes), node)

    async def stop(self, stage: Stage, node: str) -> None:
        """Take the second snapshot, and record samples, sizes and the log. Each of them that fails leaves a Gap, and so
        does a snapshot that comes late, since the first worker of the trial was gone."""
        late_s = time.time() - stage.window_s[1] if stage.window_s else 0.0
        if late_s > _LATE_S:
            why = _(
                "statistics after: taken {late:.0f} s after the measured window: they count what the server did until "
                "then, too",
                late=late_s,
            )
            stage.recorder.gap("pg_stat", node, why)
        gathered = await asyncio.gather(
            _snapshot(stage, node, "after.json"),
            _samples(stage, node),
            _sizes(stage, node),
            _log(stage, node),
            return_exceptions=True,
        )
        names = (_("statistics after"), pgettext_lazy("gap", "samples"), _("sizes"), _("server log"))
        for what, outcome in zip(names, gathered, strict=True):
            if isinstance(outcome, TeitenError):
                stage.recorder.gap("pg_stat", node, _("{what}: {error}", what=what, error=outcome.words))
            elif isinstance(outcome, BaseException):
                raise outcome


async def _snapshot(stage: Stage, node: str, name: str) -> None:
    server = stage.servers[node]
    text = await server.execute(
        (_HERE / "snapshot.sql").read_text(),
        database=stage.database,
        variables=_functions(server),
        timeout_s=60,
    )
    stage.recorder.add(_path(node, name), text)


async def _start_sampler(stage: Stage, node: str) -> None:
    server = stage.servers[node]
    argv = server.psql(stage.database)
    for name, value in _functions(server).items():
        argv += ["-v", f"{name}={value}"]
    script = f"exec {quote(argv)} <<'SQL'\n{(_HERE / 'sample.sql').read_text()}SQL\n"
    await Job.start(
        server.remote,
        _directory(stage, node),
        script,
        deadline_s=stage.lifetime_s,
        env=server.environment(local=True),
        begins="stdout",
    )


async def _samples(stage: Stage, node: str) -> None:
    job = Job.attach(stage.servers[node].remote, _directory(stage, node))
    await job.signal("TERM")
    await job.wait()
    samples = stage.recorder.file(_path(node, "samples.txt"))
    await job.fetch_stdout(samples)
    stderr = await job.stderr()
    if not samples.stat().st_size and stderr:
        stage.recorder.gap("pg_stat", node, _("samples: {reason}", reason=stderr.strip()))


async def _sizes(stage: Stage, node: str) -> None:
    rows = await stage.servers[node].query((_HERE / "sizes.sql").read_text(), database=stage.database)
    stage.recorder.add(_path(node, "sizes.json"), json.dumps(rows, indent=1))


async def _log(stage: Stage, node: str) -> None:
    server = stage.servers[node]
    if server.outside:
        stage.recorder.gap("pg_stat", node, _("server log: the server's machine is not an agent of Teiten"))
        return
    limits = (str(stage.kept(LogBefore, node).size_bytes), str(_LOG_HEAD_BYTES), str(_LOG_TAIL_BYTES))
    result = await server.remote.script((_HERE / "log.sh").read_text(), server.log_path, *limits)
    stage.recorder.add(_path(node, "server.log"), result.stdout)


def _functions(server: Server) -> dict[str, str]:
    """Return the function names that differ between versions, as psql variables of the .sql files."""
    old = server.installation.version_num < 100000
    return {
        "difference": "pg_xlog_location_diff" if old else "pg_wal_lsn_diff",
        "current": "pg_current_xlog_location" if old else "pg_current_wal_lsn",
        "replayed": "pg_last_xlog_replay_location" if old else "pg_last_wal_replay_lsn",
        **_activity(server.installation.version_num),
    }


def _activity(version_num: int) -> dict[str, str]:
    """Return SQL expressions over pg_stat_activity, as psql variables.

    waiting: whether a session waits for anything but its client.
    client: whether it is a client's.
    wait: what it waits for (10 and later: older versions show neither I/O nor the client as waits).
    """
    waiting = "wait_event_type IS NOT NULL AND wait_event_type NOT IN ('Activity', 'Client')"
    if version_num < 100000:
        return {"waiting": waiting if version_num >= 90600 else "waiting", "client": "false", "wait": "''::text"}
    return {
        "waiting": waiting,
        "client": "backend_type = 'client backend'",
        "wait": f"coalesce(wait_event_type || ': ' || wait_event, '{RUNNING}')",
    }


def _directory(stage: Stage, node: str) -> str:
    return f"{stage.job_dir(stage.servers[node].remote)}/pg_stat-{node}"


def _path(node: str, name: str) -> str:
    return f"collectors/pg_stat/{node}/{name}"


COLLECTOR = PgStat()
