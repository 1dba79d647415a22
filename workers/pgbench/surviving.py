"""Run pgbench beyond the loss of its server: its clients end with their connections, so it is started again until it
reaches a server that takes writes. Every run's output is kept, and the transactions that its clients saw committed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from results.domain.errors import AgentError, ParseError
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.remote.connection import Remote
from workers.remote.job import Finished, Job
from workers.remote.limits import OUTPUT_BYTES

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
) -> None:
    """Start pgbench on the client's agent for the plan's duration, with its transaction log. Raises CommandError.

    environment: libpq variables of the first run
    database: its name, or a connection string
    again: PGHOST and PGPORT of every further run
    pause_s: seconds before each further run; None for no further run
    """
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
    await Job.start(stage.client, _directory(stage), argv, deadline_s=stage.left_s, env=env)


def job_of(stage: Stage) -> Job:
    """Return the job that `start` started."""
    return Job.attach(stage.client, _directory(stage))


def _directory(stage: Stage) -> str:
    return f"{stage.job_dir(stage.client)}/measure"


async def record(stage: Stage, finished: Finished) -> None:
    """Add every run's output and the folded logs to the recorder, below `workload/`, and note the measured window.

    The logs stay for the collector latency_log. Raises AgentError where they cannot be folded.
    """
    stage.measured(finished.result.started_s, finished.result.ended_s)
    runs = await _runs(stage.client, f"{finished.job.directory}/runs")
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
        into=stage.recorder.file(f"workload/{FOLDED}"),
    )
    if result.exit_status != 0:
        raise AgentError(
            _("The transaction logs could not be folded."),
            where=stage.client.address.name,
            why=result.stderr.strip(),
            todo=_("Install mawk or gawk on the agent."),
        )


_FOLD_LOGS = """
echo "origin $2"
cd -- "$1" || exit
for log in pgbench_log.*; do
    [ -e "$log" ] || exit 0
done
exec awk -v origin="$2" "$3" pgbench_log.*
"""


async def _runs(client: Remote, folder: str) -> list[dict[str, Any]]:
    """Return the output of each run. Raises ParseError for files that are none of its script's, and AgentError."""
    with tempfile.TemporaryDirectory() as directory:

        def target_of(path: str) -> Path:
            target = Path(directory, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            return target

        await client.fetch_folder(folder, target_of, OUTPUT_BYTES)
        try:
            numbers = sorted(int(path.name) for path in Path(directory).iterdir())
            return [_run(Path(directory, str(number)), number).as_dict() for number in numbers]
        except (ValueError, NotADirectoryError) as error:
            raise ParseError(_("The files of pgbench's runs cannot be read."), file=folder, text=str(error)) from error


def _run(folder: Path, number: int) -> Run:
    def text(name: str) -> str:
        path = folder / name
        return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""

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
