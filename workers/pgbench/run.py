"""Run pgbench as detached jobs: on the client's agent against the primary, or one for each of the stage's loads.

Arguments are pgbench's options, without program, database, progress and latency log. A path in them that is in the
attempt's directory on the first client's agent is replaced for the other clients."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from results.domain.errors import VerifyError
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.specs import timed_limit_s
from results.domain.matrix import Load
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.remote.job import Finished, Job

from . import background
from .parameters import run_arguments
from .several import LOADS, TOGETHER_S
from .version import FIRST_WITH_ACCESS_METHODS, FIRST_WITH_LOG_PREFIX, major, pgbench_version_num, version_name

_HERE = Path(__file__).parent
TOGETHER_SCRIPT = (_HERE / "until.sh").read_text() + (_HERE / "together.sh").read_text()
_LEAD_S = 1.0  # until several loads begin: longer than it takes to start all of them
_TODO = _("Mend what pgbench names, then retry the trial.")


@dataclass(frozen=True)
class ScriptFile:
    """A script for pgbench's -f.

    name: a plain word, its label on every page
    weight: its share of the transactions (9.6 and later)
    """

    name: str
    text: str
    weight: int = 1


@dataclass(frozen=True)
class ClientVersion:
    """The version of pgbench on the first client's agent.

    number: 160014."""

    number: int


async def client_version(stage: Stage) -> int:
    """Return pgbench's version number on the first client's agent (160014), read once an attempt.

    Raises VerifyError where an agent's pgbench does not print its version, or where their major versions differ.
    """
    if not stage.has_kept(ClientVersion):
        clients = stage.spec.clients
        versions = await asyncio.gather(*(_version_of(stage, client) for client in clients))
        _require_one_major(stage, dict(zip(clients, versions, strict=True)))
        stage.keep(ClientVersion(versions[0]))
    return stage.kept(ClientVersion).number


async def _version_of(stage: Stage, client: str) -> int:
    program = _program(stage, client)
    answer = await stage.agents[client].run(program, "--version")
    try:
        return pgbench_version_num(answer.stdout)
    except ValueError as error:
        raise VerifyError(
            _("pgbench did not print its version on agent {agent}.", agent=stage.spec.agents[client]),
            where=program,
            why=error.args[0],
            todo=_("Check the client programs of this installation."),
        ) from error


def _require_one_major(stage: Stage, versions: Mapping[str, int]) -> None:
    """Raise VerifyError where the clients' major versions differ.

    versions: client → number, the first client first."""
    other = next((client for client in versions if major(versions[client]) != major(versions["client"])), None)
    if other is not None:
        named = [
            _("{version} on agent {agent}", version=version_name(number), agent=stage.spec.agents[client])
            for client, number in versions.items()
        ]
        listing = linked(COMMA, named)
        raise VerifyError(
            _("The clients' pgbench is of several major versions: {versions}.", versions=listing),
            where=f"agents.{other}",
            why=_("Their numbers are added up, and each version measures and reports in its own way."),
            todo=_("Install client programs of one major version on all these agents, or name others."),
        )


async def put_scripts(stage: Stage, scripts: Sequence[ScriptFile]) -> list[str]:
    """Copy the scripts to the clients' agents; return the arguments that name them."""
    arguments: list[str] = []
    for number, script in enumerate(scripts, 1):
        path = await stage.put_on_clients(f"{number}-{script.name}.sql", script.text)
        # always with a weight, since the path may contain an '@'
        arguments += ["-f", f"{path}@{script.weight}"]
    return arguments


async def arguments(
    stage: Stage, scripts: Sequence[ScriptFile], duration_s: float, variables: Mapping[str, Scalar] | None = None
) -> list[str]:
    """Return the options of a run of these scripts, by the trial's parameters; copy the scripts to the clients' agents.

    variables: of the scripts (-D); `:scale` is the parameter `scale`, where there is one
    """
    parameters = stage.spec.parameters
    options = run_arguments(
        parameters, threads=stage.spec.threads, duration_s=duration_s, client=await client_version(stage)
    )
    if "scale" in parameters:
        options += ["-s", str(parameters["scale"])]
    for name, value in (variables or {}).items():
        options += ["-D", f"{name}={value}"]
    return options + await put_scripts(stage, scripts)


async def initialize(stage: Stage, database: str, arguments: Sequence[str]) -> None:
    """Run `pgbench -i` with these arguments; the tables use the plan's access method.

    Raises CommandError with pgbench's message where it fails.
    """
    env = _environment(stage)
    if stage.spec.access_method and stage.spec.installation.version_num >= FIRST_WITH_ACCESS_METHODS:
        env["PGOPTIONS"] = f"-c default_table_access_method={_option_value(stage.spec.access_method)}"
    argv = [_program(stage), *arguments, database]
    job = await Job.start(stage.client, f"{_job_directory(stage)}/load", argv, deadline_s=stage.left_s, env=env)
    (await job.finished()).require("pgbench", argv, where="load", todo=_TODO)


async def warm_up(stage: Stage, arguments: Sequence[str]) -> None:
    """Run the load for the plan's `warmup_s` (0: not at all); its output is stored but not measured.

    Raises CommandError with pgbench's message where it fails.
    """
    warmup_s = stage.spec.warmup_s
    if warmup_s <= 0:
        return

    async def warm_up_load(load: Load) -> None:
        client = stage.agents[load.client]
        argv = [*_command(stage, load, arguments), stage.database]
        directory = f"{stage.job_dir(client)}/warmup{_suffix(stage, load)}"
        limit_s = timed_limit_s(warmup_s, stage.spec.patience)
        job = await Job.start(client, directory, argv, deadline_s=limit_s, env=_load_environment(stage, load))
        finished = await job.finished(expected_s=warmup_s)
        _record(stage, finished, folder_of(stage, load, "workload/warmup"))
        finished.require("pgbench", argv, where="warm-up", todo=_TODO)

    await asyncio.gather(*(warm_up_load(load) for load in stage.loads))


async def start(stage: Stage, arguments: Sequence[str], script_names: Sequence[str]) -> None:
    """Start the load, with a progress line a second, and the latency log where its collector is on.

    Work beside the load (`parameters.BACKGROUND`) is started too. Several loads begin at one moment (`together.sh`).
    Raises VerifyError for work that is to begin after the window.

    script_names: labels of the scripts in pgbench's numbering
    """
    background.check(stage)
    version = await client_version(stage)
    stage.script_names = tuple(script_names)
    if stage.spec.loads:
        loads = [asdict(load) for load in stage.loads]
        stage.recorder.add(f"workload/{LOADS}", json.dumps(loads, indent=1))
    at_s = time.time() + _LEAD_S
    await asyncio.gather(*(_start(stage, load, arguments, version, at_s) for load in stage.loads))
    # Never before the window: by then one load runs, and several have begun if they begin together.
    since_s = max(at_s + TOGETHER_S, time.time()) if stage.spec.loads else time.time()
    await background.start(stage, since_s)


async def finish(stage: Stage) -> None:
    """Wait for the end of what `start` started, and record it.

    A run that breaks off raises nothing: its files are recorded under `workload/`, and `parse.run_part` reports the
    failure. Raises AgentError.
    """
    jobs = [Job.attach(stage.agents[load.client], _directory(stage, load)) for load in stage.loads]
    await asyncio.gather(*(job.wait(expected_s=stage.measured_s or 0.0) for job in jobs))
    await background.finish(stage)
    ended = await asyncio.gather(*(job.finished() for job in jobs))
    starts_s = [await _start_s(stage, load, finished) for load, finished in zip(stage.loads, ended, strict=True)]
    ends_s = [
        finished.result.ended_s - stage.clock_offset_s(load.client)
        for load, finished in zip(stage.loads, ended, strict=True)
    ]
    offset_s = stage.clock_offset_s("client")
    stage.measured(min(starts_s) + offset_s, max(ends_s) + offset_s)
    for load, finished, start_s in zip(stage.loads, ended, starts_s, strict=True):
        folder = folder_of(stage, load, "workload")
        _record(stage, finished, folder)
        if stage.spec.loads:
            stage.recorder.add(f"{folder}/began", f"{start_s:.6f}\n")


def folder_of(stage: Stage, load: Load, folder: str) -> str:
    """Return the folder of a load's files in the bundle: the folder itself where there is only one load."""
    return f"{folder}/{load.name}" if stage.spec.loads else folder


async def _start(stage: Stage, load: Load, arguments: Sequence[str], version: int, at_s: float) -> None:
    client = stage.agents[load.client]
    argv = [*stage.wrappers.get(load.name, ()), *_command(stage, load, arguments), "-P", "1"]
    cwd: str | None = None
    if stage.logs_transactions:
        prefix = PurePosixPath(latency_directory(stage, load)) / "pgbench_log"
        argv.append("-l")
        if version >= FIRST_WITH_LOG_PREFIX:
            argv.append(f"--log-prefix={prefix}")
        # pgbench before 10 writes its log, always named pgbench_log, into the working directory.
        cwd = str(prefix.parent)
    argv.append(stage.database)
    env = _load_environment(stage, load)
    command = {"argv": argv, "env": env, "version": version_name(version)}
    folder = folder_of(stage, load, "workload")
    stage.recorder.add(f"{folder}/command.json", json.dumps(command, indent=1, sort_keys=True))
    directory = _directory(stage, load)
    if stage.spec.loads:
        moment = at_s + stage.clock_offset_s(load.client)
        argv = ["sh", "-c", TOGETHER_SCRIPT, "together", f"{moment:.6f}", f"{directory}/began", *argv]
    await Job.start(client, directory, argv, deadline_s=stage.left_s, env=env, cwd=cwd)


def _directory(stage: Stage, load: Load) -> str:
    return f"{stage.job_dir(stage.agents[load.client])}/measure{_suffix(stage, load)}"


async def _start_s(stage: Stage, load: Load, finished: Finished) -> float:
    """Return when pgbench was started, by the worker's clock."""
    started_s = finished.result.started_s
    if stage.spec.loads:
        started_s = float(await finished.job.remote.get(f"{finished.job.directory}/began"))
    return started_s - stage.clock_offset_s(load.client)


def latency_directory(stage: Stage, load: Load) -> str:
    """Return the folder of a load's transaction logs, on its client's agent."""
    return f"{stage.job_dir(stage.agents[load.client])}/latency{_suffix(stage, load)}"


def _command(stage: Stage, load: Load, arguments: Sequence[str]) -> list[str]:
    """Return pgbench's command line for one load, up to the database."""
    client = stage.agents[load.client]
    program = _program(stage, load.client)
    here, there = stage.job_dir(stage.client), stage.job_dir(client)
    words = [word.replace(here, there) for word in arguments]
    if load.clients:
        words += ["-c", str(load.clients), "-j", str(load.threads or 1)]
        if "-R" in words:  # the rate is all clients' together
            rate = float(words[words.index("-R") + 1]) * load.clients / int(stage.spec.parameters["clients"])
            words += ["-R", f"{rate:.12g}"]
    return [program, *words] if load.workload else [program, *_select_only(words)]


def _select_only(words: Sequence[str]) -> list[str]:
    """Return options for the same clients and time, that only read the accounts."""
    options: list[str] = ["-n", "-S"]
    for option in ("-c", "-j", "-T", "-M", "-s"):
        if option in words:  # the last one counts
            index = len(words) - 1 - list(reversed(words)).index(option)
            options += [option, words[index + 1]]
    return options


def _suffix(stage: Stage, load: Load) -> str:
    return f"-{load.name}" if stage.spec.loads else ""


def _record(stage: Stage, finished: Finished, folder: str) -> None:
    stage.recorder.add(f"{folder}/stdout", finished.stdout)
    stage.recorder.add(f"{folder}/stderr", finished.stderr)
    stage.recorder.add(f"{folder}/exit", f"{finished.result.exit_status}\n")
    if finished.result.timed_out:
        stage.recorder.add(f"{folder}/timed_out", "the deadline ended it\n")


def _program(stage: Stage, client: str = "client") -> str:
    return f"{stage.spec.client_bin_of(client)}/pgbench"


def _job_directory(stage: Stage) -> str:
    return stage.job_dir(stage.client)


def _load_environment(stage: Stage, load: Load) -> dict[str, str]:
    # pgbench's words are parsed, so never translated
    return {**stage.environment(load), "LC_ALL": "C"}


def _environment(stage: Stage) -> dict[str, str]:
    return {**stage.primary.environment(), "LC_ALL": "C"}


def _option_value(text: str) -> str:
    """Escape a value for PGOPTIONS, where white space separates and a backslash escapes."""
    return "".join(f"\\{character}" if character in " \t\n\\" else character for character in text)
