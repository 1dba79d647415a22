"""Runs the update scale-up."""

from __future__ import annotations

from pathlib import Path

from workers.interfaces import Stage
from workers.pgbench import run, tables
from workers.pgbench.run import ScriptFile

_SCRIPT = ScriptFile("update", (Path(__file__).parent / "update.sql").read_text())


class UpdateScaleup:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """`pgbench -i` with the fill factor. Raises VerifyError for what is lacking, CommandError with pgbench's own
        words."""
        await tables.load(stage, database, ["-F", str(stage.spec.parameters["fillfactor"])])

    async def verify(self, stage: Stage) -> None:
        """Record a Check for the rows and the fill factor."""
        await run.client_version(stage)
        await tables.check(stage, "update_scaleup", {"fillfactor": int(stage.spec.parameters["fillfactor"])})

    async def warm_up(self, stage: Stage) -> None:
        """The load for `warmup_s`. Its updates stay in the table."""
        if stage.spec.warmup_s > 0:
            await run.warm_up(stage, await run.arguments(stage, [_SCRIPT], stage.spec.warmup_s))

    async def start(self, stage: Stage) -> None:
        """The run; see `workers.pgbench.run.start`."""
        await run.start(stage, await run.arguments(stage, [_SCRIPT], stage.spec.duration_s), [_SCRIPT.name])

    async def finish(self, stage: Stage) -> None:
        """The run's end; see `workers.pgbench.run.finish`."""
        await run.finish(stage)


WORKLOAD = UpdateScaleup()
