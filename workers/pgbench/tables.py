"""Make the tables of `pgbench -i`, and check their contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from results.domain.measurement.parsed_trial import Check
from workers.interfaces import Stage

from . import run
from .parameters import ACCOUNTS_PER_SCALE, check_server

_SQL = (Path(__file__).parent / "tables.sql").read_text()
_TELLERS_PER_SCALE = 10


async def load(stage: Stage, database: str, arguments: Sequence[str] = ()) -> None:
    """Run `pgbench -i` at the scale of the parameter `scale`, with further options of pgbench.

    Raises VerifyError for an access method on a server without any, CommandError with pgbench's message.
    """
    check_server(stage.spec.access_method, stage.spec.installation.version_num)
    scale = int(stage.spec.parameters["scale"])
    arguments = ["-i", "-q", "-s", str(scale), *arguments]
    await run.initialize(stage, database, arguments)


async def check(stage: Stage, workload: str, more: Mapping[str, int | bool] | None = None) -> None:
    """Record a Check of the rows of branches, tellers and accounts, by index look-ups. Raises CommandError.

    workload: prefix of the checks' names
    more: further expected values: partitions, unlogged, fillfactor of the accounts
    """
    scale = int(stage.spec.parameters["scale"])
    expected = {
        "branches": scale,
        "tellers": scale * _TELLERS_PER_SCALE,
        "accounts": scale * ACCOUNTS_PER_SCALE,
        **(more or {}),
    }
    [row] = await stage.primary.query(_SQL, database=stage.database)
    for name, value in expected.items():
        actual = row[name]
        stage.recorder.check(Check(f"{workload}.{name}", "primary", str(value), str(actual), actual == value))
