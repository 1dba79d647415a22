"""Run SQL that may take long, as a detached job on the primary's agent that outlives a lost connection."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.remote.command import quote
from workers.remote.job import Job


async def execute(
    stage: Stage,
    name: str,
    script: str,
    *,
    database: str,
    deadline_s: float,
    variables: Mapping[str, str] | None = None,
) -> str:
    """Run a constant psql script in one session; return its output. Raises CommandError with the server's message.

    name: of the job, unique within the attempt
    variables: as in `Server.execute`
    """
    server = stage.primary
    argv = server.psql(database)
    for variable, value in (variables or {}).items():
        argv += ["-v", f"{variable}={value}"]
    body = f"exec {quote(argv)} <<'TEITEN'\n{script}\nTEITEN\n"
    directory = f"{stage.job_dir(server.remote)}/{name}"
    job = await Job.start(server.remote, directory, body, deadline_s=deadline_s, env=server.environment(local=True))
    finished = await job.finished()
    finished.require(
        "psql", argv, where=server.remote.phase, todo=_("Mend what the server names, then retry the trial.")
    )
    return finished.stdout
