"""Runs pgbench's own scripts and a custom one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from results.domain.kinds.parameters import Scalar
from workers.interfaces import Stage
from workers.pgbench import run, tables

from .options import check_version, load_arguments, run_arguments, script_names

_HERE = Path(__file__).parent


class Pgbench:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """`pgbench -i` and the setup script. Raises VerifyError for what the versions lack, CommandError with
        pgbench's own words when it fails."""
        parameters = stage.spec.parameters
        await _check_version(stage)
        await tables.load(stage, database, load_arguments(parameters))
        if str(parameters["setup_script"]).strip():
            await stage.primary.execute(str(parameters["setup_script"]), database=database)

    async def verify(self, stage: Stage) -> None:
        """Record a Check for each property of the loaded data. Raises VerifyError for what the versions
        lack."""
        await _check_version(stage)
        parameters = stage.spec.parameters
        expected = {"partitions": int(parameters["partitions"]), "unlogged": bool(parameters["unlogged"])}
        await tables.check(stage, "pgbench", expected)

    async def warm_up(self, stage: Stage) -> None:
        """The load for `warmup_s`; then VACUUM where the plan asks for it. Raises CommandError with pgbench's own words
        when it fails."""
        await _check_version(stage)
        if stage.spec.warmup_s > 0:
            by_time = {**stage.spec.parameters, "transactions": 0}
            await run.warm_up(stage, await _arguments(stage, by_time, stage.spec.warmup_s))
        if stage.spec.parameters["vacuum"]:
            await stage.primary.execute((_HERE / "vacuum.sql").read_text(), database=stage.database)

    async def start(self, stage: Stage) -> None:
        """The run; see `workers.pgbench.run.start`."""
        parameters = stage.spec.parameters
        arguments = await _arguments(stage, parameters, stage.spec.duration_s)
        await run.start(stage, arguments, script_names(str(parameters["script"])))

    async def finish(self, stage: Stage) -> None:
        """The run's end; see `workers.pgbench.run.finish`."""
        await run.finish(stage)


async def _arguments(stage: Stage, parameters: Mapping[str, Scalar], duration_s: float) -> list[str]:
    custom_path = ""
    if "custom" in str(parameters["script"]):
        custom_path = await stage.put_on_clients("custom.sql", str(parameters["custom_script"]))
    return run_arguments(
        parameters,
        threads=stage.spec.threads,
        client=await run.client_version(stage),
        custom_path=custom_path,
        duration_s=duration_s,
    )


async def _check_version(stage: Stage) -> None:
    spec = stage.spec
    client = await run.client_version(stage)
    check_version(spec.parameters, spec.access_method, client, spec.installation.version_num)


WORKLOAD = Pgbench()
