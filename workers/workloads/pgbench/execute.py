"""Runs pgbench on the client agent against the primary, as detached jobs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from results.errors import CommandError, VerifyError
from results.parameters import Scalar
from results.parsed import Check
from workers.interfaces import Stage
from workers.remote.command import quote
from workers.remote.job import Job, JobResult

from .options import (
    FIRST_WITH_ACCESS_METHODS,
    FIRST_WITH_LOG_PREFIX,
    check_version,
    load_arguments,
    pgbench_version_num,
    run_arguments,
    script_names,
    version_name,
)

_HERE = Path(__file__).parent
_LOAD_GRACE_S = 600.0
_LOAD_S_PER_SCALE = 20.0
_RUN_GRACE_S = 60.0
_LONGEST_BY_TRANSACTIONS_S = 12 * 3600.0
_ACCOUNTS_PER_SCALE = 100_000
_TELLERS_PER_SCALE = 10


class Pgbench:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """`pgbench -i` and the setup script. Raises VerifyError for what the versions lack, CommandError with
        pgbench's own words when it fails."""
        parameters = stage.spec.parameters
        await _check_version(stage)
        argv = [_program(stage), *load_arguments(parameters), database]
        env = _environment(stage)
        if stage.spec.access_method and stage.spec.installation.version_num >= FIRST_WITH_ACCESS_METHODS:
            env["PGOPTIONS"] = f"-c default_table_access_method={_option_value(stage.spec.access_method)}"
        deadline_s = _LOAD_GRACE_S + _LOAD_S_PER_SCALE * int(parameters["scale"])
        job, result = await _run(stage, "load", argv, env, deadline_s)
        if result.exit_status != 0 or result.timed_out:
            raise await _failed(stage, job, result, argv, "load", deadline_s)
        if str(parameters["setup_script"]).strip():
            await stage.primary.execute(str(parameters["setup_script"]), database=database)

    async def verify(self, stage: Stage) -> None:
        """Records a Check for each property of the loaded data. Raises VerifyError for what the versions
        lack."""
        await _check_version(stage)
        rows = await stage.primary.query((_HERE / "verify.sql").read_text(), database=stage.database)
        for name, wanted in _expected(stage.spec.parameters).items():
            actual = rows[0][name]
            stage.recorder.check(Check(f"pgbench.{name}", "primary", str(wanted), str(actual), actual == wanted))

    async def warm_up(self, stage: Stage) -> None:
        """The load for `warmup_s`, thrown away though its output is kept; then VACUUM where the plan asks for it.
        Raises CommandError with pgbench's own words when it fails."""
        await _check_version(stage)
        if stage.spec.warmup_s > 0:
            await _warm_up(stage, await _put_custom_script(stage))
        if stage.spec.parameters["vacuum"]:
            await stage.primary.execute((_HERE / "vacuum.sql").read_text(), database=stage.database)

    async def measure(self, stage: Stage) -> None:
        """The run. One that breaks off is no exception here: its files are recorded, and `parse` says that it
        failed."""
        parameters = stage.spec.parameters
        custom_path = await _put_custom_script(stage)
        stage.facts["scripts"] = script_names(str(parameters["script"]))
        argv = [_program(stage), *_run_arguments(stage, custom_path, stage.spec.duration_s), "-P", "1"]
        prefix = str(stage.facts.get("latency_prefix", ""))
        if prefix:
            argv.append("-l")
            if stage.facts["pgbench_version_num"] >= FIRST_WITH_LOG_PREFIX:
                argv.append(f"--log-prefix={prefix}")
        argv.append(stage.database)
        # pgbench before 10 writes its log, always called pgbench_log, into the working directory
        cwd = str(PurePosixPath(prefix).parent) if prefix else None
        await _measured(stage, argv, cwd)


async def _measured(stage: Stage, argv: Sequence[str], cwd: str | None) -> None:
    env, deadline_s = _environment(stage), _deadline_s(stage, stage.spec.duration_s)
    command = {"argv": list(argv), "env": env, "version": version_name(stage.facts["pgbench_version_num"])}
    stage.recorder.add("workload/command.json", json.dumps(command, indent=1, sort_keys=True))
    job = await Job.start(stage.client, f"{_job_dir(stage)}/measure", argv, deadline_s=deadline_s, env=env, cwd=cwd)
    result = await job.wait(expected_s=_expected_s(stage, stage.spec.duration_s))
    offset_s = float(stage.facts.get("clock_offset_s", 0.0))
    window = [result.started_s - offset_s, result.ended_s - offset_s]
    stage.facts["window"] = window
    stage.recorder.note("window", window)
    await _record(stage, job, result, "workload")


async def _warm_up(stage: Stage, custom_path: str) -> None:
    warmup_s = stage.spec.warmup_s
    arguments = _run_arguments(stage, custom_path, warmup_s, by_time=True)
    argv = [_program(stage), *arguments, stage.database]
    deadline_s = warmup_s + _RUN_GRACE_S
    job, result = await _run(stage, "warmup", argv, _environment(stage), deadline_s, warmup_s)
    await _record(stage, job, result, "workload/warmup")
    if result.exit_status != 0 or result.timed_out:
        raise await _failed(stage, job, result, argv, "warm-up", deadline_s)


def _run_arguments(stage: Stage, custom_path: str, duration_s: float, by_time: bool = False) -> list[str]:
    parameters = dict(stage.spec.parameters)
    if by_time:
        parameters["transactions"] = 0
    return run_arguments(
        parameters,
        threads=stage.spec.threads,
        client=stage.facts["pgbench_version_num"],
        custom_path=custom_path,
        duration_s=duration_s,
    )


async def _run(
    stage: Stage,
    name: str,
    argv: Sequence[str],
    env: Mapping[str, str],
    deadline_s: float,
    expected_s: float = 0,
) -> tuple[Job, JobResult]:
    job = await Job.start(stage.client, f"{_job_dir(stage)}/{name}", argv, deadline_s=deadline_s, env=env)
    return job, await job.wait(expected_s=expected_s)


async def _record(stage: Stage, job: Job, result: JobResult, folder: str) -> None:
    stdout, stderr = await asyncio.gather(job.stdout(), job.stderr())
    stage.recorder.add(f"{folder}/stdout", stdout)
    stage.recorder.add(f"{folder}/stderr", stderr)
    stage.recorder.add(f"{folder}/exit", f"{result.exit_status}\n")
    if result.timed_out:
        stage.recorder.add(f"{folder}/timed_out", "the deadline ended it\n")


async def _failed(
    stage: Stage, job: Job, result: JobResult, argv: Sequence[str], phase: str, deadline_s: float
) -> CommandError:
    stdout, stderr = await asyncio.gather(job.stdout(), job.stderr())
    ending = f"did not end within {deadline_s:g} s" if result.timed_out else f"ended with status {result.exit_status}"
    return CommandError(
        f"pgbench {ending}",
        where=phase,
        command=quote(argv),
        exit_status=result.exit_status,
        stdout=stdout,
        stderr=stderr,
        host=stage.client.address.name,
        todo="Mend what pgbench names, then retry the trial.",
    )


async def _put_custom_script(stage: Stage) -> str:
    """The custom script's path on the client; '' when none is used."""
    if "custom" not in str(stage.spec.parameters["script"]):
        return ""
    path = f"{_job_dir(stage)}/custom.sql"
    await stage.client.put(path, str(stage.spec.parameters["custom_script"]))
    return path


async def _check_version(stage: Stage) -> None:
    """Asks pgbench for its version once an attempt, and checks the parameters against it."""
    if "pgbench_version_num" not in stage.facts:
        answer = await stage.client.run(_program(stage), "--version")
        try:
            stage.facts["pgbench_version_num"] = pgbench_version_num(answer.stdout)
        except ValueError as error:
            raise VerifyError(
                "pgbench did not say its version",
                where=_program(stage),
                why=str(error),
                todo="Check the client programs of this installation.",
            ) from error
    spec = stage.spec
    check_version(
        spec.parameters, spec.access_method, stage.facts["pgbench_version_num"], spec.installation.version_num
    )


def _expected(parameters: Mapping[str, Scalar]) -> dict[str, int | bool]:
    scale = int(parameters["scale"])
    return {
        "branches": scale,
        "tellers": scale * _TELLERS_PER_SCALE,
        "accounts": scale * _ACCOUNTS_PER_SCALE,
        "partitions": int(parameters["partitions"]),
        "unlogged": bool(parameters["unlogged"]),
    }


def _deadline_s(stage: Stage, duration_s: float) -> float:
    if int(stage.spec.parameters["transactions"]):
        return _LONGEST_BY_TRANSACTIONS_S
    # the last transactions are let finish, however long they take
    return duration_s * 1.5 + _RUN_GRACE_S


def _expected_s(stage: Stage, duration_s: float) -> float:
    return 0.0 if int(stage.spec.parameters["transactions"]) else duration_s


def _program(stage: Stage) -> str:
    return f"{stage.spec.client_bin or stage.spec.installation.client_bin}/pgbench"


def _job_dir(stage: Stage) -> str:
    return stage.job_dir(stage.client)


def _environment(stage: Stage) -> dict[str, str]:
    # pgbench's words are parsed, so never translated
    return {**stage.primary.environment(), "LC_ALL": "C"}


def _option_value(text: str) -> str:
    """A value inside PGOPTIONS, where white space separates and a backslash escapes."""
    return "".join(f"\\{character}" if character in " \t\n\\" else character for character in text)


WORKLOAD = Pgbench()
