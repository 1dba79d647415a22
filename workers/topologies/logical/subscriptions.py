"""Create, await and drop subscriptions. Each has its node's name, which the primary shows as application_name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from results.domain.errors import TrialError
from results.domain.messages import gettext_lazy as _
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


async def create(stage: Stage, node: str) -> None:
    """Subscribe the node's server to the primary, and wait until every table is copied. Raises TrialError when the
    copy makes no progress, CommandError with the server's message."""
    server, parameters = stage.servers[node], stage.spec.topology_parameters
    environment = await nodes.reach(stage, node, "primary")
    has_streaming = server.installation.version_num >= FIRST_WITH_STREAMING
    variables = {
        "name": node,
        "slot": standby.slot_name(stage, node),
        "conninfo": nodes.conninfo(environment, dbname=stage.database),
        "commit": str(parameters["subscriber_commit"]),
    }
    if has_streaming:
        variables["streaming"] = str(parameters["streaming"])
    script = _SUBSCRIBE.format(further=", streaming = :'streaming'" if has_streaming else "")
    await server.execute(script, database=stage.database, variables=variables)

    async def copy_state() -> dict[str, Any]:
        [copied] = await server.query(statements.COPIED, database=stage.database)
        return copied

    ready, copied = await nodes.wait_until(copy_state, lambda copied: not copied["unready"], _PATIENCE_S)
    if not ready:
        raise await _stuck(
            server,
            _("The initial copy of the tables to {node} makes no progress.", node=node),
            _("{count} tables are not copied yet.", count=copied["unready"]),
        )


async def make_commits_wait(stage: Stage, subscribers: Sequence[str]) -> None:
    """Make commits on the primary wait for all subscribers, where the plan asks for it."""
    synchronous_commit = str(stage.spec.topology_parameters["synchronous"])
    if synchronous_commit != OFF:
        names = f"FIRST {len(subscribers)} ({', '.join(subscribers)})"
        await stage.primary.execute(statements.SYNCHRONOUS, variables={"commit": synchronous_commit, "names": names})


async def wait_until_applied(stage: Stage, node: str) -> None:
    """Wait until the subscriber has applied all that the primary has written by now. Raises TrialError when it makes
    no progress."""
    lsn = await standby.written_lsn(stage.primary)

    async def stream_state() -> dict[str, Any]:
        rows = await stage.primary.query(statements.APPLIED, variables={"lsn": lsn, "node": node})
        return rows[0] if rows else {"applied": False, "state": _("none")}

    applied, state = await nodes.wait_until(stream_state, lambda state: bool(state["applied"]), _PATIENCE_S)
    if not applied:
        what = _("{node} does not apply what the primary writes.", node=node)
        raise await _stuck(stage.servers[node], what, _("State of its stream: {state}.", state=state["state"]))


async def drop_all(stage: Stage) -> None:
    """Drop every subscription and slot of the servers that were started; commits wait for no subscriber afterwards.
    Raises CommandError; TrialError when a slot stays in use."""
    await nodes.all_of(_drop_subscriptions(server) for node, server in stage.servers.items() if node != "primary")
    if "primary" not in stage.servers:
        return
    free, _last = await nodes.wait_until(lambda: stage.primary.execute(statements.RELEASE), _is_none, _PATIENCE_S)
    if not free:
        raise await _stuck(stage.primary, _("A replication slot of the primary is still in use."), "")


async def _drop_subscriptions(server: Server) -> None:
    for row in await server.query(statements.DATABASES):
        if row["subscribes"]:
            await server.execute(statements.UNSUBSCRIBE, database=row["name"])


def _is_none(answer: str) -> bool:
    return answer.strip() == "0"


async def _stuck(server: Server, what: str, why: str) -> TrialError:
    log_lines = "\n".join((await server.log_tail()).splitlines()[-6:]).rstrip()
    return TrialError(
        what,
        where="arrange",
        why=standby.with_log(why, log_lines),
        todo=_("Look at both servers' logs, which are kept with the trial."),
    )
