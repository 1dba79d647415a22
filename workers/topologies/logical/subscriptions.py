"""Subscriptions: made, awaited, ended. Each bears its node's name, by which the primary knows its stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from results.domain.errors import TrialError
from workers.interfaces import Stage
from workers.postgres.server import Server
from workers.replication import standby
from workers.replication.standby_parameters import OFF
from workers.servers import nodes

from . import statements
from .spec import FIRST_WITH_STREAMING

_PATIENCE_S = 30.0  # without any progress; a worker that failed begins again after 5 s
_SUBSCRIBE = """
CREATE SUBSCRIPTION :"name" CONNECTION :'conninfo' PUBLICATION teiten
  WITH (slot_name = :'slot', synchronous_commit = :'commit'{further});
"""


async def made(stage: Stage, node: str) -> None:
    """Subscribes the node's server to the primary, and waits for the copy of every table. Raises TrialError when it
    makes no progress, CommandError with the server's own words."""
    server, parameters = stage.servers[node], stage.spec.topology_parameters
    environment = await nodes.reach(stage, node, "primary")
    streams = server.installation.version_num >= FIRST_WITH_STREAMING
    variables = {
        "name": node,
        "slot": standby.slot_name(stage, node),
        "conninfo": nodes.conninfo(environment, dbname=stage.database),
        "commit": str(parameters["subscriber_commit"]),
    }
    if streams:
        variables["streaming"] = str(parameters["streaming"])
    script = _SUBSCRIBE.format(further=", streaming = :'streaming'" if streams else "")
    await server.execute(script, database=stage.database, variables=variables)

    async def ask() -> dict[str, Any]:
        [copied] = await server.query(statements.COPIED, database=stage.database)
        return copied

    ready, copied = await nodes.wait_until(ask, lambda copied: not copied["unready"], _PATIENCE_S)
    if not ready:
        raise await _stuck(server, f"The first copy to {node} does not go on.", f"{copied['unready']} tables wait.")


async def awaited(stage: Stage, subscribers: Sequence[str]) -> None:
    """From now on commits at the primary wait for all of them, where the plan says so."""
    wanted = str(stage.spec.topology_parameters["synchronous"])
    if wanted != OFF:
        names = f"FIRST {len(subscribers)} ({', '.join(subscribers)})"
        await stage.primary.execute(statements.SYNCHRONOUS, variables={"commit": wanted, "names": names})


async def caught_up(stage: Stage, node: str) -> None:
    """Waits until the subscriber has applied all that the primary has written by now. Raises TrialError when it makes
    no progress."""
    lsn = await standby.written_lsn(stage.primary)

    async def ask() -> dict[str, Any]:
        rows = await stage.primary.query(statements.APPLIED, variables={"lsn": lsn, "node": node})
        return rows[0] if rows else {"there": False, "state": "none"}

    there, state = await nodes.wait_until(ask, lambda state: bool(state["there"]), _PATIENCE_S)
    if not there:
        why = f"State of its stream: {state['state']}."
        raise await _stuck(stage.servers[node], f"{node} does not apply what the primary writes.", why)


async def ended(stage: Stage) -> None:
    """No subscription is left, commits wait for nobody, and no slot keeps WAL. For those servers that were started.
    Raises CommandError; TrialError when a slot is not given up."""
    await nodes.all_of(_unsubscribed(server) for node, server in stage.servers.items() if node != "primary")
    if "primary" not in stage.servers:
        return
    free, _ = await nodes.wait_until(lambda: stage.primary.execute(statements.RELEASE), _is_none, _PATIENCE_S)
    if not free:
        raise await _stuck(stage.primary, "A replication slot of the primary is not given up.", "")


async def _unsubscribed(server: Server) -> None:
    for row in await server.query(statements.DATABASES):
        if row["subscribes"]:
            await server.execute(statements.UNSUBSCRIBE, database=row["name"])


def _is_none(text: str) -> bool:
    return text.strip() == "0"


async def _stuck(server: Server, what: str, why: str) -> TrialError:
    log_lines = (await server.log_tail()).splitlines()[-6:]
    return TrialError(
        what,
        where="arrange",
        why="\n".join([why, *log_lines]).strip(),
        todo="Look at both servers' logs, which are kept with the trial.",
    )
