"""Loads the five tables: schema, generated rows through COPY, keys, indexes, VACUUM, ANALYZE, each timed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from results.domain.errors import VerifyError
from results.domain.kinds.parameters import Scalar
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.remote.job import Finished, Job

from .sizes import Sizes, sizes
from .spec import KEYS_AND_FACT_COLUMNS, NO_INDEXES
from .verify import load_comment

_HERE = Path(__file__).parent
_ON_AGENT = ("common.awk", "dimensions.awk", "lineorder.awk", "copy_lineorder.sql", "load.sh")
_FIRST_WITH_ACCESS_METHODS = 120000
SESSIONS = "ssb of teiten "  # no name that begins with teiten: pg_stat leaves those out
_TODO = _("Mend what the message names, then retry the trial.")


def read(name: str) -> str:
    """A file of this folder."""
    return (_HERE / name).read_text()


class Loader:
    """One load into an existing, empty database. steps: what each took."""

    def __init__(self, stage: Stage, database: str) -> None:
        self.stage, self.database = stage, database
        self.parameters: Mapping[str, Scalar] = stage.spec.parameters
        self.directory = f"{stage.job_dir(stage.client)}/load"
        self.sizes: Sizes = sizes(float(self.parameters["scale_factor"]))
        self.has_access_methods = stage.spec.installation.version_num >= _FIRST_WITH_ACCESS_METHODS
        self.rows = dict.fromkeys(("customer", "supplier", "part", "date", "lineorder"), 0)
        self.steps: list[dict[str, float | str]] = []

    async def run(self) -> None:
        """Raises VerifyError for an access method that the server lacks, CommandError with the server's or the
        generator's own words when a step fails."""
        fact_method = str(self.parameters["fact_access_method"]) or self.stage.spec.access_method
        await self._require(fact_method)
        for name in _ON_AGENT:
            await self.stage.client.put(f"{self.directory}/{name}", read(name))
        await self._create("tables", "dimensions.sql", self.stage.spec.access_method)
        await self._create("fact table", "lineorder.sql", fact_method)
        await self._copy("dimensions", 1)
        await self._copy("lineorder", int(self.parameters["load_jobs"]))
        if self.parameters["indexes"] != NO_INDEXES:
            await self._sql("keys", read("keys.sql"))
        if self.parameters["indexes"] == KEYS_AND_FACT_COLUMNS:
            await self._sql("indexes", read("indexes.sql"))
        if self.parameters["vacuum"]:
            await self._sql("vacuum", read("vacuum.sql"))
        await self._sql("analyze", read("analyze.sql"))
        comments = {table: load_comment(self.parameters, rows) for table, rows in self.rows.items()}
        await self.stage.primary.execute(read("comment.sql"), database=self.database, variables=comments)
        self.stage.recorder.add("workload/load.json", json.dumps(self.steps, indent=1))

    async def _require(self, fact_method: str) -> None:
        if not fact_method or fact_method == self.stage.spec.access_method:
            return
        available = ["heap"]
        if self.has_access_methods:
            rows = await self.stage.primary.query(read("access_methods.sql"), database=self.database)
            available = [row["name"] for row in rows]
        if fact_method not in available:
            names = ", ".join(available)
            too_old = _("It has {names}. Others exist since version 12.", names=names)
            raise VerifyError(
                _(
                    "PostgreSQL {installation} has no table access method {name!r} for the fact table.",
                    installation=self.stage.spec.installation.name,
                    name=fact_method,
                ),
                where="fact_access_method",
                why=_("It has {names}.", names=names) if self.has_access_methods else too_old,
                todo=_("Install it on that server, or change fact_access_method."),
            )

    async def _create(self, step: str, file: str, access_method: str) -> None:
        chosen = read("access_method.sql") if access_method and self.has_access_methods else ""
        await self._sql(step, chosen + read(file), access_method)

    async def _sql(self, step: str, script: str, access_method: str = "") -> None:
        path = f"{self.directory}/{step.replace(' ', '-')}.sql"
        await self.stage.client.put(path, script)
        argv = [psql(self.stage), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", f"access_method={access_method}"]
        await self._job(step, [*argv, "-d", self.database, "-f", path])

    async def _copy(self, step: str, streams: int) -> None:
        size = self.sizes
        arguments = (streams, size.orders, size.customers, size.suppliers, size.parts, self.parameters["seed"])
        argv = ["sh", "load.sh", psql(self.stage), self.database, step, *map(str, arguments)]
        finished = await self._job(step, argv)
        copied = 0
        for line in finished.stdout.splitlines():
            table, rows = line.split()
            self.rows[table] += int(rows)
            copied += int(rows)
        self.steps[-1]["rows"] = copied

    async def _job(self, step: str, argv: list[str]) -> Finished:
        began = time.monotonic()
        job = await Job.start(
            self.stage.client,
            f"{self.directory}/{len(self.steps)}",
            argv,
            deadline_s=self.stage.left_s,
            env=environment(self.stage),
            cwd=self.directory,
        )
        finished = await job.finished()
        finished.require(_("Loading ({step})", step=step), argv, where="load", todo=_TODO)
        self.steps.append({"step": step, "seconds": round(time.monotonic() - began, 3)})
        return finished


def psql(stage: Stage) -> str:
    return f"{stage.client_bin}/psql"


def environment(stage: Stage) -> dict[str, str]:
    # psql's words are parsed, so never translated
    return {**stage.primary.environment(), "LC_ALL": "C", "PGAPPNAME": f"{SESSIONS}{stage.job_name}"}
