"""The failover by pgpool-II: it detects that the primary is lost, and runs a command of its configuration, which
promotes a standby by SQL. Teiten writes that command, and reads the files that it leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import TrialError
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgpool import process
from workers.remote.clock import SECONDS
from workers.remote.command import quote
from workers.servers import nodes

_HERE = Path(__file__).parent
_COMMAND = (_HERE / "failover.sh").read_text()
_WAIT = f"""{SECONDS}
cd -- "$1" && seconds && end=$((now + $2)) || exit
until [ -e promotion ]; do
    seconds
    [ "$now" -le "$end" ] && sleep 0.02 || exit
done
cat promotion && cat promotion.log >&2
"""
_PATIENCE_S = 30.0  # beyond the window, to report a late promotion rather than none


@dataclass(frozen=True)
class Promotion:
    """A promotion, in epoch seconds of the worker's clock.

    requested_s: when it was requested
    promoted_s: when the server left recovery
    node: the promoted one
    """

    requested_s: float
    promoted_s: float
    node: str


def command(directory: str, psql: str, user: str) -> str:
    """Return the shell script for pgpool-II's failover_command.

    directory: of pgpool-II's files, with promote.sql, which holds the statement, and the password as pgpass
    psql: path of the program
    """
    variables = {"PSQL": psql, "PGUSER": user, "PGPASSFILE": f"{directory}/pgpass", "DIRECTORY": directory}
    return "".join(f"export {quote([f'{name}={value}'])}\n" for name, value in variables.items()) + _COMMAND


async def wait_for_promotion(stage: Stage, *, limit_s: float) -> Promotion:
    """Wait until pgpool-II's command has promoted a standby, and remove that node's mark of a copy of the primary.

    Raises TrialError with pgpool-II's messages where that does not happen within limit_s.
    """
    [pooler] = stage.poolers.values()
    limit_s += _PATIENCE_S
    result = await pooler.remote.script(
        _WAIT, pooler.data_dir, str(math.ceil(limit_s)), check=False, timeout_s=limit_s + 60
    )
    moments = dict(line.split() for line in result.stdout.splitlines() if line.strip())
    if "promoted" not in moments:
        raise TrialError(
            _("pgpool-II promoted no standby."),
            where="topology.failover",
            why=(result.stdout + result.stderr).strip() or await process.last_words(pooler),
            todo=_(
                "Measure for longer than its health checks take, and look at its log, which is kept with the trial."
            ),
        )
    node = stage.spec.servers[int(moments["node"])]
    await stage.agents[node].run("rm", "-f", "--", f"{nodes.directory_of(stage, node)}/copy-of")
    offset_s = stage.clock_offset_s(node)
    return Promotion(float(moments["promotion"]) - offset_s, float(moments["promoted"]) - offset_s, node)
