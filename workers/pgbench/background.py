"""A CHECKPOINT or VACUUM on the primary at a stated second of the measured window, beside the load."""

from __future__ import annotations

import json
from pathlib import Path

from results.domain.errors import AgentError, VerifyError
from results.domain.kinds.specs import RUN_GRACE_S
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.remote.job import Job

from .background_report import FILE, background_work

_HERE = Path(__file__).parent
_SCRIPT = (_HERE / "until.sh").read_text() + (_HERE / "background.sh").read_text()
_SQL = {work: (_HERE / f"background_{work}.sql").read_text() for work in ("checkpoint", "vacuum")}


def check(stage: Stage) -> None:
    """Raise VerifyError where the work is to begin after the measured window, as far as its length is known before."""
    work = background_work(stage.spec.parameters)
    if work and stage.measured_s is not None and work.at_s >= stage.measured_s:
        raise VerifyError(
            _("{statement} is to run after the end of the measured window.", statement=work.statement),
            where="parameters.background_at_s",
            why=_(
                "The window is {length:g} s long, the moment is second {at:g}.", length=stage.measured_s, at=work.at_s
            ),
            todo=_("Choose an earlier second, or a longer duration."),
        )


async def start(stage: Stage, since_s: float) -> None:
    """Start a session on the primary's agent that waits for its moment, where work is requested. Raises CommandError.

    since_s: start of the window, or a little later, epoch seconds of the worker's clock
    """
    work = background_work(stage.spec.parameters)
    if work is None:
        return
    server = stage.primary
    left_s = max(0.0, stage.left_s - work.at_s) + RUN_GRACE_S
    # The server itself ends the statement where the worker died.
    env = {**server.environment(local=True), "PGOPTIONS": f"-c statement_timeout={left_s * 1000:.0f}", "LC_ALL": "C"}
    database = stage.database if work.kind == "vacuum" else "postgres"
    moment_s = since_s + work.at_s + stage.clock_offset_s("primary")
    argv = ["sh", "-c", _SCRIPT, "background", f"{moment_s:.6f}", _SQL[work.kind], *server.psql(database)]
    limit_s = work.at_s + left_s + RUN_GRACE_S
    await Job.start(server.remote, _directory(stage), argv, deadline_s=limit_s, env=env)


def _directory(stage: Stage) -> str:
    return f"{stage.job_dir(stage.primary.remote)}/background"


async def finish(stage: Stage) -> None:
    """End the session, cancel its statement if it still runs, and add its output to the recorder.

    The statement must not run on after the window, where nothing is measured. An agent that no longer answers is
    recorded as a gap.
    """
    if background_work(stage.spec.parameters) is None:
        return
    job = Job.attach(stage.primary.remote, _directory(stage))
    try:
        await job.signal("INT")
        finished = await job.finished()
    except AgentError as error:
        stage.recorder.gap("background", "primary", error.words)
        return
    content = {
        "clock_offset_s": stage.clock_offset_s("primary"),
        "ended_s": finished.result.ended_s,
        "exit_status": finished.result.exit_status,
        "stdout": finished.stdout,
        "stderr": finished.stderr,
    }
    stage.recorder.add(f"workload/{FILE}", json.dumps(content, indent=1, sort_keys=True))
