"""One connection to an agent: run commands and scripts, copy small files. Logs every command exactly as run."""

from __future__ import annotations

import asyncio
import copy
import io
import posixpath
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import asyncssh
from asyncssh import DEVNULL, PIPE

from results.domain.errors import AgentError, CommandError, full_error, is_full
from results.domain.folders import problem_of_folder
from results.domain.measurement.parsed_trial import CommandRun
from results.domain.messages import AND, linked
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end
from workers.remote.address import Address, Layout
from workers.remote.clock import clock_offset
from workers.remote.command import CommandResult, quote
from workers.remote.limits import FILE_BYTES, FOLDER_BYTES, FOLDER_FILES, LISTING_BYTES, OUTPUT_BYTES, in_words
from workers.remote.streams import STDOUT, OutputLimitError, exchange
from workers.remote.transport import HostKey, host_key_of, open_connection

__all__ = ["HostKey", "Remote", "connected", "host_key_of"]

_LOCALE = "LC_ALL=C.UTF-8"
_CHANNELS = 8  # OpenSSH's MaxSessions is 10 by default
_SHOWN_STDIN = 4000
_FILE_S = 600.0  # to copy a file


@asynccontextmanager
async def connected(address: Address, *, timeout_s: float = 15) -> AsyncIterator[Remote]:
    """Open a connection and log in; it is closed at the end. Raises HostKeyError or AgentError.

    An agent whose folders Teiten must not use, as one that was stored before that was checked, is not used at all.
    """
    _require_folders(address)
    remote = Remote(address, timeout_s=timeout_s)
    try:
        await remote.reconnect()
        yield remote
    finally:
        await remote.close()


class _Connection:
    """One SSH connection, opened when it is needed and again when it was lost."""

    def __init__(self, address: Address, timeout_s: float) -> None:
        self.channels = asyncio.Semaphore(_CHANNELS)
        self._address, self._timeout_s = address, timeout_s
        self._stack = AsyncExitStack()
        self._connection: asyncssh.SSHClientConnection | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> asyncssh.SSHClientConnection:
        async with self._opening:
            if self._connection is None or self._connection.is_closed():
                await self._stack.aclose()
                self._connection = await open_connection(self._stack, self._address, self._timeout_s)
            return self._connection

    async def close(self) -> None:
        self._connection = None
        await self._stack.aclose()


@dataclass(frozen=True)
class _Command:
    """A command to run.

    limit_bytes: what it may print
    file: the file of the agent that it prints, if it does nothing else
    secret: keep its input out of the log
    """

    argv: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] | None = None
    timeout_s: float | None = _FILE_S
    limit_bytes: int = OUTPUT_BYTES
    file: str = ""
    secret: bool = False

    @property
    def line(self) -> str:
        # Through env(1): sshd drops most variables sent over the protocol.
        return quote(["env", _LOCALE, *(f"{name}={value}" for name, value in (self.env or {}).items()), *self.argv])

    @property
    def shown(self) -> str:
        return self.line + _here_document(b"(a secret)" if self.secret else self.stdin)


class Remote:
    """An agent at the other end of one SSH connection. Several coroutines may use it at once.

    log: every command as run, with the `phase` and `node` of that moment
    late_s: deadlines that jobs have passed, in seconds
    """

    def __init__(self, address: Address, *, timeout_s: float = 15) -> None:
        self.address = address
        self.log: list[CommandRun] = []
        self.late_s: list[float] = []
        self.phase = ""
        self.node = address.name
        self._connection = _Connection(address, timeout_s)

    def laid_out(self, layout: Layout) -> Remote:
        """Return the same agent, connection and log with another layout, for a role with processors of its own."""
        other = copy.copy(self)
        other.address = replace(self.address, layout=layout)
        return other

    def unlogged(self) -> Remote:
        """Return the same agent and connection with another log, for commands that are no part of the trial."""
        other = copy.copy(self)
        other.log = []
        return other

    async def reconnect(self) -> None:
        """Open the connection anew where it is closed. Raises HostKeyError or AgentError."""
        await self._connection.open()

    async def close(self) -> None:
        """Close the connection; commands still running on it are lost, detached jobs are not."""
        await self._connection.close()

    async def run(
        self,
        *argv: str,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        check: bool = True,
        timeout_s: float | None = 60.0,
        limit_bytes: int | None = None,
        into: Path | None = None,
    ) -> CommandResult:
        """Run one command in one round trip, in the C.UTF-8 locale.

        Raises CommandError where it fails and `check` is set, or where it prints more than it may and is ended for
        that; AgentError where it does not end within timeout_s or the connection is lost meanwhile (retryable).

        limit_bytes: what it may print; None for OUTPUT_BYTES, or FILE_BYTES into a file
        into: a file for what it prints, written in chunks and removed where an error is raised; the result's stdout is
            '' then
        """
        limit_bytes = limit_bytes or (OUTPUT_BYTES if into is None else FILE_BYTES)
        command = _Command(argv, stdin.encode(), env, timeout_s, limit_bytes)
        with _output(into) as output:
            result = await self._execute(command, output)
            if isinstance(output, io.BytesIO):
                result = replace(result, stdout=_text(output.getvalue()))
            if check:
                self.require_success(command.argv[0], result)
        return result

    async def script(
        self,
        text: str,
        *args: str,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
        timeout_s: float | None = 60.0,
        limit_bytes: int | None = None,
        into: Path | None = None,
    ) -> CommandResult:
        """Run a constant POSIX shell script in one round trip; values reach it only as "$1", "$2" …, and `stdin`.

        Takes and raises what `run` does.
        """
        words: tuple[str, ...] = ("sh", "-c", text, "sh", *args)
        if stdin is None:
            # The braces let sh read the script to its end before a command in it can swallow the rest.
            words, stdin = ("sh", "-s", "--", *args), "{\n" + text + "\n} </dev/null\n"
        return await self.run(
            *words, stdin=stdin, env=env, check=check, timeout_s=timeout_s, limit_bytes=limit_bytes, into=into
        )

    async def put(self, path: str, content: bytes | str, mode: int = 0o644, *, secret: bool = False) -> None:
        """Write a file atomically, and the directories above it.

        secret: keep its content out of the log."""
        data = content.encode() if isinstance(content, str) else content
        argv = ("sh", "-c", _PUT, "sh", path, posixpath.dirname(path), f"{mode:o}")
        await self._checked(_Command(argv, data, secret=secret), io.BytesIO())

    async def get(self, path: str, limit_bytes: int = OUTPUT_BYTES) -> bytes:
        """Return a file's content. Raises CommandError where there is no such file, or where it is too long."""
        content = io.BytesIO()
        await self._checked(_Command(("cat", "--", path), limit_bytes=limit_bytes, file=path), content)
        return content.getvalue()

    async def fetch(self, path: str, target: Path, limit_bytes: int = FILE_BYTES) -> None:
        """Copy a file from the agent in chunks. Raises what `get` raises, and leaves no part of the file then."""
        with _output(target) as content:
            await self._checked(_Command(("cat", "--", path), limit_bytes=limit_bytes, file=path), content)

    async def fetch_folder(
        self, path: str, target_of: Callable[[str], Path | None], limit_bytes: int = FOLDER_BYTES
    ) -> None:
        """Copy the regular files below a directory, in chunks.

        Raises AgentError for more than FOLDER_FILES, for more than limit_bytes in all, or for a name that cannot be one
        here.

        target_of: path relative to the directory → where the file goes; None where it is not wanted
        """
        listing = io.BytesIO()
        words = ("find", f"{path}/.", "-type", "f", "-printf", "%P\\0")
        await self._checked(
            _Command(words, limit_bytes=LISTING_BYTES, file=_("list of files below {path}", path=path)), listing
        )
        names = listing.getvalue().split(b"\0")[:-1]
        if len(names) > FOLDER_FILES:
            why = _("There are {count}, and {most} may be.", count=len(names), most=FOLDER_FILES)
            raise AgentError(_("There are too many files below {path}.", path=path), where=self.address.place, why=why)
        left_bytes = limit_bytes
        for name in names:
            try:
                if target := target_of(_inner_path(name)):
                    await self.fetch(f"{path}/{name.decode()}", target, left_bytes)
                    left_bytes -= target.stat().st_size
            except (OSError, ValueError) as error:
                what = _("A file below {path} cannot be copied.", path=path)
                raise AgentError(
                    what,
                    where=self.address.place,
                    why=_("{error} (its name is {name})", error=str(error), name=repr(name[:300])),
                ) from error

    async def remove(self, path: str) -> None:
        """Remove a path with all below it, inside the agent's data and work directories and storage places.

        Raises AgentError for others, and where a link lies on the way to it from there: nothing is removed then.
        """
        clean = posixpath.normpath(path)
        homes = [posixpath.normpath(home) for home in (*self.address.homes, self.address.work_dir) if home]
        inside = [home for home in homes if clean.startswith(f"{home}/") and not problem_of_folder(home)]
        if ".." in path.split("/") or not inside:
            raise AgentError(
                _("Refused to remove {path!r}.", path=path),
                where=self.address.place,
                why=_removes_inside(homes),
            )
        home = max(inside, key=len)  # one may lie in another, behind a link that is its operator's
        parent, name = posixpath.split(clean.removeprefix(f"{home}/"))
        result = await self.script(_REMOVE, home, parent, name, check=False, timeout_s=600)
        if result.exit_status == LINK:
            raise link_error(self, path, result.stderr)
        self.require_success("rm", result)

    async def clock_offset(self) -> tuple[float, float]:
        """Return the agent's clock minus the worker's, and its uncertainty (±), in seconds."""
        async with self._connection.channels:
            return await clock_offset(await self._connection.open(), self.address.place)

    async def _checked(self, command: _Command, output: IO[bytes]) -> None:
        self.require_success(command.argv[0], await self._execute(command, output))

    async def _execute(self, command: _Command, output: IO[bytes]) -> CommandResult:
        """Run a command, whose standard output goes into `output` and not into the result."""
        result: CommandResult | None = None
        began = time.monotonic()
        try:
            async with self._connection.channels:
                connection = await self._connection.open()
                began = time.monotonic()
                status, errors = await self._exchange(connection, command, output)
                result = CommandResult(command.shown, status, "", errors, time.monotonic() - began)
        finally:
            seconds, status = (result.seconds, result.exit_status) if result else (time.monotonic() - began, None)
            self.log.append(CommandRun(self.node, self.phase, command.shown, status, seconds))
        return result

    async def _exchange(
        self, connection: asyncssh.SSHClientConnection, command: _Command, output: IO[bytes]
    ) -> tuple[int | None, str]:
        """Return the exit status, None after a signal, and what it printed to standard error."""
        errors = io.BytesIO()
        try:
            stdin = PIPE if command.stdin else DEVNULL
            process = await connection.create_process(command.line, encoding=None, stdin=stdin)
            try:
                async with asyncio.timeout(command.timeout_s):
                    await exchange(process, command.stdin, output, errors, command.limit_bytes)
            except BaseException:
                with suppress(OSError):  # the channel may be closed already
                    process.terminate()
                process.close()
                raise
        except OutputLimitError as error:
            raise self._limit_error(command, error) from error
        except TimeoutError as error:
            what = _("A command did not end within {seconds:g} s.", seconds=command.timeout_s)
            raise AgentError(what, where=self.address.place, why=command.line[:300]) from error
        except (asyncssh.Error, OSError) as error:
            if is_full(error):
                raise full_error(error) from error
            raise self._lost_error(command.line, str(error)) from error
        if process.exit_signal:
            return None, f"{_text(errors.getvalue())}\nended by signal {process.exit_signal[0]}"
        if process.exit_status is None:
            raise self._lost_error(command.line, _("No exit status came."))
        return process.exit_status, _text(errors.getvalue())

    def _limit_error(self, command: _Command, error: OutputLimitError) -> CommandError:
        limit = in_words(error.limit_bytes)
        what = _(
            "{program} printed more than {limit} to {stream} and was ended.",
            program=posixpath.basename(command.argv[0]),
            limit=limit,
            stream=error.stream,
        )
        if command.file and error.stream == STDOUT:
            what = _("The file {file} is longer than {limit}, and was not copied.", file=command.file, limit=limit)
        return CommandError(
            what,
            command=command.shown,
            exit_status=None,
            host=self.address.place,
            why=_(
                "So much is no measurement's: a worker takes no more, lest one agent stops the trials of all others."
            ),
            todo=_("Find out on the agent what wrote so much. The limits are listed in docs/operations.md."),
        )

    def _lost_error(self, command: str, why: str) -> AgentError:
        return AgentError(
            _("The connection to the agent was lost while a command ran."),
            where=self.address.place,
            why=_("{why} The command was: {command}", why=why, command=command[:300]),
            todo=_("Try again; if it happens often, look at the network and the agent's sshd log."),
            retryable=True,
        )

    def require_success(self, program: str, result: CommandResult) -> None:
        """Raise CommandError where the program failed or was ended by a signal."""
        if result.exit_status == 0:
            return
        name, status = posixpath.basename(program), result.exit_status
        what = _("{program} failed with exit status {status}.", program=name, status=status)
        if status is None:
            what = _("{program} was ended by a signal.", program=name)
        raise CommandError(
            what,
            command=result.command,
            exit_status=result.exit_status,
            stdout=result.stdout,
            stderr=result.stderr,
            host=self.address.place,
        )


def link_error(remote: Remote, path: str, stderr: str, refused: str = "remove what is") -> AgentError:
    """Return the error of a script that found a link in `enter.sh`.

    refused: to do what in the path: 'remove what is', 'look for clusters' or 'work'
    """
    return AgentError(
        _refusal(refused, path),
        where=remote.address.place,
        why=_("{link}, and Teiten follows none where it removes.", link=masked_end(stderr)),
        todo=_(
            "Find out who made the link, for a trial can have done it, and remove it on the agent. For "
            "another disk, name its folder as a storage place or as the agent's data directory."
        ),
    )


def _refusal(refused: str, path: str) -> str:
    if refused == "work":
        return _("Refused to work in {path}.", path=path)
    if refused == "look for clusters":
        return _("Refused to look for clusters in {path}.", path=path)
    return _("Refused to remove what is in {path}.", path=path)


def _removes_inside(homes: Sequence[str]) -> str:
    if not homes:
        return _("Teiten removes only what is inside its directories, and none is set.")
    folders = linked(AND, homes)
    return _("Teiten removes only what is inside {folders}.", folders=folders)


def _require_folders(address: Address) -> None:
    folders: dict[str, str] = {_("data directory"): address.data_dir, _("work directory"): address.work_dir}
    folders |= {_("storage place {place}", place=place): place for place in address.places}
    for name, path in folders.items():
        if path and (problem := problem_of_folder(path)):
            what = _("The agent's {folder} may not be {path}.", folder=name, path=path)
            raise AgentError(what, where=address.place, why=problem, todo=_("Name another folder on the agent's page."))


ENTER = (Path(__file__).parent / "enter.sh").read_text()  # before a script: its function `enter`
LINK = 4  # the exit status of a script that found a link
_REMOVE = (
    ENTER
    + """
enter "$1" "$2"
case $? in 0) ;; 3) exit 0 ;; 4) exit 4 ;; *) exit 1 ;; esac
rm -rf -- "./$3"
"""
)
_PUT = """
mkdir -p -- "$2" && umask 077 && cat > "$1.part.$$" && chmod "$3" "$1.part.$$" && mv -f -- "$1.part.$$" "$1"
"""


@contextmanager
def _output(path: Path | None) -> Iterator[IO[bytes]]:
    """Give the file at this path, opened, which is removed where an error is raised; memory where there is none."""
    if path is None:
        yield io.BytesIO()
        return
    try:
        with path.open("wb") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _inner_path(name: bytes) -> str:
    """Return a path below a directory. Raises ValueError where it leads out of it."""
    path = name.decode()
    if not path or path.startswith("/") or {"", ".", ".."} & set(path.split("/")):
        raise ValueError("it is no path below the directory")
    return path


def _text(output: bytes) -> str:
    # no text of the warehouse may hold a NUL
    return output.decode("utf-8", "replace").replace("\0", "\ufffd")


def _here_document(stdin: bytes) -> str:
    if not stdin:
        return ""
    text = _text(stdin[:_SHOWN_STDIN])
    more = f"\n… ({len(stdin)} bytes in all)" if len(stdin) > _SHOWN_STDIN else ""
    return f" <<'INPUT'\n{text}{more}\nINPUT"
