"""Run pgbench beyond the loss of its server: its clients end with their connections, so it is started again until it
reaches a server that takes writes. Every run's output is kept, and the transactions that its clients saw committed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from results.domain.errors import AgentError
from workers.interfaces import Stage
from workers.remote.job import Finished, Job

from .restarts import FOLDED, RUNS, Run
from .run import latency_directory

_HERE = Path(__file__).parent
_SCRIPT = (_HERE / "surviving.sh").read_text()
_FOLD = (_HERE / "surviving.awk").read_text()
_FOLD_LIMIT_S = 1800.0


async def start(
    stage: Stage,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    database: str,
    again: Mapping[str, str],
    pause_s: float | None,
) -> Job:
    """Start pgbench on the client's agent for the plan's duration, with its transaction log. Raises CommandError.

    environment: libpq variables of the first run
    database: its name, or a connection string
    again: PGHOST and PGPORT of every further run
    pause_s: seconds before each further run; None for no further run
    """
    directory = f"{stage.job_dir(stage.client)}/measure"
    logs = latency_directory(stage, stage.loads[0])
    program = [f"{stage.client_bin}/pgbench", *arguments]
    env = {**environment, "LC_ALL": "C"}  # pgbench's words are parsed, so never translated
    stage.recorder.add("workload/command.json", json.dumps({"argv": program, "env": env}, indent=1, sort_keys=True))
    await stage.client.run("mkdir", "-p", "--", logs)
    pause = "" if pause_s is None else f"{pause_s:g}"
    script_arguments = [
        f"{stage.spec.duration_s:g}",
        pause,
        f"{logs}/pgbench_log",
        database,
        again["PGHOST"],
        again["PGPORT"],
    ]
    argv = ["sh", "-c", _SCRIPT, "surviving", *script_arguments, *program]
    return await Job.start(stage.client, directory, argv, deadline_s=stage.left_s, env=env)


async def record(stage: Stage, finished: Finished) -> None:
    """Add every run's output and the folded logs to the recorder, below `workload/`, and note the measured window.

    The logs stay for the collector latency_log. Raises AgentError where they cannot be folded.
    """
    stage.measured(finished.result.started_s, finished.result.ended_s)
    files = await stage.client.tree(f"{finished.job.directory}/runs")
    run_numbers = sorted({int(path.partition("/")[0]) for path in files})
    runs = [_run(files, number).as_dict() for number in run_numbers]
    stage.recorder.add(f"workload/{RUNS}", json.dumps(runs, indent=1))
    if finished.result.timed_out:
        stage.recorder.add("workload/timed_out", "the deadline ended it\n")
    result = await stage.client.script(
        _FOLD_LOGS,
        latency_directory(stage, stage.loads[0]),
        f"{finished.result.started_s:.6f}",
        _FOLD,
        check=False,
        timeout_s=_FOLD_LIMIT_S,
    )
    if result.exit_status != 0:
        raise AgentError(
            "The transaction logs could not be folded.",
            where=stage.client.address.name,
            why=result.stderr.strip(),
            todo="Install mawk or gawk on the agent.",
        )
    stage.recorder.add(f"workload/{FOLDED}", f"origin {finished.result.started_s:.6f}\n{result.stdout}")


_FOLD_LOGS = """
cd -- "$1" || exit
for log in pgbench_log.*; do
    [ -e "$log" ] || exit 0
done
exec awk -v origin="$2" "$3" pgbench_log.*
"""


def _run(files: Mapping[str, bytes], number: int) -> Run:
    def text(name: str) -> str:
        return files.get(f"{number}/{name}", b"").decode("utf-8", "replace")

    # A run that was ended with its job has written neither.
    exit_status, ended_s = text("exit").strip(), text("ended").strip()
    return Run(
        number=number,
        began_s=float(text("began")),
        ended_s=float(ended_s) if ended_s else None,
        exit_status=int(exit_status) if exit_status else None,
        stdout=text("stdout"),
        stderr=text("stderr"),
    )
