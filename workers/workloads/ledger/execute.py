"""Runs the ledger."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import TeitenError
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgbench import run, surviving
from workers.pgbench.parameters import check_server
from workers.pgbench.run import ScriptFile
from workers.pgbench.version import FIRST_WITH_ACCESS_METHODS, FIRST_WITH_LOG_PREFIX, FIRST_WITH_USER_TIMEOUT, require
from workers.replication import failover
from workers.replication.failover_parameters import failover_options

_HERE = Path(__file__).parent
_TABLE, _ENTRY, _PRESENT = ((_HERE / f"{name}.sql").read_text() for name in ("table", "entry", "present"))
_ROWS = "SELECT count(*) AS rows FROM ledger"


@dataclass(frozen=True)
class Began:
    """When the run had surely begun, by time.monotonic(): nothing of the failover comes before its second."""

    monotonic_s: float


class Ledger:
    """The workload of `workers.interfaces.Workload` and `AuditingWorkload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """The table, empty. Raises VerifyError for what the versions lack."""
        await _require(stage)
        spec = stage.spec
        named = bool(spec.access_method) and spec.installation.version_num >= FIRST_WITH_ACCESS_METHODS
        variables = {"has_access_method": "on" if named else "off", "access_method": spec.access_method}
        await stage.primary.execute(_TABLE, database=database, variables=variables)

    async def verify(self, stage: Stage) -> None:
        """Record a Check that no row is there before the run. Raises VerifyError for what the versions lack."""
        await _require(stage)
        [row] = await stage.primary.query(_ROWS, database=stage.database)
        stage.recorder.check(Check("ledger.rows", "primary", "0", str(row["rows"]), row["rows"] == 0))

    async def warm_up(self, stage: Stage) -> None:
        """The load for `warmup_s`; then the table is emptied, also of what an earlier trial left."""
        if stage.spec.warmup_s > 0:
            await run.warm_up(stage, [*await _arguments(stage, stage.spec.warmup_s), "-D", "start=0"])
        await stage.primary.execute("TRUNCATE ledger;", database=stage.database)

    async def start(self, stage: Stage) -> None:
        """The run. Raises CommandError, and TrialError where the failover cannot be prepared."""
        arguments = await _arguments(stage, stage.spec.duration_s)
        environment = await failover.environment(stage)
        await failover.prepare(stage)
        lost = failover_options(stage.spec.topology_parameters) is not None
        pause_s = int(stage.spec.parameters["retry_ms"]) / 1000 if lost else None
        await surviving.start(
            stage,
            arguments,
            environment,
            database=failover.connection(stage, int(stage.spec.parameters["silence_s"])),
            again=failover.reordered_environment(environment),
            pause_s=pause_s,
        )
        stage.keep(Began(time.monotonic()))

    async def finish(self, stage: Stage) -> None:
        """Its end, with the failover that the topology is asked for, which the worker carries out. A run that breaks
        off otherwise is no exception: `parse` says so. Raises TrialError when the failover cannot be had."""
        failover.require_same_worker(stage)
        finished, struck = await asyncio.gather(
            surviving.job_of(stage).finished(expected_s=stage.spec.duration_s),
            failover.carry_out(stage, stage.kept(Began).monotonic_s),
            return_exceptions=True,
        )
        for outcome in (finished, struck):
            if isinstance(outcome, BaseException):
                raise outcome
        assert not isinstance(finished, BaseException)
        await failover.settle(stage)
        await surviving.record(stage, finished)

    async def audit(self, stage: Stage) -> None:
        """Has the server that takes writes now say which rows it has. One that does not answer costs a gap, and so the
        trial."""
        node = stage.serving
        try:
            rows = await stage.servers[node].query(_PRESENT, database=stage.database, timeout_s=None)
        except TeitenError as error:
            stage.recorder.gap("ledger", node, _("the rows could not be asked for: {error}", error=error.words))
            return
        stage.recorder.add("workload/present.json", json.dumps({"node": node, "ranges": rows}))


async def _require(stage: Stage) -> None:
    since = FIRST_WITH_USER_TIMEOUT if stage.event else FIRST_WITH_LOG_PREFIX
    require("workload", "pgbench", await run.client_version(stage), since)
    check_server(stage.spec.access_method, stage.spec.installation.version_num)


async def _arguments(stage: Stage, duration_s: float) -> list[str]:
    return await run.arguments(stage, [ScriptFile("ledger", _ENTRY)], duration_s, {"number": 0})


WORKLOAD = Ledger()
