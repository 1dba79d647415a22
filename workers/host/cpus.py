"""Choose the processors that servers and jobs run on, by taskset, which needs no privileges; check them in /proc."""

from __future__ import annotations

from results.domain.errors import AgentError, TrialError
from results.domain.kinds.host_factors import cpu_count, cpu_set
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from workers.postgres.server import Server
from workers.remote.connection import Remote
from workers.remote.job import Job


async def list_for(remote: Remote, level: str) -> str:
    """Return the level as a list for taskset: '2 cpus' are the first two that the account may use.

    Raises TrialError where the agent does not have all of them.
    """
    result = await remote.script(_USABLE, check=False)
    if result.exit_status != 0:
        raise AgentError(
            _("The agent lacks taskset."),
            where=remote.address.place,
            why=_("The plan's host.cpus is set with it."),
            todo=_("Install util-linux there."),
        )
    usable = cpu_set(result.stdout)
    count = cpu_count(level)
    expected = cpu_set(level) if count is None else frozenset(sorted(usable)[:count])
    if not expected or not expected <= usable or (count or 0) > len(usable):
        raise TrialError(
            _("Agent {agent} does not have all of the processors {level}.", agent=remote.address.name, level=level),
            where=remote.phase,
            why=_("Its account may use {processors}.", processors=result.stdout.strip()),
            todo=_("Ask for others in host.cpus."),
        )
    return ",".join(map(str, sorted(expected)))


async def check(server: Server, expected: str, node: str) -> Check:
    """Return whether the postmaster and a new backend run on the expected processors, by the kernel."""
    postmaster = await server.remote.script(_POSTMASTER, server.data_dir)
    backend = await server.execute(_BACKEND)
    lists = {"postmaster": postmaster.stdout.strip(), "backend": backend.strip()}
    actual = lists["backend"] if len(set(lists.values())) == 1 else ", ".join(f"{k} {v}" for k, v in lists.items())
    passed = all(cpu_set(text) == cpu_set(expected) for text in lists.values())
    return Check("host.cpus", node, expected, expected if passed else actual or _("not known"), passed)


async def check_jobs(remote: Remote, directory: str, role: str) -> Check:
    """Return whether a job, started as those of the load, runs on the expected processors, by the kernel.

    directory: of the attempt's jobs
    """
    expected = remote.address.layout.job_cpus
    job = await Job.start(remote, f"{directory}/cpus-{role}", _JOB, deadline_s=60)
    finished = await job.finished()
    passed = finished.ok and cpu_set(finished.stdout) == cpu_set(expected)
    actual = expected if passed else finished.stdout.strip() or finished.stderr.strip() or _("not known")
    return Check("host.cpus", role, expected, actual, passed)


_JOB = "exec sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status"

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
