"""A CHECKPOINT or VACUUM on the primary at a stated second of the measured window, beside the load."""

from __future__ import annotations

import json
from pathlib import Path

from results.domain.errors import AgentError, VerifyError
from results.domain.kinds.specs import RUN_GRACE_S
from workers.interfaces import Stage
from workers.remote.job import Job

from .background_report import FILE, asked_for

_HERE = Path(__file__).parent
_SCRIPT = (_HERE / "until.sh").read_text() + (_HERE / "background.sh").read_text()
_SQL = {work: (_HERE / f"background_{work}.sql").read_text() for work in ("checkpoint", "vacuum")}


def check(stage: Stage) -> None:
    """Raises VerifyError when the moment lies outside the measured window, as far as its length is known before."""
    asked = asked_for(stage.spec.parameters)
    if asked and stage.measured_s is not None and asked.at_s >= stage.measured_s:
        raise VerifyError(
            f"{asked.statement} is to run after the end of the measured window.",
            where="parameters.background_at_s",
            why=f"The window is {stage.measured_s:g} s long, the moment is second {asked.at_s:g}.",
            todo="Choose an earlier second, or a longer duration.",
        )


async def start(stage: Stage, since_s: float) -> Job | None:
    """Starts a session on the primary's agent that waits for its moment; None where nothing is asked for. since_s: the
    window's start, or a little later, epoch seconds of the worker. Raises CommandError."""
    asked = asked_for(stage.spec.parameters)
    if asked is None:
        return None
    server = stage.primary
    left_s = max(0.0, stage.left_s - asked.at_s) + RUN_GRACE_S
    # the server itself ends work that was forgotten, as by a worker that died
    env = {**server.environment(local=True), "PGOPTIONS": f"-c statement_timeout={left_s * 1000:.0f}", "LC_ALL": "C"}
    database = stage.database if asked.work == "vacuum" else "postgres"
    moment_s = since_s + asked.at_s + stage.clock_offset_s("primary")
    argv = ["sh", "-c", _SCRIPT, "background", f"{moment_s:.6f}", _SQL[asked.work], *server.psql(database)]
    directory = f"{stage.job_dir(server.remote)}/background"
    return await Job.start(server.remote, directory, argv, deadline_s=asked.at_s + left_s + RUN_GRACE_S, env=env)


async def finish(stage: Stage, job: Job | None) -> None:
    """Ends the session, cancelling what still runs: what comes after the window is in no number, and must not be. Adds
    what it said to the recorder; an agent that no longer answers costs a gap, and so the trial."""
    if job is None:
        return
    try:
        await job.signal("INT")
        finished = await job.finished()
    except AgentError as error:
        stage.recorder.gap("background", "primary", str(error))
        return
    content = {
        "clock_offset_s": stage.clock_offset_s("primary"),
        "ended_s": finished.result.ended_s,
        "exit_status": finished.result.exit_status,
        "stdout": finished.stdout,
        "stderr": finished.stderr,
    }
    stage.recorder.add(f"workload/{FILE}", json.dumps(content, indent=1, sort_keys=True))
