"""Detached jobs: commands that run on the agent in a session of their own, and outlive the connection.

A job's directory holds `script`, `pid` (its session and process group), `stdout`, `stderr`, `started` and `ended`
(epoch seconds of the agent), `exit` (status), and `lock`, held by the job's supervisor while the job runs: to wait for
a job is to wait for the lock, which costs the agent nothing and ends at once, even where the supervisor was killed.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import AgentError, CommandError
from results.domain.exit_status import ending
from results.domain.messages import gettext_lazy as _
from workers.remote.command import quote
from workers.remote.connection import ENTER, LINK, Remote, link_error
from workers.remote.limits import ANSWER_BYTES

_HERE = Path(__file__).parent
_START = (_HERE / "job_start.sh").read_text()
_SUPERVISE = (_HERE / "job_supervise.sh").read_text()
_SWEEP = ENTER + (_HERE / "job_sweep.sh").read_text()
_GRACE_S = 5
_WAIT_S = 240  # of one remote wait; shorter than most firewalls' timeouts for idle connections
UNREACHABLE_S = 600  # an agent that is unreachable for longer is given up
_TIMED_OUT = (124, 137)  # what timeout(1) returns after TERM, after KILL


@dataclass(frozen=True)
class JobResult:
    """How a job ended. Times are epoch seconds of the agent's clock.

    exit_status: 128 + n after signal n
    timed_out: whether it was ended at its deadline
    """

    exit_status: int
    timed_out: bool
    started_s: float
    ended_s: float


@dataclass(frozen=True)
class Finished:
    """A job that has ended, with its output."""

    job: Job
    result: JobResult
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        return self.result.exit_status == 0 and not self.result.timed_out

    def require(self, program: str, argv: Sequence[str] | str, *, where: str, todo: str) -> None:
        """Raise CommandError with the program's output unless it succeeded.

        program: its name for users
        where: the phase
        """
        if self.ok:
            return
        result = self.result
        what = _("{program} {ending}", program=program, ending=ending(result.exit_status))
        if result.timed_out:
            what = _("{program} did not end in time", program=program)
        raise CommandError(
            what,
            where=where,
            command=argv if isinstance(argv, str) else quote(argv),
            exit_status=result.exit_status,
            stdout=self.stdout,
            stderr=self.stderr,
            host=self.job.remote.address.name,
            todo=todo,
        )


class Job:
    """A job on an agent, running or ended."""

    def __init__(self, remote: Remote, directory: str) -> None:
        self.remote, self.directory = remote, directory

    @classmethod
    def attach(cls, remote: Remote, directory: str) -> Job:
        """Return the job that was started earlier in this directory, by this worker or another."""
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
        begins: str = "",
    ) -> Job:
        """Start argv, or a constant POSIX shell script, in one round trip. Raises CommandError.

        It runs on the processors that the agent's layout names for jobs.

        deadline_s: seconds after which it is ended with all its children (TERM, then KILL)
        cwd: working directory; None for the job's directory
        begins: the file of the job's directory whose first bytes say that it has begun its work, which is awaited, as
            is its end; '' to wait for neither
        """
        cpus = remote.address.layout.job_cpus
        pin_command = f"taskset -cp {quote([cpus])} $$ >/dev/null || exit\n" if cpus else ""
        body = argv if isinstance(argv, str) else f"exec {quote(argv)}"
        exports = [f"export {quote([f'{name}={value}'])}\n" for name, value in (env or {}).items()]
        settings = (directory, f"{deadline_s:.3f}", str(_GRACE_S), cwd or directory, _SUPERVISE, begins)
        await remote.script(_START, *settings, stdin=pin_command + "".join(exports) + body + "\n")
        return cls(remote, directory)

    async def wait(self, expected_s: float = 0) -> JobResult:
        """Wait until the job has ended; return its result within milliseconds of its end.

        One remote command sleeps on the job's lock; it is repeated after a lost connection. Raises AgentError where the
        agent stays unreachable or the job vanished without a result.

        expected_s: expected seconds until the end, for which one remote command should suffice
        """
        wait_s = max(_WAIT_S, int(expected_s) + 10)
        unreachable_since_s: float | None = None
        while True:
            try:
                answer = await self.remote.script(
                    _WAIT, self.directory, str(wait_s), timeout_s=wait_s + 60, limit_bytes=ANSWER_BYTES
                )
            except CommandError:
                raise
            except AgentError as error:
                unreachable_since_s = unreachable_since_s or time.monotonic()
                if not error.retryable or time.monotonic() - unreachable_since_s > UNREACHABLE_S:
                    raise
                await asyncio.sleep(1)
                continue
            unreachable_since_s = None
            if answer.stdout:
                return self._result(answer.stdout)

    async def finished(self, expected_s: float = 0) -> Finished:
        """Wait as `wait` does, then fetch the job's output. Raises AgentError."""
        result = await self.wait(expected_s)
        return Finished(self, result, *await asyncio.gather(self.stdout(), self.stderr()))

    async def signal(self, name: str = "INT") -> None:
        """Send a signal to the job's process group, if it still runs. Raises CommandError.

        A program may get it more than once: the deadline's timeout(1) forwards its own signal.
        """
        await self.remote.script(_SIGNAL, self.directory, name)

    async def kill(self) -> None:
        """End the job, if it still runs: TERM, KILL after 5 s, then wait for its end."""
        await self.remote.script(_KILL, self.directory, str(_GRACE_S))

    async def stdout(self) -> str:
        """Return the job's standard output so far. Raises CommandError where it is too long (`limits`)."""
        return await self._text("stdout")

    async def fetch_stdout(self, target: Path) -> None:
        """Copy the job's standard output so far into a file. Raises CommandError where it is too long (`limits`)."""
        await self.remote.fetch(f"{self.directory}/stdout", target)

    async def stderr(self) -> str:
        """Return the job's standard error so far. Raises CommandError where it is too long (`limits`)."""
        return await self._text("stderr")

    async def _text(self, name: str) -> str:
        return (await self.remote.get(f"{self.directory}/{name}")).decode("utf-8", "replace")

    def _result(self, answer: str) -> JobResult:
        try:
            status, *times = answer.split()
            exit_status = int(status)
            started_s, ended_s, deadline_s = (float(text) for text in times)
            if not (0 <= exit_status <= 255 and math.isfinite(started_s + ended_s + deadline_s)):
                raise ValueError(answer)
        except ValueError:
            raise AgentError(
                _("A job ended without leaving its exit status."),
                where=self.remote.address.place,
                why=_(
                    "Its supervisor was killed or the agent was restarted. It ran in {directory}.",
                    directory=self.directory,
                ),
                todo=_("Look at the agent's system log, then run the trial again."),
                retryable=True,
            ) from None
        timed_out = exit_status in _TIMED_OUT and ended_s - started_s >= deadline_s
        if timed_out:
            self.remote.late_s.append(deadline_s)
        return JobResult(exit_status, timed_out, started_s, ended_s)


async def sweep(remote: Remote, keep: Collection[str] = (), only: str = "") -> list[str]:
    """End the jobs of dead attempts and remove their folders; return the removed names.

    Raises CommandError, and AgentError where a link has taken the place of `<work_dir>/jobs`.

    keep: names below `<work_dir>/jobs` to leave alone
    only: the one name to remove; '' for all
    """
    words = (remote.address.work_dir, str(_GRACE_S), only, *keep)
    answer = await remote.script(_SWEEP, *words, check=False, timeout_s=300)
    if answer.exit_status == LINK:
        raise link_error(remote, f"{remote.address.work_dir}/jobs", answer.stderr)
    remote.require_success("sh", answer)
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
