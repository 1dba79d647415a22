"""Run perf on the primary's processes for part of the measured window, and fold the stacks on the agent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import AgentError
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end
from workers.interfaces import Stage
from workers.postgres.server import Server
from workers.remote.job import Finished, Job

_HERE = Path(__file__).parent
FREQUENCY = 99  # not 100: nothing else on the machine beats in step with it
LONGEST_SLICE_S = 10.0
LIMIT_KB = 1_000_000
_FOLD_LIMIT_S = 1800.0


@dataclass(frozen=True)
class Recording:
    """How perf can record on an agent.

    binary: name of the server's program.
    event: what is sampled.
    graph: how callers are found: fp, dwarf, none.
    options: of perf script.
    """

    binary: str
    event: str
    graph: str
    options: tuple[str, ...]


class Perf:
    """The collector of `workers.interfaces.Collector`."""

    async def start(self, stage: Stage, node: str) -> None:
        """Find out what perf can do on the agent, and start the recording. Raises AgentError with perf's message."""
        server, directory = stage.servers[node], _directory(stage, node)
        recording = await _probe(server, directory)
        stage.keep(recording, node)
        await Job.start(
            server.remote,
            directory,
            (_HERE / "record.sh").read_text(),
            deadline_s=stage.lifetime_s,
            env={
                "DATA_DIR": server.data_dir,
                "EVENT": recording.event,
                "GRAPH": recording.graph,
                "FREQUENCY": str(FREQUENCY),
                "LIMIT_KB": str(LIMIT_KB),
                **slices(stage.measured_s),
            },
        )

    async def stop(self, stage: Stage, node: str) -> None:
        """End the recording, fold it, and record recorded.txt and stacks.txt. What perf did not record leaves a Gap."""
        server, directory = stage.servers[node], _directory(stage, node)
        job = Job.attach(server.remote, directory)
        await job.signal("TERM")
        finished = await job.finished()
        recording = stage.kept(Recording, node)
        stage.recorder.add(f"{_folder(node)}/perf.log", finished.stderr)
        if reason := _failure(finished):
            stage.recorder.gap("perf", node, reason)
        if "began" not in finished.stdout:
            return
        stacks = stage.recorder.file(f"{_folder(node)}/stacks.txt")
        folded = await server.remote.script(
            (_HERE / "fold.sh").read_text(),
            directory,
            (_HERE / "fold.awk").read_text(),
            recording.binary,
            *recording.options,
            check=False,
            timeout_s=_FOLD_LIMIT_S,
            into=stacks,
        )
        if folded.exit_status != 0:
            stacks.unlink()
            stage.recorder.gap("perf", node, _("the samples could not be read: {error}", error=folded.stderr.strip()))
            return
        head = f"event {recording.event}\ngraph {recording.graph}\nfrequency {FREQUENCY}\n"
        stage.recorder.add(f"{_folder(node)}/recorded.txt", head + finished.stdout)


def slices(measured_s: float | None) -> dict[str, str]:
    """Return when perf records, as variables of record.sh: half of the window and at most 10 s, in its middle; one
    second of every ten, for an hour, where the window's length is not known before."""
    first_s, slice_s, wait_s, count = 0.5, 1.0, 9.0, 360
    if measured_s is not None:
        slice_s, count = min(LONGEST_SLICE_S, measured_s / 2), 1
        first_s = (measured_s - slice_s) / 2
    lengths = {"FIRST_S": first_s, "SLICE_S": slice_s, "WAIT_S": wait_s}
    return {name: f"{length:.3f}" for name, length in lengths.items()} | {"SLICES": str(count)}


async def _probe(server: Server, directory: str) -> Recording:
    result = await server.remote.script(
        (_HERE / "probe.sh").read_text(),
        directory,
        server.data_dir,
        server.psql("postgres")[0],
        (_HERE / "probe.sql").read_text(),
        "postgres",
        env=server.environment(local=True),
        check=False,
    )
    if result.exit_status == 0:
        binary, event, graph, *options = result.stdout.split()
        return Recording(binary, event, graph, tuple(options))
    missing = result.exit_status == 3
    raise AgentError(
        _("perf cannot be used on the agent") if missing else _("perf may not watch the server"),
        where=server.remote.address.name,
        why=" ".join(result.stderr.split()),
        todo=_("Install perf there (the package is linux-perf, perf or linux-tools).")
        if missing
        else _(
            "Set kernel.perf_event_paranoid to 2 there, or to 1 to see the kernel's functions too; in a container, "
            "allow perf_event_open."
        ),
    )


def _failure(finished: Finished) -> str:
    if finished.ok:
        return "" if "began" in finished.stdout else _("the run ended before perf was to begin")
    return _("perf broke off: {error}", error=masked_end(finished.stderr, 500))


def _directory(stage: Stage, node: str) -> str:
    return f"{stage.job_dir(stage.servers[node].remote)}/perf-{node}"


def _folder(node: str) -> str:
    return f"collectors/perf/{node}"


COLLECTOR = Perf()
