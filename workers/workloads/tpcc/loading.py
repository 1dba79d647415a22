"""Fills a database with the initial population, from a generator on the client agent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from results.domain.errors import ParseError
from results.domain.kinds.parameters import Scalar
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgbench.version import FIRST_WITH_ACCESS_METHODS
from workers.remote.connection import Remote
from workers.remote.job import Job

from .nurand import constants

_HERE = Path(__file__).parent
_TRANSACTIONS = [path.read_text() for path in sorted((_HERE / "transactions").glob("*.sql"))]
_FILES = {
    **{path.name: path.read_text() for path in (_HERE / "population").iterdir()},
    "functions.sql": "\n".join(["BEGIN;", *_TRANSACTIONS, "COMMIT;"]),
}
_MOMENT = "2012-10-01 00:00:00"  # of all dates in the population: the data is the same whenever it is made


async def load(stage: Stage, database: str) -> None:
    """Make tables, rows, keys, indexes and functions, and notes `load`: seconds and rows of each phase. Raises
    CommandError with psql's or awk's own words when it fails."""
    spec, parameters = stage.spec, stage.spec.parameters
    directory = f"{stage.job_dir(stage.client)}/load"
    await put_files(stage.client, directory)
    # before 12 every table is a heap, and there is nothing to choose
    chosen = spec.access_method if spec.installation.version_num >= FIRST_WITH_ACCESS_METHODS else ""
    variables = environment(parameters, psql=f"{stage.client_bin}/psql", database=database, access_method=chosen)
    argv = ["sh", "load.sh"]
    env = {**stage.primary.environment(), **variables}
    job = await Job.start(stage.client, directory, argv, deadline_s=stage.left_s, env=env)
    finished = await job.finished()
    finished.require(_("loading"), argv, where="load", todo=_("Mend what is named, then retry the trial."))
    stage.recorder.note("load", phases(finished.stdout))


async def put_files(remote: Remote, directory: str) -> None:
    """load.sh and all that it needs."""
    await asyncio.gather(*(remote.put(f"{directory}/{name}", text) for name, text in _FILES.items()))


def environment(
    parameters: Mapping[str, Scalar], *, psql: str, database: str, access_method: str = ""
) -> dict[str, str]:
    """The variables of load.sh.

    access_method: '' = the server's default."""
    seed = int(parameters["data_seed"])
    return {
        "PSQL": psql,
        "DATABASE": database,
        "ACCESS_METHOD": access_method,
        "JOBS": str(parameters["load_jobs"]),
        "FOREIGN_KEYS": "yes" if parameters["foreign_keys"] else "no",
        "FILLFACTOR": str(parameters["fillfactor"]),
        "SEED": str(seed),
        "WAREHOUSES": str(parameters["warehouses"]),
        "CUSTOMERS": str(parameters["customers_per_district"]),
        "ITEMS": str(parameters["items"]),
        "C_LAST": str(constants(seed).last_name_load),
        "MOMENT": _MOMENT,
    }


def phases(text: str) -> list[dict[str, Any]]:
    """Lines 'NAME SECONDS [ROWS]' of load.sh → a mapping each. Raises ParseError."""
    result: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        name, *values = line.split()
        if len(values) not in (1, 2):
            raise ParseError(_("not a phase of loading"), file="load", line=number, text=line)
        phase: dict[str, Any] = {"phase": name, "seconds": float(values[0])}
        result.append(phase | ({"rows": int(values[1])} if len(values) == 2 else {}))
    return result
