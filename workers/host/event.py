"""A host factor that is set in mid-run, and reverted when the load is over.

Its commands are those of any host factor. Servers are always stopped before it is reverted: an old primary behind a cut
network must not come back while another server has taken its place."""

from __future__ import annotations

from dataclasses import dataclass

from results.domain.kinds.host_factors import HostFactor, HostLevel
from workers.host import factors
from workers.host.factors import ReportChanges
from workers.remote.command import CommandResult
from workers.remote.connection import Remote

_TIMED = """
command=$1
shift
echo "began $(date +%s.%N)"
sh -c "$command" apply "$@" </dev/null >&2
status=$?
echo "ended $(date +%s.%N)"
exit "$status"
"""


@dataclass(frozen=True)
class Event:
    """Implements `workers.interfaces.HostEvent`.

    trial: '<run>/<trial>'."""

    remote: Remote
    factor: HostFactor
    level: HostLevel
    trial: str
    report_changes: ReportChanges

    async def keep(self) -> None:
        await factors.keep(
            self.remote, self.factor, self.level, self.trial, self.report_changes, needs_stopped_servers=True
        )

    async def begin(self, *words: str) -> tuple[float, float]:
        applied = await factors.run(self.remote, _TIMED, self.level.apply, *words)
        await self.require(*words, applied=applied)
        began_s, ended_s = (float(line.split()[1]) for line in applied.stdout.splitlines())
        return began_s, ended_s

    async def require(self, *words: str, applied: CommandResult | None = None) -> None:
        await factors.require(self.remote, self.factor, self.level, applied, words)

    async def revert(self) -> None:
        await factors.revert_all(self.remote, self.report_changes)
