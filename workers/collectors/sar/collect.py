"""Run sar on an agent as a detached job, and record its samples as JSON."""

from __future__ import annotations

from pathlib import Path

from results.domain.errors import AgentError, CommandError
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.remote.job import Job
from workers.remote.limits import ANSWER_BYTES

_HERE = Path(__file__).parent
_REPORT_LIMIT_S = 600.0
_DATA = "sar.data"
_TOOLS = "command -v sar && command -v sadf"


class Sar:
    """The collector of `workers.interfaces.Collector`."""

    async def start(self, stage: Stage, node: str) -> None:
        """Start sar, and wait for its file. Raises AgentError when sysstat is not on the agent."""
        remote = stage.agents[node]
        if (await remote.script(_TOOLS, check=False)).exit_status != 0:
            raise AgentError(
                _("sar is not on the agent"),
                where=remote.address.name,
                why=_("sar and sadf are not both on the PATH"),
                todo=_("Install the package sysstat there; its timer need not run."),
            )
        directory = _directory(stage, node)
        await Job.start(
            remote,
            directory,
            (_HERE / "start.sh").read_text(),
            deadline_s=stage.lifetime_s,
            env={"SAR_FILE": f"{directory}/{_DATA}"},
            begins=_DATA,
        )

    async def stop(self, stage: Stage, node: str) -> None:
        """End sar, and record sadf.json and started (its start, epoch seconds on the agent's clock). Samples that
        cannot be read leave a Gap with sadf's message."""
        remote, directory, folder = stage.agents[node], _directory(stage, node), f"collectors/sar/{node}"
        job = Job.attach(remote, directory)
        await job.signal("INT")
        await job.wait()
        try:
            stage.recorder.add(f"{folder}/started", await remote.get(f"{directory}/started", ANSWER_BYTES))
            await remote.script(
                (_HERE / "report.sh").read_text(),
                f"{directory}/{_DATA}",
                timeout_s=_REPORT_LIMIT_S,
                into=stage.recorder.file(f"{folder}/sadf.json"),
            )
        except CommandError as error:
            reason = error.words
            if error.exit_status is not None:
                why = (await job.stderr()).strip() or error.why
                reason = _("sar left nothing to read: {why}", why=why)
            stage.recorder.gap("sar", node, reason)


def _directory(stage: Stage, node: str) -> str:
    return f"{stage.job_dir(stage.agents[node])}/sar-{node}"


COLLECTOR = Sar()
