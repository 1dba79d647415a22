"""The failover of pgpool-II itself: it finds out by itself that the primary is lost, and runs a command of its
configuration, which promotes a standby by SQL. Teiten writes that command, and reads what it leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import TrialError
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
_PATIENCE_S = 30.0  # beyond the window: what came too late is better told than that nothing came


@dataclass(frozen=True)
class Promotion:
    """Epoch seconds of the worker's clock: when it was asked for, when the server left recovery; which node."""

    asked_s: float
    promoted_s: float
    node: str


def command(directory: str, psql: str, user: str) -> str:
    """The shell script for pgpool-II's failover_command. directory: of pgpool-II's files, where the statement that
    promotes lies as promote.sql and the password as pgpass. psql: the program."""
    known = {"PSQL": psql, "PGUSER": user, "PGPASSFILE": f"{directory}/pgpass", "DIRECTORY": directory}
    return "".join(f"export {quote([f'{name}={value}'])}\n" for name, value in known.items()) + _COMMAND


async def promoted(stage: Stage, *, limit_s: float) -> Promotion:
    """Waits until pgpool-II has had a standby promoted, which is a copy of the primary no more. Raises TrialError with
    pgpool-II's own words when that does not come within limit_s."""
    [pooler] = stage.poolers.values()
    limit_s += _PATIENCE_S
    said = await pooler.remote.script(
        _WAIT, pooler.data_dir, str(math.ceil(limit_s)), check=False, timeout_s=limit_s + 60
    )
    found = dict(line.split() for line in said.stdout.splitlines() if line.strip())
    if "promoted" not in found:
        raise TrialError(
            "pgpool-II promoted no standby.",
            where="topology.failover",
            why=(said.stdout + said.stderr).strip() or await process.last_words(pooler),
            todo="Measure for longer than its health checks take, and look at its log, which is kept with the trial.",
        )
    node = stage.spec.servers[int(found["node"])]
    await stage.agents[node].run("rm", "-f", "--", f"{nodes.directory_of(stage, node)}/copy-of")
    offset_s = stage.clock_offset_s(node)
    return Promotion(float(found["promotion"]) - offset_s, float(found["promoted"]) - offset_s, node)
