"""Run perf stat on each server's processes beside the load, and start pgbench through it."""

from __future__ import annotations

from pathlib import Path

from results.domain.errors import AgentError, CommandError
from results.domain.matrix import Load
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end
from workers.interfaces import Stage
from workers.pgbench.run import folder_of
from workers.remote.connection import Remote
from workers.remote.job import Job
from workers.remote.limits import ANSWER_BYTES

from .spec import EVENTS

_HERE = Path(__file__).parent
_EVENTS = ",".join(event.name for event in EVENTS)
_FILE = "counts.csv"
_INTERVALS, _SHORTEST_MS, _LONGEST_MS = 1000, 100.0, 1000.0


class PerfStat:
    """The collector of `workers.interfaces.Collector`, for servers and for clients.

    For a client `start` sets `stage.wrappers`, by which `workers.pgbench.run` has perf start pgbench: all that pgbench
    does lies in the measured window, and nothing before it.
    """

    async def start(self, stage: Stage, node: str) -> None:
        """Begin to count a server's processes; of a client find out whether perf may. Raises AgentError with perf's
        message."""
        server = stage.servers.get(node)
        if server is None:
            await _probe(stage.agents[node])
            for load in _loads(stage, node):
                words = ("perf", "stat", "-x", ",", "-e", _EVENTS, "-o", _client_file(stage, load), "--")
                stage.wrappers[load.name] = words
            return
        if server.outside:
            raise AgentError(
                _("perf stat cannot count there"),
                where=node,
                why=_("the server's machine is not an agent of Teiten"),
            )
        await _probe(server.remote, server.data_dir)
        await Job.start(
            server.remote,
            _directory(stage, node),
            (_HERE / "count.sh").read_text(),
            deadline_s=stage.lifetime_s,
            env={"DATA_DIR": server.data_dir, "EVENTS": _EVENTS, "INTERVAL_MS": f"{interval_ms(stage.measured_s):.0f}"},
            begins="begun",
        )

    async def stop(self, stage: Stage, node: str) -> None:
        """End the counting, and record counts.csv, of a server with ended (when its last line was written, epoch
        seconds on its clock). What perf did not count leaves a Gap."""
        if node in stage.servers:
            return await _stop_server(stage, node)
        for load in _loads(stage, node):
            try:
                counts = await stage.agents[node].get(_client_file(stage, load))
            except CommandError:
                stage.recorder.gap("perf_stat", node, _("the workload did not run pgbench through perf"))
            else:
                stage.recorder.add(f"{folder_of(stage, load, _folder(node))}/{_FILE}", counts)


def interval_ms(measured_s: float | None) -> float:
    """Return how often perf writes its counts: a thousand times in the window, at least each second."""
    if measured_s is None:
        return _LONGEST_MS
    return min(max(measured_s * 1000 / _INTERVALS, _SHORTEST_MS), _LONGEST_MS)


async def _stop_server(stage: Stage, node: str) -> None:
    remote, directory = stage.servers[node].remote, _directory(stage, node)
    job = Job.attach(remote, directory)
    await job.signal("INT")
    finished = await job.finished()
    if not finished.ok:
        error = masked_end(finished.stderr, 500)
        stage.recorder.gap("perf_stat", node, _("perf broke off: {error}", error=error))
        return
    stage.recorder.add(f"{_folder(node)}/ended", finished.stdout.removeprefix("ended "))
    await remote.fetch(f"{directory}/{_FILE}", stage.recorder.file(f"{_folder(node)}/{_FILE}"))


async def _probe(remote: Remote, data_dir: str = "") -> None:
    probe = (_HERE / "probe.sh").read_text()
    result = await remote.script(probe, _EVENTS, data_dir, check=False, limit_bytes=ANSWER_BYTES)
    if result.exit_status == 0:
        return
    missing = result.exit_status == 3
    raise AgentError(
        _("perf cannot be used on the agent") if missing else _("perf may not count there"),
        where=remote.address.name,
        why=" ".join(result.stderr.split()),
        todo=_("Install perf there (the package is linux-perf, perf or linux-tools).")
        if missing
        else _("Set kernel.perf_event_paranoid to 1 there, or to 2 to count user mode only."),
    )


def _loads(stage: Stage, client: str) -> list[Load]:
    return [load for load in stage.loads if load.client == client]


def _client_file(stage: Stage, load: Load) -> str:
    return f"{stage.job_dir(stage.agents[load.client])}/perf_stat-of-{load.name}.csv"


def _directory(stage: Stage, node: str) -> str:
    return f"{stage.job_dir(stage.servers[node].remote)}/perf_stat-{node}"


def _folder(node: str) -> str:
    return f"collectors/perf_stat/{node}"


COLLECTOR = PerfStat()
