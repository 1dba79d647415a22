"""Run users' own scripts: pgbench, queries by psql, or a command, each as a detached job on the client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from results.domain.errors import VerifyError
from results.domain.kinds.parameters import Scalar
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgbench import run
from workers.pgbench.parameters import check_version, run_arguments
from workers.pgbench.run import ScriptFile
from workers.pgbench.version import FIRST_WITH_ACCESS_METHODS, FIRST_WITH_BUILTIN_NAMES, pgbench_version_num, require
from workers.remote.job import Finished, Job

from .passes import driver, file_name
from .sections import Section, sections
from .spec import COMMAND, PGBENCH, QUERIES, digest, problems, weight_of

_HERE = Path(__file__).parent
_QUERIES = (_HERE / "queries.sh").read_text()
_COMMAND = (_HERE / "command.sh").read_text()
_SETUP = (_HERE / "setup.sql").read_text()
_FIRST_WITH_ROW_COUNT = 110000  # of psql


class Script:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """The setup, by psql on the client. Raises VerifyError for a script that is not right, CommandError with
        psql's words when the setup fails."""
        _check(stage)
        setup = str(stage.spec.parameters["setup"])
        if not setup.strip():
            return
        directory = f"{stage.job_dir(stage.client)}/load"
        files = [f"{directory}/own.sql"]
        await stage.client.put(files[0], setup)
        if stage.spec.access_method and stage.spec.installation.version_num >= FIRST_WITH_ACCESS_METHODS:
            files.insert(0, f"{directory}/before.sql")
            await stage.client.put(files[0], _SETUP)
        variables = {"scale": str(stage.spec.parameters["scale"]), "access_method": stage.spec.access_method}
        argv = [f"{stage.client_bin}/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database]
        argv += [word for name, value in variables.items() for word in ("-v", f"{name}={value}")]
        argv += [word for file in files for word in ("-f", file)]
        finished = await _run(stage, "load", argv, _environment(stage, database))
        finished.require(_("The setup"), argv, where="load", todo=_("Mend the setup's SQL."))

    async def verify(self, stage: Stage) -> None:
        """Put the script onto the client and record a Check of what lies there. Raises VerifyError for a script that
        is not right, or that this pgbench or psql cannot run."""
        _check(stage)
        await _check_programs(stage)
        text = str(stage.spec.parameters["text"])
        await stage.client.put(_path(stage), text)
        answer = await stage.client.run("sha256sum", _path(stage))
        actual, expected = answer.stdout.split()[0], digest(text)
        stage.recorder.check(Check(_("script SHA-256"), "client", expected, actual, actual == expected))

    async def warm_up(self, stage: Stage) -> None:
        """pgbench for `warmup_s`; queries once by one client; a command never. Raises CommandError when it fails."""
        if stage.spec.warmup_s <= 0 or stage.spec.parameters["form"] == COMMAND:
            return
        _check(stage)
        if stage.spec.parameters["form"] == PGBENCH:
            by_time = {**stage.spec.parameters, "transactions": 0}
            await run.warm_up(stage, await _pgbench(stage, by_time, stage.spec.warmup_s))
            return
        argv = await _queries(stage, "warmup", clients=1, passes=1)
        finished = await _run(stage, "warmup", argv, _environment(stage, stage.database))
        await _keep_clients(stage, "warmup", "workload/warmup")
        finished.require(_("A query"), argv, where="warm-up", todo=_("See its output in the bundle."))

    async def start(self, stage: Stage) -> None:
        """The run. Raises CommandError."""
        parameters = stage.spec.parameters
        stage.recorder.add("workload/script", str(parameters["text"]))
        if str(parameters["setup"]).strip():
            stage.recorder.add("workload/setup.sql", str(parameters["setup"]))
        if parameters["form"] == PGBENCH:
            arguments = await _pgbench(stage, parameters, stage.spec.duration_s)
            await run.start(stage, arguments, [section.name for section in _sections(stage)])
            return
        argv = ["sh", "-c", _COMMAND, "sh", stage.client_bin, _path(stage)]
        if parameters["form"] == QUERIES:
            clients, passes = int(parameters["clients"]), int(parameters["passes"])
            argv = await _queries(stage, "measure", clients=clients, passes=passes)
        env = _environment(stage, stage.database)
        _note_command(stage, argv, env)
        await _start(stage, "measure", argv, env)

    async def finish(self, stage: Stage) -> None:
        """Its end. A run that breaks off is no exception: its files are recorded, and `parse` says that it failed."""
        form = stage.spec.parameters["form"]
        if form == PGBENCH:
            await run.finish(stage)
            return
        finished = await _finished(stage, "measure")
        stage.measured(finished.result.started_s, finished.result.ended_s)
        if form == QUERIES:
            await _keep_clients(stage, "measure", "workload")
        _record(stage, finished)


def _check(stage: Stage) -> None:
    """A plan is checked when it is made; a bundle of one made elsewhere may not have been."""
    for problem in problems(stage.spec.parameters):
        raise VerifyError(problem.what, where=f"parameters.{problem.field}", todo=problem.todo)


async def _check_programs(stage: Stage) -> None:
    form = stage.spec.parameters["form"]
    if form == PGBENCH:
        client = await run.client_version(stage)
        require("parameters.form", "pgbench", client, FIRST_WITH_BUILTIN_NAMES)
        check_version(stage.spec.parameters, client)
    elif form == QUERIES:
        answer = await stage.client.run(f"{stage.client_bin}/psql", "--version")
        require("parameters.form", "psql", pgbench_version_num(answer.stdout), _FIRST_WITH_ROW_COUNT)


async def _pgbench(stage: Stage, parameters: Mapping[str, Scalar], duration_s: float) -> list[str]:
    scripts = [ScriptFile(s.name, s.text, weight_of(s.weight)) for s in _sections(stage)]
    client = await run.client_version(stage)
    options = run_arguments(parameters, threads=stage.spec.threads, duration_s=duration_s, client=client)
    return [*options, "-s", str(parameters["scale"]), *await run.put_scripts(stage, scripts)]


async def _queries(stage: Stage, name: str, *, clients: int, passes: int) -> list[str]:
    """Put the queries and their driver where the job of this name runs, and return the job's words."""
    directory, parts = _directory(stage, name), _sections(stage)
    for number, section in enumerate(parts, 1):
        await stage.client.put(f"{directory}/{file_name(number)}", section.text)
    await stage.client.put(f"{directory}/driver.sql", driver(len(parts), passes))
    psql, scale = f"{stage.client_bin}/psql", str(stage.spec.parameters["scale"])
    return ["sh", "-c", _QUERIES, "sh", str(clients), psql, stage.database, "driver.sql", scale]


async def _run(stage: Stage, name: str, argv: list[str], env: dict[str, str]) -> Finished:
    await _start(stage, name, argv, env)
    return await _finished(stage, name)


async def _start(stage: Stage, name: str, argv: list[str], env: dict[str, str]) -> None:
    deadline_s = float(stage.spec.parameters["deadline_s"])
    await Job.start(stage.client, _directory(stage, name), argv, deadline_s=deadline_s, env=env)


async def _finished(stage: Stage, name: str) -> Finished:
    return await Job.attach(stage.client, _directory(stage, name)).finished()


def _directory(stage: Stage, name: str) -> str:
    return f"{stage.job_dir(stage.client)}/{name}"


async def _keep_clients(stage: Stage, name: str, folder: str) -> None:
    def target_of(path: str) -> Path | None:
        is_wanted = path.startswith("client-") or path.endswith(".sql")
        return stage.recorder.file(f"{folder}/{path}") if is_wanted else None

    await stage.client.fetch_folder(_directory(stage, name), target_of)


def _record(stage: Stage, finished: Finished) -> None:
    stage.recorder.add("workload/stdout", finished.stdout)
    stage.recorder.add("workload/stderr", finished.stderr)
    stage.recorder.add("workload/exit", f"{finished.result.exit_status}\n")
    if finished.result.timed_out:
        stage.recorder.add("workload/timed_out", "the deadline ended it\n")


def _note_command(stage: Stage, argv: list[str], env: dict[str, str]) -> None:
    command = {"argv": argv, "env": env, "script SHA-256": digest(str(stage.spec.parameters["text"]))}
    stage.recorder.add("workload/command.json", json.dumps(command, indent=1, sort_keys=True))


def _environment(stage: Stage, database: str) -> dict[str, str]:
    parameters = stage.spec.parameters
    return {
        **stage.primary.environment(),
        "PGDATABASE": database,
        "LC_ALL": "C.UTF-8" if parameters["form"] == COMMAND else "C",  # psql's words are parsed, so never translated
        "TEITEN_SCALE": str(parameters["scale"]),
        "TEITEN_CLIENTS": str(parameters["clients"]),
    }


def _sections(stage: Stage) -> tuple[Section, ...]:
    return sections(str(stage.spec.parameters["text"]), str(stage.spec.parameters["form"]))


def _path(stage: Stage) -> str:
    return f"{stage.job_dir(stage.client)}/own/script"


WORKLOAD = Script()
