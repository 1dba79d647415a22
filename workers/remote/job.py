"""Detached jobs: a command runs on the agent in a session of its own, whatever becomes of the connection.

A job's directory holds `script`, `pid` (its session and process group), `stdout`, `stderr`, `started` and `ended`
(epoch seconds of the agent), `exit` (status), and `lock`, held by the job's supervisor for as long as the job lives:
waiting is waiting for the lock, which costs the agent nothing and ends at once, even where the supervisor was killed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import AgentError, CommandError
from workers.remote.command import quote
from workers.remote.connection import Remote

_HERE = Path(__file__).parent
_START = (_HERE / "job_start.sh").read_text()
_SUPERVISE = (_HERE / "job_supervise.sh").read_text()
_SWEEP = (_HERE / "job_sweep.sh").read_text()
_GRACE_S = 5
_SLICE_S = 240  # one remote wait; shorter than most firewalls' patience
_AWAY_S = 600  # how long an agent may be out of reach before waiting for its job is given up
_TIMED_OUT = (124, 137)  # what timeout(1) returns after TERM, after KILL


@dataclass(frozen=True)
class JobResult:
    """How a job ended. Times are epoch seconds of the agent's clock. exit_status: 128 + n after signal n."""

    exit_status: int
    timed_out: bool
    started_s: float
    ended_s: float


@dataclass(frozen=True)
class Finished:
    """A job that is over, with all that it printed."""

    job: Job
    result: JobResult
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        return self.result.exit_status == 0 and not self.result.timed_out

    def require(self, program: str, argv: Sequence[str] | str, *, where: str, todo: str) -> None:
        """Raises CommandError with the program's own words unless it ended well. program: what the user knows it by;
        where: the phase."""
        if self.ok:
            return
        result = self.result
        ending = "did not end in time" if result.timed_out else f"ended with status {result.exit_status}"
        raise CommandError(
            f"{program} {ending}",
            where=where,
            command=argv if isinstance(argv, str) else quote(argv),
            exit_status=result.exit_status,
            stdout=self.stdout,
            stderr=self.stderr,
            host=self.job.remote.address.name,
            todo=todo,
        )


class Job:
    """A job on an agent, running or over."""

    def __init__(self, remote: Remote, directory: str) -> None:
        self.remote, self.directory = remote, directory

    @classmethod
    def attach(cls, remote: Remote, directory: str) -> Job:
        """The job started earlier in this directory, by whomever."""
        return cls(remote, directory)

    @classmethod
    async def start(
        cls,
        remote: Remote,
        directory: str,
        argv: Sequence[str] | str,
        *,
        deadline_s: float,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Job:
        """Starts argv, or a constant POSIX shell script, in one round trip. A job past its deadline is ended with all
        its children (TERM, then KILL). cwd: the job's directory unless given. It runs on the processors that the
        agent's layout names for jobs. Raises CommandError."""
        cpus = remote.address.layout.job_cpus
        pinned = f"taskset -cp {quote([cpus])} $$ >/dev/null || exit\n" if cpus else ""
        body = argv if isinstance(argv, str) else f"exec {quote(argv)}"
        exports = [f"export {quote([f'{name}={value}'])}\n" for name, value in (env or {}).items()]
        settings = (directory, f"{deadline_s:.3f}", str(_GRACE_S), cwd or directory, _SUPERVISE)
        await remote.script(_START, *settings, stdin=pinned + "".join(exports) + body + "\n")
        return cls(remote, directory)

    async def wait(self, expected_s: float = 0) -> JobResult:
        """Until the job is over: known within milliseconds, by one remote command that sleeps on the job's lock, asked
        again after a lost connection. expected_s makes that command long enough for the job's usual end.

        Raises AgentError when the agent stays away or the job vanished without a result."""
        slice_s = max(_SLICE_S, int(expected_s) + 10)
        away_since: float | None = None
        while True:
            try:
                answer = await self.remote.script(_WAIT, self.directory, str(slice_s), timeout_s=slice_s + 60)
            except CommandError:
                raise
            except AgentError as error:
                away_since = away_since or time.monotonic()
                if not error.retryable or time.monotonic() - away_since > _AWAY_S:
                    raise
                await asyncio.sleep(1)
                continue
            away_since = None
            if answer.stdout:
                return self._result(answer.stdout)

    async def finished(self, expected_s: float = 0) -> Finished:
        """Waits as `wait` does, then fetches what the job printed. Raises AgentError."""
        result = await self.wait(expected_s)
        return Finished(self, result, *await asyncio.gather(self.stdout(), self.stderr()))

    async def signal(self, name: str = "INT") -> None:
        """Sends a signal to the job's process group; nothing when it is over. A program may get it more than once: the
        deadline's timeout(1) passes on what it got itself. Raises CommandError."""
        await self.remote.script(_SIGNAL, self.directory, name)

    async def kill(self) -> None:
        """Ends the job: TERM, KILL after a grace of 5 s, then waits for its end. Nothing when it is over."""
        await self.remote.script(_KILL, self.directory, str(_GRACE_S))

    async def stdout(self) -> str:
        """What the job has printed so far."""
        return (await self.remote.get(f"{self.directory}/stdout")).decode("utf-8", "replace")

    async def stderr(self) -> str:
        """What the job has complained of so far."""
        return (await self.remote.get(f"{self.directory}/stderr")).decode("utf-8", "replace")

    def _result(self, answer: str) -> JobResult:
        try:
            status, started, ended, deadline = answer.split()
        except ValueError:
            raise AgentError(
                "A job ended without leaving its exit status.",
                where=self.remote.address.place,
                why=f"Its supervisor was killed or the agent was restarted. It ran in {self.directory}.",
                todo="Look at the agent's system log, then run the trial again.",
                retryable=True,
            ) from None
        seconds = float(ended) - float(started)
        timed_out = int(status) in _TIMED_OUT and seconds >= float(deadline)
        if timed_out:
            self.remote.late_s.append(float(deadline))
        return JobResult(int(status), timed_out, float(started), float(ended))


async def sweep(remote: Remote, keep: Collection[str] = (), only: str = "") -> list[str]:
    """Ends the jobs of dead attempts and removes `<work_dir>/jobs/*` but what is in keep (names); only: nothing but
    this one. Returns the names removed. Raises CommandError."""
    jobs = f"{remote.address.work_dir}/jobs"
    answer = await remote.script(_SWEEP, jobs, str(_GRACE_S), only, *keep, timeout_s=300)
    return answer.stdout.splitlines()


_WAIT = """
cd -- "$1" || exit
flock -s -w "$2" lock true || exit 0
cat exit started ended deadline 2>/dev/null || echo vanished
"""

# A job that was started a moment ago may not have written its pid yet.
_FIND = """
cd -- "$1" || exit
until [ -s pid ] || flock -n lock true; do sleep 0.02; done
[ -s pid ] && ! flock -n lock true || exit 0
group=$(cat pid)
"""

_SIGNAL = _FIND + 'kill -s "$2" -- "-$group" || flock -w 1 lock true\n'

_KILL = (
    _FIND
    + """
kill -s TERM -- "-$group"
flock -w "$2" lock true || kill -s KILL -- "-$group"
flock -w "$2" lock true
"""
)
