"""Query and end a running pgpool-II."""

from __future__ import annotations

import posixpath

from results.domain.errors import TrialError
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.postgres.server import Server
from workers.remote.job import Job

NODES = "POOL_NODES"
_LAST_LINES = 12
_PATIENCE_S = 60.0
# $1: its directory; $2: its job's; $3: patience in seconds. Prints `killed` where it had to be.
_END = """
pid=$(cat "$1/pid") && kill -s INT "$pid"
flock -s -w "$3" "$2/lock" true && exit
kill -s KILL "$pid" && echo killed
"""


async def show(stage: Stage, what: str, node: str = "pooler") -> str:
    """Return the result of SHOW, rows under their heading, for `answers.read_rows`. Raises CommandError.

    what: a constant
    """
    pooler = stage.poolers[node]
    program = f"{pooler.installation.client_bin}/psql"
    # Not by stdin, which nobody reads where psql is refused at once.
    words = (program, "-X", "-A", "-P", "footer=off", "-d", stage.database, "-c", f"SHOW {what}")
    return (await pooler.remote.run(*words, env=pooler.environment(local=True))).stdout


async def require_alive(stage: Stage, node: str = "pooler") -> None:
    """Raise TrialError with the end of its log where pgpool-II has ended."""
    pooler = stage.poolers[node]
    result = await pooler.remote.script('cat -- "$1/exit" 2>/dev/null', job_directory(pooler), check=False)
    if result.exit_status == 0:
        raise TrialError(
            _("pgpool-II ended on {agent}.", agent=pooler.remote.address.name),
            where=pooler.remote.phase,
            why=_(
                "Its exit status was {status}. Its last messages:\n{messages}",
                status=result.stdout.strip(),
                messages=await last_words(pooler),
            ),
            todo=_("Look at its log, which is kept with the trial."),
        )


async def end(stage: Stage, node: str = "pooler") -> None:
    """Stop pgpool-II and wait for its end, so that it frees its shared memory. Raises AgentError.

    One that is still running after a minute is killed, which is recorded as a gap.
    """
    pooler = stage.poolers[node]
    words = (pooler.data_dir, job_directory(pooler), f"{_PATIENCE_S:g}")
    result = await pooler.remote.script(_END, *words, check=False, timeout_s=_PATIENCE_S + 60)
    await Job.attach(pooler.remote, job_directory(pooler)).wait()
    if "killed" in result.stdout:
        stage.recorder.gap(
            "pgpool", node, _("it had not ended after {seconds:g} s and was killed", seconds=_PATIENCE_S)
        )


async def last_words(pooler: Server) -> str:
    """Return the end of pgpool-II's log."""
    return "\n".join((await pooler.log_tail()).splitlines()[-_LAST_LINES:])


def job_directory(pooler: Server) -> str:
    """Return the directory of the job that runs it."""
    return posixpath.dirname(pooler.data_dir)
