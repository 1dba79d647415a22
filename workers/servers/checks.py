"""Checks of a topology's servers before the clock starts."""

from __future__ import annotations

from workers.interfaces import Stage
from workers.postgres import verify


async def record_primary(stage: Stage, node: str = "primary") -> None:
    """Record the checks of a server that takes writes: role, settings in force, access method of every table.

    Raises CommandError.
    """
    for check in await verify.server_checks(
        stage.servers[node],
        stage.database,
        role=node,
        settings=stage.spec.settings,
        access_method=stage.spec.access_method,
        stored_by=stage.stored_by,
    ):
        stage.recorder.check(check)
