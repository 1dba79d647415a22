"""Ask pgpool-II for its counts before and after the measured window."""

from __future__ import annotations

import asyncio
import json
import re
import time

from results.domain.errors import CommandError, TrialError
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgpool import process
from workers.pgpool.answers import read_rows
from workers.replication import failover

from .parse import ANSWERS, NAMES

_TROUBLE = re.compile("(on|from) DB node|degenerate backend request")
_PATIENCE_S, _POLL_S = 10.0, 0.2


class Pgpool:
    """The collector of `workers.interfaces.Collector`."""

    async def start(self, stage: Stage, node: str) -> None:
        """Record the counts before. Raises CommandError when pgpool-II does not answer."""
        stage.recorder.add(f"collectors/pgpool/{node}/{NAMES}", json.dumps(stage.spec.servers))
        await _ask(stage, node, "before")

    async def stop(self, stage: Stage, node: str) -> None:
        """Record pgpool-II's log and the counts after, and end it. Raises TrialError when it has ended by itself, or
        has given up a server that the trial did not take from it."""
        log = await stage.poolers[node].log_tail()
        stage.recorder.add(f"collectors/pgpool/{node}/pgpool.log", log)
        await process.require_alive(stage, node)
        if _TROUBLE.search(log):
            await _wait_for_decision(stage, node)
        nodes = await _ask(stage, node, "after")
        given_up = {
            stage.spec.servers[int(row["node_id"])]
            for row in read_rows(nodes, process.NODES, ("node_id", "status"))
            if row["status"] != "up"
        }
        if down := sorted(given_up - failover.failed_nodes(stage)):
            raise TrialError(
                _("pgpool-II gave up {nodes} while it was measured.", nodes=", ".join(down)),
                where="measure",
                why=await process.last_words(stage.poolers[node]),
                todo=_("Look at the logs of pgpool-II and of the server, which are kept with the trial."),
            )
        await process.end(stage, node)


async def _wait_for_decision(stage: Stage, node: str) -> None:
    """Wait until pgpool-II, which has lost a session with a server, has given the server up.

    Until then it refuses clients, or still shows all servers as up. The wait ends after _PATIENCE_S: it may keep the
    server. Raises CommandError when it does not answer.
    """
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            rows = read_rows(await process.show(stage, process.NODES, node), process.NODES, ("status",))
        except CommandError:
            if time.monotonic() > until:
                raise
        else:
            if time.monotonic() > until or any(row["status"] != "up" for row in rows):
                return
        await asyncio.sleep(_POLL_S)


async def _ask(stage: Stage, node: str, when: str) -> str:
    """Record every answer, and return that of POOL_NODES."""
    answers = {file: await process.show(stage, what, node) for file, what in ANSWERS.items()}
    for file, answer in answers.items():
        stage.recorder.add(f"collectors/pgpool/{node}/{when}/{file}", answer)
    return answers["nodes.txt"]


COLLECTOR = Pgpool()
