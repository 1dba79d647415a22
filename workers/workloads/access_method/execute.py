"""Prepares the tables of the profile, checks what must hold, and hands over to the driver."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import CommandError, TrialError
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgbench.parameters import check_server
from workers.pgbench.run import client_version
from workers.pgbench.version import FIRST_WITH_ACCESS_METHODS, require
from workers.postgres import database
from workers.remote.job import Job

from .driver import Driver, directory_of
from .steps import Sizes

_SQL = Path(__file__).parent / "sql"
_SCHEMA, _ROWS, _BEFORE, _TABLES = (
    (_SQL / f"{name}.sql").read_text() for name in ("00_schema", "01_rows", "02_before", "03_tables")
)
_FIRST_WITH_SEED = 110000
_POLICIES = {
    "when-allowed": _("cold, or as-found where the agent's account may not drop caches"),
    "never": "as-found",
    "restart": "restarted",
    "required": "cold",
}


@dataclass(frozen=True)
class Caches:
    """How steps that depend on caches will find them.

    state: cold, restarted, as-found."""

    state: str


class AccessMethod:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """Empty tables: filling them is part of the profile. Raises VerifyError for what the versions
        lack, CommandError with the server's words where it does not have the access method."""
        await _require(stage)
        await _empty_tables(stage, database)

    async def warm_up(self, stage: Stage) -> None:
        """Tables made anew, whatever an earlier trial left in them, and on the client the SQL and the rows that will be
        copied. There is nothing to warm: `warmup_s` is of no matter. Errors as of `load`."""
        await _require(stage)
        await _empty_tables(stage, stage.database)
        for path in sorted(_SQL.glob("*.sql")):
            await stage.client.put(f"{directory_of(stage)}/{path.name}", path.read_text())
        await _make_rows(stage)
        stage.keep(Caches(await _caches(stage)))

    async def verify(self, stage: Stage) -> None:
        """Record a Check for empty tables, and for how caches will be found by the steps that depend on them."""
        none = _("none")
        filled = linked(COMMA, (await stage.primary.query(_BEFORE, database=stage.database))[0]["filled"]) or none
        stage.recorder.check(Check(_("tables with rows"), "primary", none, filled, filled == none))
        policy, state = str(stage.spec.parameters["cold"]), stage.kept(Caches).state
        passed = policy != "required" or state == "cold"
        name = _("caches before scans, look-ups and updates")
        stage.recorder.check(Check(name, "primary", _POLICIES[policy], state, passed))

    async def measure(self, stage: Stage) -> None:
        """All steps. What the server refuses is recorded as refused, and the profile goes on; what breaks off is no
        exception: `parse` says so."""
        rows = await stage.primary.query(_TABLES, database=stage.database)
        await Driver(stage, tables={row["name"] for row in rows}, caches=stage.kept(Caches).state).run()


async def _require(stage: Stage) -> None:
    spec = stage.spec
    check_server(spec.access_method, spec.installation.version_num)
    require("client", "pgbench", await client_version(stage), _FIRST_WITH_SEED)


async def _empty_tables(stage: Stage, name: str) -> None:
    spec = stage.spec
    has_access_methods = spec.installation.version_num >= FIRST_WITH_ACCESS_METHODS
    variables = {
        "has_access_methods": str(int(has_access_methods)),
        "choose": str(int(bool(spec.access_method))),
        "access_method": spec.access_method,
        "fillfactor": str(spec.parameters["fillfactor"]),
        "baseline": str(int(bool(spec.parameters["heap_baseline"]))),
    }
    await stage.primary.execute(_SCHEMA, database=name, variables=variables)


async def _make_rows(stage: Stage) -> None:
    """The rows of foo as a file on the client: made by the server, so that no time of COPY goes into making them."""
    psql = [f"{stage.client_bin}/psql", *stage.primary.psql(stage.database)[1:]]
    rows = Sizes.of(stage.spec.parameters).variables["rows"]
    argv = ["sh", "-c", 'exec "$@" >rows', "sh", *psql, "-v", f"rows={rows}", "-f", "01_rows.sql"]
    job = await Job.start(
        stage.client,
        f"{stage.job_dir(stage.client)}/rows",
        argv,
        deadline_s=stage.left_s,
        env=stage.primary.environment(),
        cwd=directory_of(stage),
    )
    finished = await job.finished()
    finished.require(
        _("The making of the rows"),
        argv,
        where="warm",
        todo=_("Free space below the client agent's work directory, or lower rows."),
    )


async def _caches(stage: Stage) -> str:
    """'cold', 'restarted' or 'as-found', by the parameter and by trying what the agent's account may do."""
    policy = str(stage.spec.parameters["cold"])
    if policy in ("never", "restart"):
        return _POLICIES[policy]
    try:
        await database.cold(stage.primary)
    except (CommandError, TrialError) as error:
        reason = _("caches are as they are found: {what}", what=error.what)
        if error.why:
            reason = _("caches are as they are found: {what} {why}", what=error.what, why=error.why)
        stage.recorder.gap("cold caches", "primary", reason)
        return "as-found"
    return "cold"


WORKLOAD = AccessMethod()
