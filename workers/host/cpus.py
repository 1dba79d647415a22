"""The processors that servers run on: taskset, which needs no privileges, and what the kernel says of it."""

from __future__ import annotations

from results.errors import AgentError, TrialError
from results.host import cpu_count, cpu_set
from results.parsed import Check
from workers.postgres.server import Server
from workers.remote.connection import Remote


async def list_for(remote: Remote, level: str) -> str:
    """The level as a list for taskset: '2 cpus' are the first two that the account may use. Raises TrialError where the
    agent has not all of them."""
    result = await remote.script(_USABLE, check=False)
    if result.exit_status != 0:
        raise AgentError(
            "The agent lacks taskset.",
            where=remote.address.place,
            why="The plan's host.cpus is set with it.",
            todo="Install util-linux there.",
        )
    usable = cpu_set(result.stdout)
    count = cpu_count(level)
    wanted = cpu_set(level) if count is None else frozenset(sorted(usable)[:count])
    if not wanted or not wanted <= usable or (count or 0) > len(usable):
        raise TrialError(
            f"Agent {remote.address.name} has not all of the processors {level}.",
            where=remote.phase,
            why=f"Its account may use {result.stdout.strip()}.",
            todo="Ask for others in host.cpus.",
        )
    return ",".join(map(str, sorted(wanted)))


async def check(server: Server, wanted: str, node: str) -> Check:
    """The kernel's word for the postmaster, and for a backend of its own."""
    postmaster = await server.remote.script(_POSTMASTER, server.data_dir)
    backend = await server.execute(_BACKEND)
    found = {"postmaster": postmaster.stdout.strip(), "backend": backend.strip()}
    actual = found["backend"] if len(set(found.values())) == 1 else ", ".join(f"{k} {v}" for k, v in found.items())
    right = all(cpu_set(text) == cpu_set(wanted) for text in found.values())
    return Check("host.cpus", node, wanted, wanted if right else actual or "not known", right)


_USABLE = r"""
command -v taskset >/dev/null || exit 3
sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
"""

_POSTMASTER = r"""
read -r pid <"$1/postmaster.pid" && sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$pid/status"
"""

_BACKEND = r"""
SELECT pg_backend_pid() AS pid \gset
\setenv TEITEN_BACKEND :pid
\! sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$TEITEN_BACKEND/status"
"""
