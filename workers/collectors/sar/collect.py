"""Run sar on an agent as a detached job, and record its samples as JSON."""

from __future__ import annotations

from pathlib import Path

from results.domain.errors import AgentError, CommandError
from workers.interfaces import Stage
from workers.remote.job import Job

_HERE = Path(__file__).parent
_TOOLS = "command -v sar && command -v sadf"


class Sar:
    """The collector of `workers.interfaces.Collector`."""

    async def start(self, stage: Stage, node: str) -> None:
        """Start sar. Raises AgentError when sysstat is not on the agent."""
        remote = stage.agents[node]
        if (await remote.script(_TOOLS, check=False)).exit_status != 0:
            raise AgentError(
                "sar is not on the agent",
                where=remote.address.name,
                why="sar and sadf are not both on the PATH",
                todo="Install the package sysstat there; its timer need not run.",
            )
        directory = _directory(stage, node)
        await Job.start(
            remote,
            directory,
            (_HERE / "start.sh").read_text(),
            deadline_s=stage.lifetime_s,
            env={"SAR_FILE": f"{directory}/sar.data"},
        )

    async def stop(self, stage: Stage, node: str) -> None:
        """End sar, and record sadf.json and started (its start, epoch seconds on the agent's clock). Samples that
        cannot be read leave a Gap with sadf's message."""
        remote, directory = stage.agents[node], _directory(stage, node)
        job = Job.attach(remote, directory)
        await job.signal("INT")
        await job.wait()
        try:
            result = await remote.script((_HERE / "report.sh").read_text(), f"{directory}/sar.data", directory)
        except CommandError as error:
            stderr = await job.stderr()
            stage.recorder.gap("sar", node, f"sar left nothing to read: {stderr.strip() or error.why}")
            return
        started, _, report = result.stdout.partition("\n")
        stage.recorder.add(f"collectors/sar/{node}/started", f"{started}\n")
        stage.recorder.add(f"collectors/sar/{node}/sadf.json", report)


def _directory(stage: Stage, node: str) -> str:
    return f"{stage.job_dir(stage.agents[node])}/sar-{node}"


COLLECTOR = Sar()
