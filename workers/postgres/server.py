"""One running PostgreSQL on an agent: queries through the agent's psql, its log, stopping and starting."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from results.domain.errors import CommandError, TrialError
from results.domain.matrix import InstallationRef
from results.domain.messages import gettext_lazy as _
from workers.remote.command import CommandResult
from workers.remote.connection import Remote

SUPERUSER = "teiten"
_NO_PHASE_S = 3600.0
_LOG_TAIL_BYTES = 64 * 1024
RECOVERS = (Path(__file__).parent / "recovers.sh").read_text()
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def unique_name(directory: str) -> str:
    """Return a name for the cluster in this directory that no cluster in another directory has."""
    return f"{posixpath.basename(directory)}-{hashlib.sha256(directory.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Server:
    """One running PostgreSQL.

    remote: its agent; for an external endpoint the agent that queries it
    data_dir: PGDATA
    host: host name or address for clients on other machines, or the socket directory
    how: created, started, restarted or reused
    forced: a sentence about the server that ran before with other settings and had to be forced to stop; '' for none
    password_file: for libpq on the client's agent, where clients need the password
    outside: whether it is an external endpoint, whose files, log and settings are out of reach
    options: further variables for libpq
    """

    remote: Remote
    installation: InstallationRef
    data_dir: str
    port: int
    socket_dir: str
    host: str
    how: str = "reused"
    forced: str = ""
    password_file: str = ""
    user: str = SUPERUSER
    outside: bool = False
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def log_path(self) -> str:
        return f"{posixpath.dirname(self.data_dir)}/log"

    @property
    def cluster_name(self) -> str:
        """The cluster's name in other storage places: its folder's name and a hash of the folder's path."""
        return unique_name(posixpath.dirname(self.data_dir))

    def psql(self, database: str) -> list[str]:
        """Return the command line of psql for a quiet, unaligned session that stops at the first error."""
        program = f"{self.installation.client_bin}/psql"
        return [program, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database]

    def environment(self, *, local: bool = False) -> dict[str, str]:
        """Return PGHOST, PGPORT, PGUSER and, where it is needed, PGPASSFILE for client programs.

        local: for programs on the server's agent, over its socket
        """
        password = {"PGPASSFILE": self.password_file} if self.password_file and not local else {}
        return {
            "PGHOST": self.socket_dir if local else self.host,
            "PGPORT": str(self.port),
            "PGUSER": self.user,
            "PGCLIENTENCODING": "UTF8",
            **password,
            **self.options,
        }

    async def query(
        self,
        sql: str,
        *,
        database: str = "postgres",
        variables: Mapping[str, str] | None = None,
        timeout_s: float | None = 600,
    ) -> list[dict[str, Any]]:
        """Return the rows of one SELECT (without semicolon) as dicts of JSON values.

        Raises CommandError with the server's message.

        variables: psql variables, used as `:'name'`
        """
        # The query is a constant of Teiten's; values are psql variables.
        wrapped = f"SELECT coalesce(json_agg(q), '[]') FROM (\n{sql}\n) AS q;\n"  # noqa: S608
        answer = await self.execute(wrapped, database=database, variables=variables, timeout_s=timeout_s)
        try:
            rows: list[dict[str, Any]] = json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise TrialError(
                _("The answer to a query is not what PostgreSQL prints."),
                where=self.remote.phase or self.remote.address.place,
                why=f"{error}: {answer[:200]!r}",
                todo=_("Check the client programs of this installation."),
            ) from None
        return rows

    async def execute(
        self,
        script: str,
        *,
        database: str = "postgres",
        variables: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> str:
        """Run a constant psql script in one session; return its output.

        Raises CommandError with the server's message.

        variables: psql variables, used as `:'name'` or `:"name"`
        timeout_s: None for no limit but the deadline of the trial's phase, or an hour outside of a phase
        """
        if timeout_s is None and not self.remote.phase:
            timeout_s = _NO_PHASE_S
        words = self.psql(database)
        for name, value in (variables or {}).items():
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"{name!r} is not the name of a psql variable")
            words += ["-v", f"{name}={value}"]
        result = await self.remote.run(
            *words, stdin=script, env=self.environment(local=True), check=False, timeout_s=timeout_s
        )
        if result.exit_status != 0:
            raise self._sql_error(result)
        return result.stdout

    async def log_size(self) -> int:
        """Return the present size of the server's log in bytes; 0 where it is out of reach."""
        if self.outside:
            return 0
        return int((await self.remote.run("stat", "-c", "%s", self.log_path)).stdout)

    async def log_tail(self, since_bytes: int | None = None) -> str:
        """Return the server's log from this offset on, else the whole lines of its last 64 kB; '' where it is out of
        reach."""
        if self.outside:
            return ""
        begin = f"+{since_bytes + 1}" if since_bytes is not None else str(_LOG_TAIL_BYTES)
        log = (await self.remote.run("tail", "-c", begin, self.log_path)).stdout
        return log if since_bytes is not None else without_cut_line(log)

    async def gone(self) -> str:
        """Return the last line of the log of a server that does not run, without its time; '' of one that runs, or
        whose cluster was removed."""
        answer = (await self.remote.script(_GONE, self.data_dir, self.log_path)).stdout
        return without_time(answer.strip())

    async def crashes(self) -> str:
        """Return what the server's log tells, with its details, of crashes and of processes of it that a signal ended,
        of whatever trial; '' where it tells of none, or is out of reach."""
        return "" if self.outside else (await self.remote.script(_CRASHES, self.log_path)).stdout

    async def stop(self, mode: str = "fast") -> None:
        """Stop the server, if it runs, and wait for its end. Raises CommandError.

        mode: smart, fast, immediate
        """
        await self.remote.script(_STOP, self.installation.bin_dir, self.data_dir, mode, self.log_path, timeout_s=200)

    async def start(self) -> Server:
        """Start the stopped server again with its settings. Raises TrialError with the server's message."""
        result = await self.remote.script(
            _START,
            self.installation.bin_dir,
            self.data_dir,
            self.log_path,
            self.remote.address.layout.cpus,
            check=False,
            timeout_s=700,
        )
        if result.exit_status != 0:
            raise start_error(self.installation, self.remote, result.stderr)
        return replace(self, how="started")

    def _sql_error(self, result: CommandResult) -> CommandError:
        lost = result.exit_status == 2
        return CommandError(
            _("The connection to PostgreSQL failed.") if lost else _("PostgreSQL refused a statement."),
            command=result.command,
            exit_status=result.exit_status,
            stdout=result.stdout,
            stderr=result.stderr,
            host=_(
                "PostgreSQL {installation} on {agent}",
                installation=self.installation.name,
                agent=self.remote.address.place,
            ),
        )


def without_cut_line(log: str) -> str:
    """Return the last 64 kB of a log without the line that is cut at their beginning: of it a password may be left
    without its name, by which it would be hidden."""
    return log.partition("\n")[2] if len(log.encode()) >= _LOG_TAIL_BYTES else log


def without_time(line: str) -> str:
    """Return a line of a server's log without the time and the process at its beginning."""
    return re.sub(r"^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] ", "", line)


def start_error(installation: InstallationRef, remote: Remote, log: str) -> TrialError:
    """Return the error for a server that did not start: `why` is the end of its log, without times."""
    lines = [without_time(line) for line in log.splitlines()]
    messages = [line for line in lines if line.strip() and not _ROUTINE.search(line)]
    return TrialError(
        _(
            "PostgreSQL {installation} did not start on {agent}.",
            installation=installation.name,
            agent=remote.address.name,
        ),
        where=remote.phase or "prepare",
        why="\n".join(messages[-12:]) or _("It left no message."),
        todo=_("Correct the settings that its message names."),
    )


_ROUTINE = re.compile(
    r"LOG:  (starting PostgreSQL|listening on|redirecting|database system (was|is) shut down|ending log)|"
    r"waiting for server to start|could not start server|Examine the log output"
)

# The pid file may be of a server that was killed.
_RUNS = """
runs() { [ -s "$1/postmaster.pid" ] && read -r pid <"$1/postmaster.pid" && [ "/proc/$pid/cwd" -ef "$1" ]; }
"""

_GONE = (
    _RUNS
    + """
[ -d "$1" ] || exit 0
runs "$1" && exit
last=$(tail -n 1 -- "$2")
echo "${last:-(it is empty)}"
"""
)

_CRASHES = r"""
tail -c 16777216 -- "$1" | LC_ALL=C grep -E -A 2 ' PANIC:  | LOG:  .*was terminated by signal ' | tail -n 60
"""

_STOP = (
    _RUNS
    + RECOVERS
    + """
runs "$2" || exit 0
recovers "$4" && set -- "$1" "$2" immediate
"$1/pg_ctl" stop -D "$2" -m "$3" -w -t 120 >/dev/null || ! runs "$2"
"""
)

_START = """
size=$(stat -c %s "$3" || echo 0)
${4:+taskset -c "$4"} "$1/pg_ctl" start -D "$2" -l "$3" -w -t 600 >/dev/null && exit
tail -c "+$((size + 1))" "$3" | tail -n 60 >&2
exit 4
"""
