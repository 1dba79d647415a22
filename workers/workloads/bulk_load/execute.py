"""Make the files on the client's agent, load them as one detached job, and check the result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import VerifyError
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgbench.parameters import check_server
from workers.pgbench.version import FIRST_WITH_ACCESS_METHODS
from workers.remote.job import Finished, Job

from .data import PARTS, TABLES, rows_of, shares

_HERE = Path(__file__).parent
_GENERATE, _ROWS = (_HERE / "generate.sh").read_text(), (_HERE / "generate.awk").read_text()
_LOAD = (_HERE / "load.sh").read_text()
_SCHEMA, _BEFORE = ((_HERE / f"{name}.sql").read_text() for name in ("schema", "before"))
_SESSION_FILES = ("mark", "timed", "copy", "primary_keys", "foreign_keys", "vacuum", "analyze", "check")


@dataclass(frozen=True)
class Files:
    """The files to load.

    of_table: table → `rows` and `bytes`."""

    of_table: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Loaded:
    """The result of the load.

    wholly: whether nothing broke off."""

    wholly: bool


class BulkLoad:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """Empty tables, and the files that will be loaded. Raises VerifyError for what the server lacks, CommandError
        when the files cannot be made."""
        await _require(stage)
        await _empty_tables(stage, database)
        await _files(stage)

    async def warm_up(self, stage: Stage) -> None:
        """Tables made anew, whatever an earlier trial left in them, and the SQL of the load put on the client. There
        is nothing to warm: `warmup_s` is of no matter. Errors as of `load`."""
        await _require(stage)
        await _empty_tables(stage, stage.database)
        stage.keep(await _files(stage))
        for name in _SESSION_FILES:
            await stage.client.put(f"{_sql_directory(stage)}/{name}.sql", (_HERE / f"{name}.sql").read_text())

    async def verify(self, stage: Stage) -> None:
        """Record a Check for the rows in the files, and that every table is empty."""
        files = stage.kept(Files).of_table
        for table, rows in rows_of(int(stage.spec.parameters["size_mb"])).items():
            count = files[table]["rows"]
            name = _("rows in the files of {table}", table=table)
            stage.recorder.check(Check(name, "client", str(rows), str(count), count == rows))
        before = (await stage.primary.query(_BEFORE, database=stage.database))[0]
        none = _("none")
        filled = linked(COMMA, before["filled"]) or none
        stage.recorder.check(Check(_("tables with rows"), "primary", none, filled, filled == none))

    async def start(self, stage: Stage) -> None:
        """The load. Raises CommandError."""
        files = stage.kept(Files).of_table
        stage.recorder.add("workload/files.json", json.dumps(files, indent=1, sort_keys=True))
        await _start(stage, "load", _load_words(stage))

    async def finish(self, stage: Stage) -> None:
        """Its end. A load that breaks off is no exception: `parse` says so."""
        loaded = await _finished(stage, "load")
        stage.measured(loaded.result.started_s, loaded.result.ended_s)
        _record(stage, loaded, "workload")
        stage.keep(Loaded(loaded.ok))

    async def audit(self, stage: Stage) -> None:
        """Have the server count what was loaded. Without an answer the trial fails: `parse` says so."""
        if not stage.kept(Loaded).wholly:
            return
        psql = [f"{stage.client_bin}/psql", *stage.primary.psql(stage.database)[1:]]
        await _start(stage, "check", [*psql, "-f", f"{_sql_directory(stage)}/check.sql"])
        _record(stage, await _finished(stage, "check"), "workload/check")


def _load_words(stage: Stage) -> list[str]:
    parameters, files = stage.spec.parameters, stage.kept(Files).of_table
    jobs, skipping = int(parameters["jobs"]), bool(parameters["wal_skipping"])
    bytes_of = {table: int(files[table]["bytes"]) for table in TABLES}
    tables = [" ".join(share) for share in shares(jobs, bytes_of)] if skipping else list(TABLES)
    program = ["sh", "-c", _LOAD, "sh", f"{stage.client_bin}/psql", stage.database, _sql_directory(stage)]
    return [*program, _data_directory(stage), str(PARTS), str(jobs), str(int(skipping)), *tables]


async def _start(stage: Stage, name: str, argv: list[str]) -> None:
    env = {**stage.primary.environment(), "LC_ALL": "C"}
    await Job.start(stage.client, f"{stage.job_dir(stage.client)}/{name}", argv, deadline_s=stage.left_s, env=env)


async def _finished(stage: Stage, name: str) -> Finished:
    return await Job.attach(stage.client, f"{stage.job_dir(stage.client)}/{name}").finished()


def _record(stage: Stage, finished: Finished, folder: str) -> None:
    stage.recorder.add(f"{folder}/stdout", finished.stdout)
    stage.recorder.add(f"{folder}/stderr", finished.stderr)
    stage.recorder.add(f"{folder}/exit", f"{finished.result.exit_status}\n")
    if finished.result.timed_out:
        stage.recorder.add(f"{folder}/timed_out", "the deadline ended it\n")


async def _require(stage: Stage) -> None:
    spec = stage.spec
    check_server(spec.access_method, spec.installation.version_num)
    if not spec.parameters["wal_skipping"]:
        return
    rows = await stage.primary.query("SELECT current_setting('wal_level') AS level")
    level = rows[0]["level"]
    if level != "minimal":
        raise VerifyError(
            _("The server writes all WAL, whatever the load does."),
            where="parameters.wal_skipping",
            why=_("The parameter asks for WAL-skipping, and the server's wal_level is {level}.", level=level),
            todo=_("Set wal_level = minimal and max_wal_senders = 0 in the plan's settings, or wal_skipping to false."),
        )


async def _empty_tables(stage: Stage, database: str) -> None:
    choose = bool(stage.spec.access_method) and stage.spec.installation.version_num >= FIRST_WITH_ACCESS_METHODS
    variables = {"choose": str(int(choose)), "access_method": stage.spec.access_method}
    await stage.primary.execute(_SCHEMA, database=database, variables=variables)


async def _files(stage: Stage) -> Files:
    """Make the files unless they exist."""
    parameters = stage.spec.parameters
    rows = rows_of(int(parameters["size_mb"]))
    counts = [str(rows[table]) for table in ("customer", "item", "orders")]
    argv = ["sh", "-c", _GENERATE, "sh", _data_directory(stage), _ROWS, str(parameters["seed"]), *counts, str(PARTS)]
    directory = f"{stage.job_dir(stage.client)}/files"
    job = await Job.start(stage.client, directory, argv, deadline_s=stage.left_s)
    finished = await job.finished()
    finished.require(
        _("Generating the files to load"),
        "sh generate.sh",
        where="load",
        todo=_("Free space below the client agent's data directory, or lower size_mb."),
    )
    lines = [line.split() for line in finished.stdout.splitlines()]
    return Files({table: {"rows": int(count), "bytes": int(size)} for table, count, size in lines})


def _data_directory(stage: Stage) -> str:
    """Kept from trial to trial: one for each size, seed and version of the generator."""
    parameters = stage.spec.parameters
    version = hashlib.sha256(_ROWS.encode()).hexdigest()[:8]
    return f"{stage.client.address.data_dir}/bulk_load/{parameters['size_mb']}mb-{parameters['seed']}-{version}"


def _sql_directory(stage: Stage) -> str:
    return f"{stage.job_dir(stage.client)}/sql"


WORKLOAD = BulkLoad()
