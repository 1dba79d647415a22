"""The processors that servers and jobs run on: taskset, which needs no privileges, and what the kernel says of it."""

from __future__ import annotations

from results.domain.errors import AgentError, TrialError
from results.domain.kinds.host_factors import cpu_count, cpu_set
from results.domain.measurement.parsed_trial import Check
from workers.postgres.server import Server
from workers.remote.connection import Remote
from workers.remote.job import Job


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


async def check_jobs(remote: Remote, directory: str, role: str) -> Check:
    """The kernel's word for a job, begun as those that put the load on. directory: of the attempt's jobs."""
    wanted = remote.address.layout.job_cpus
    job = await Job.start(remote, f"{directory}/cpus-{role}", _OWN, deadline_s=60)
    found = await job.finished()
    right = found.ok and cpu_set(found.stdout) == cpu_set(wanted)
    actual = wanted if right else found.stdout.strip() or found.stderr.strip() or "not known"
    return Check("host.cpus", role, wanted, actual, right)


_OWN = "exec sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status"

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
