"""What must hold of a topology's servers before the clock starts."""

from __future__ import annotations

from workers.interfaces import Stage
from workers.postgres import verify


async def record_primary(stage: Stage, node: str = "primary") -> None:
    """Records role, effective settings, access method of every table of a server that takes writes. Raises
    CommandError."""
    for check in await verify.server_checks(
        stage.servers[node],
        stage.database,
        role=node,
        settings=stage.spec.settings,
        access_method=stage.spec.access_method,
        stored_by=stage.stored_by,
    ):
        stage.recorder.check(check)
