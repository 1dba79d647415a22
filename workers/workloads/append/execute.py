"""Run the append workload."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import TeitenError
from results.domain.kinds.specs import timed_limit_s
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgbench import detached, run
from workers.pgbench.parameters import check_server
from workers.pgbench.run import ScriptFile
from workers.pgbench.version import FIRST_WITH_ACCESS_METHODS, require

from .partitions import script, seconds_ahead
from .spec import FIRST_WITH_PARTITIONED_INDEXES

_HERE = Path(__file__).parent
_TABLE, _PARTITIONS, _READY, _ROWS = (
    (_HERE / f"{name}.sql").read_text() for name in ("table", "partitions", "ready", "rows")
)
_INDEXES = {
    "source": (_HERE / "index_source.sql").read_text(),
    "time": (_HERE / "index_time.sql").read_text(),
    "none": "",
}


@dataclass(frozen=True)
class RowsBefore:
    """How many rows the table had before the run."""

    count: int


class Append:
    """The workload of `workers.interfaces.Workload` and `AuditingWorkload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """Create the table, without partitions. Raises VerifyError for what the server lacks."""
        _require(stage)
        await stage.primary.execute(_TABLE + _INDEXES[str(stage.spec.parameters["index"])], database=database)

    async def verify(self, stage: Stage) -> None:
        """Record a Check that partitions reach past the run's end, and count the rows that are there before it."""
        _require(stage)
        await run.client_version(stage)
        [row] = await stage.primary.query(_READY, database=stage.database)
        required_s = timed_limit_s(stage.spec.duration_s, stage.spec.patience)
        seconds = float(row["seconds"] or 0)
        actual = _("{seconds:.0f} s ahead, {partitions} partitions", seconds=seconds, partitions=row["partitions"])
        expected = _("at least {seconds:.0f} s ahead", seconds=required_s)
        stage.recorder.check(Check("append.partitions", "primary", expected, actual, seconds >= required_s))
        stage.keep(RowsBefore(int(row["rows"])))

    async def warm_up(self, stage: Stage) -> None:
        """Partitions for the time from now to the end of the run; then the load for `warmup_s`, whose rows stay."""
        spec = stage.spec
        has_access_method = bool(spec.access_method) and spec.installation.version_num >= FIRST_WITH_ACCESS_METHODS
        variables = {
            "step": str(spec.parameters["partition_s"]),
            "seconds": str(seconds_ahead(spec.parameters, spec.warmup_s, spec.duration_s, spec.patience)),
            "has_access_method": "on" if has_access_method else "off",
            "access_method": spec.access_method,
        }
        await stage.primary.execute(_PARTITIONS, database=stage.database, variables=variables)
        if spec.warmup_s > 0:
            await run.warm_up(stage, await _arguments(stage, spec.warmup_s))

    async def start(self, stage: Stage) -> None:
        """The run; see `workers.pgbench.run.start`."""
        await run.start(stage, await _arguments(stage, stage.spec.duration_s), ["append"])

    async def finish(self, stage: Stage) -> None:
        """The run's end; see `workers.pgbench.run.finish`."""
        await run.finish(stage)

    async def audit(self, stage: Stage) -> None:
        """Count the server's rows. Without an answer there is a Gap, and the trial fails."""
        try:
            count = await detached.execute(stage, "rows", _ROWS, database=stage.database, deadline_s=stage.left_s)
        except TeitenError as error:
            stage.recorder.gap("append", "primary", _("the rows could not be counted: {error}", error=error.words))
            return
        counted = {"before": stage.kept(RowsBefore).count, "after": int(count)}
        stage.recorder.add("workload/rows.json", json.dumps(counted))


def _require(stage: Stage) -> None:
    version_num = stage.spec.installation.version_num
    require("workload", "PostgreSQL", version_num, FIRST_WITH_PARTITIONED_INDEXES)
    check_server(stage.spec.access_method, version_num)
    spec = stage.spec
    seconds_ahead(spec.parameters, spec.warmup_s, spec.duration_s, spec.patience)


async def _arguments(stage: Stage, duration_s: float) -> list[str]:
    parameters = stage.spec.parameters
    variables = {"rows": parameters["rows_per_transaction"]}
    return await run.arguments(stage, [ScriptFile("append", script(parameters))], duration_s, variables)


WORKLOAD = Append()
