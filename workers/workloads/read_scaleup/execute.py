"""Runs the read scale-up."""

from __future__ import annotations

import json
from pathlib import Path

from workers.interfaces import Stage
from workers.pgbench import detached, run, tables
from workers.pgbench.run import ScriptFile

from .queries import SCRIPTS, check_pages, check_plan, check_range, explain_script
from .spec import INDEX_ONLY

_HERE = Path(__file__).parent
_INDEX = (_HERE / "index.sql").read_text()
_VACUUM = (_HERE / "vacuum.sql").read_text()
_FIRST_WITH_INDEX_CLEANUP = 120000
_PAGES = (_HERE / "pages.sql").read_text()


class ReadScaleup:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """`pgbench -i`, and the index for index-only. Raises VerifyError for what does not fit or is lacking,
        CommandError with pgbench's or the server's own words."""
        check_range(stage.spec.parameters)
        await tables.load(stage, database)
        if _index_only(stage):
            await _detached(stage, "index", _INDEX + _VACUUM, database)

    async def verify(self, stage: Stage) -> None:
        """Record the plan of the very query and a Check for the rows; for index-only also that the plan reads the
        index alone and that the visibility map is whole."""
        parameters = stage.spec.parameters
        check_range(parameters)
        await run.client_version(stage)
        await tables.check(stage, "read_scaleup")
        bounds = {"aid": "1", "aid_last": str(1 + int(parameters["row_count"]))}
        script = explain_script(str(parameters["variant"]), str(parameters["protocol"]))
        plan = await stage.primary.execute(script, database=stage.database, variables=bounds)
        stage.recorder.add("workload/plan.json", plan)
        if _index_only(stage):
            stage.recorder.check(check_plan(json.loads(plan)))
            [row] = await stage.primary.query(_PAGES, database=stage.database)
            stage.recorder.check(check_pages(row["pages"], row["all_visible"]))

    async def warm_up(self, stage: Stage) -> None:
        """For index-only the visibility map is set, and counted, anew: data that trials share may have been touched.
        Then the load for `warmup_s`."""
        if _index_only(stage):
            await _detached(stage, "vacuum", _VACUUM, stage.database)
        if stage.spec.warmup_s > 0:
            await run.warm_up(stage, await _arguments(stage, stage.spec.warmup_s))

    async def start(self, stage: Stage) -> None:
        """The run; see `workers.pgbench.run.start`."""
        arguments = await _arguments(stage, stage.spec.duration_s)
        await run.start(stage, arguments, [str(stage.spec.parameters["variant"])])

    async def finish(self, stage: Stage) -> None:
        """The run's end; see `workers.pgbench.run.finish`."""
        await run.finish(stage)


async def _arguments(stage: Stage, duration_s: float) -> list[str]:
    variant = str(stage.spec.parameters["variant"])
    variables = {"row_count": stage.spec.parameters["row_count"]}
    return await run.arguments(stage, [ScriptFile(variant, SCRIPTS[variant])], duration_s, variables)


async def _detached(stage: Stage, name: str, script: str, database: str) -> None:
    has_index_cleanup = stage.spec.installation.version_num >= _FIRST_WITH_INDEX_CLEANUP
    await detached.execute(
        stage,
        name,
        script,
        database=database,
        deadline_s=stage.left_s,
        variables={"has_index_cleanup": "on" if has_index_cleanup else "off"},
    )


def _index_only(stage: Stage) -> bool:
    return stage.spec.parameters["variant"] == INDEX_ONLY


WORKLOAD = ReadScaleup()
