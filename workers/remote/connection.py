"""One connection to an agent: run commands and scripts, copy small files. Logs every command exactly as run."""

from __future__ import annotations

import asyncio
import copy
import io
import posixpath
import tarfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import NoReturn

import asyncssh
from asyncssh import DEVNULL, PIPE

from results.domain.errors import AgentError, CommandError
from results.domain.measurement.parsed_trial import CommandRun
from workers.remote.address import Address, Layout
from workers.remote.clock import clock_offset
from workers.remote.command import CommandResult, quote
from workers.remote.transport import HostKey, host_key_of, open_connection

__all__ = ["HostKey", "Remote", "connected", "host_key_of"]

_LOCALE = "LC_ALL=C.UTF-8"
_CHANNELS = 8  # OpenSSH's MaxSessions is 10 by default
_SHOWN_STDIN = 4000


@asynccontextmanager
async def connected(address: Address, *, timeout_s: float = 15) -> AsyncIterator[Remote]:
    """Open a connection and log in; it is closed at the end. Raises HostKeyError or AgentError."""
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
    ) -> CommandResult:
        """Run one command in one round trip, in the C.UTF-8 locale.

        Raises CommandError where it fails and `check` is set, AgentError where it does not end within timeout_s or the
        connection is lost meanwhile (retryable).
        """
        status, stdout, stderr, command, seconds = await self._execute(argv, stdin.encode(), env, timeout_s)
        result = CommandResult(command, status, _text(stdout), _text(stderr), seconds)
        if check and status != 0:
            self._raise_failed(argv, result)
        return result

    async def script(
        self,
        text: str,
        *args: str,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
        timeout_s: float | None = 60.0,
    ) -> CommandResult:
        """Run a constant POSIX shell script in one round trip; values reach it only as "$1", "$2" …, and `stdin`.

        Raises what `run` raises.
        """
        if stdin is not None:
            return await self.run("sh", "-c", text, "sh", *args, stdin=stdin, env=env, check=check, timeout_s=timeout_s)
        # The braces let sh read the script to its end before a command in it can swallow the rest.
        script = "{\n" + text + "\n} </dev/null\n"
        return await self.run("sh", "-s", "--", *args, stdin=script, env=env, check=check, timeout_s=timeout_s)

    async def put(self, path: str, content: bytes | str, mode: int = 0o644, *, secret: bool = False) -> None:
        """Write a file atomically, and the directories above it.

        secret: keep its content out of the log."""
        data = content.encode() if isinstance(content, str) else content
        argv = ("sh", "-c", _PUT, "sh", path, posixpath.dirname(path), f"{mode:o}")
        await self._checked(argv, data, secret=secret)

    async def get(self, path: str) -> bytes:
        """Return a file's content. Raises CommandError where there is no such file."""
        return await self._checked(("cat", "--", path))

    async def tree(self, path: str) -> dict[str, bytes]:
        """Return every regular file below a directory, in one round trip: path relative to it → content."""
        packed = await self._checked(("tar", "-C", path, "-cf", "-", "."))
        files: dict[str, bytes] = {}
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None:
                    files[posixpath.normpath(member.name)] = content.read()
        return files

    async def remove(self, path: str) -> None:
        """Remove a path with `rm -rf`, inside the agent's data and work directories; for others raise AgentError."""
        clean = posixpath.normpath(path)
        homes = [posixpath.normpath(home) for home in (*self.address.homes, self.address.work_dir) if home]
        if ".." in path.split("/") or not any(clean.startswith(home.rstrip("/") + "/") for home in homes):
            raise AgentError(
                f"Refused to remove {path!r}.",
                where=self.address.place,
                why=f"Teiten removes only what is inside {' and '.join(homes) or 'its directories, and none is set'}.",
            )
        await self.run("rm", "-rf", "--", clean, timeout_s=600)

    async def clock_offset(self) -> tuple[float, float]:
        """Return the agent's clock minus the worker's, and its uncertainty (±), in seconds."""
        async with self._connection.channels:
            return await clock_offset(await self._connection.open(), self.address.place)

    async def _checked(self, argv: tuple[str, ...], stdin: bytes = b"", *, secret: bool = False) -> bytes:
        status, stdout, stderr, command, seconds = await self._execute(argv, stdin, None, 600.0, secret=secret)
        if status != 0:
            self._raise_failed(argv, CommandResult(command, status, "", _text(stderr), seconds))
        return stdout

    async def _execute(
        self,
        argv: tuple[str, ...],
        stdin: bytes,
        env: Mapping[str, str] | None,
        timeout_s: float | None,
        *,
        secret: bool = False,
    ) -> tuple[int | None, bytes, bytes, str, float]:
        # Through env(1): sshd drops most variables sent over the protocol.
        command = quote(["env", _LOCALE, *(f"{name}={value}" for name, value in (env or {}).items()), *argv])
        shown = command + _here_document(b"(a secret)" if secret else stdin)
        status: int | None = None
        began = time.monotonic()
        try:
            async with self._connection.channels:
                connection = await self._connection.open()
                began = time.monotonic()
                status, stdout, stderr = await self._exchange(connection, command, stdin, timeout_s)
        finally:
            seconds = time.monotonic() - began
            self.log.append(CommandRun(self.node, self.phase, shown, status, seconds))
        return status, stdout, stderr, shown, seconds

    async def _exchange(
        self, connection: asyncssh.SSHClientConnection, command: str, stdin: bytes, timeout_s: float | None
    ) -> tuple[int | None, bytes, bytes]:
        try:
            process = await connection.create_process(command, encoding=None, stdin=PIPE if stdin else DEVNULL)
            try:
                async with asyncio.timeout(timeout_s):
                    stdout, stderr = await _communicate(process, stdin)
            except BaseException:
                with suppress(OSError):  # the channel may be closed already
                    process.terminate()
                process.close()
                raise
        except TimeoutError as error:
            raise AgentError(
                f"A command did not end within {timeout_s:g} s.", where=self.address.place, why=command[:300]
            ) from error
        except (asyncssh.Error, OSError) as error:
            raise self._lost_error(command, str(error)) from error
        errors = bytes(stderr or b"")
        if process.exit_signal:
            return None, bytes(stdout or b""), errors + f"\nended by signal {process.exit_signal[0]}".encode()
        if process.exit_status is None:
            raise self._lost_error(command, "No exit status came.")
        return process.exit_status, bytes(stdout or b""), errors

    def _lost_error(self, command: str, why: str) -> AgentError:
        return AgentError(
            "The connection to the agent was lost while a command ran.",
            where=self.address.place,
            why=f"{why} The command was: {command[:300]}",
            todo="Try again; if it happens often, look at the network and the agent's sshd log.",
            retryable=True,
        )

    def _raise_failed(self, argv: tuple[str, ...], result: CommandResult) -> NoReturn:
        end = "was ended by a signal" if result.exit_status is None else f"failed with exit status {result.exit_status}"
        raise CommandError(
            f"{posixpath.basename(argv[0])} {end}.",
            command=result.command,
            exit_status=result.exit_status,
            stdout=result.stdout,
            stderr=result.stderr,
            host=self.address.place,
        )


_PUT = """
mkdir -p -- "$2" && umask 077 && cat > "$1.part.$$" && chmod "$3" "$1.part.$$" && mv -f -- "$1.part.$$" "$1"
"""


async def _communicate(process: asyncssh.SSHClientProcess[bytes], stdin: bytes) -> tuple[bytes, bytes]:
    """Return all that the program printed.

    A program that ends without reading its input, as psql does where no server answers, may close its channel before
    the input is sent: that is no lost connection.
    """
    try:
        return await process.communicate(stdin)
    except BrokenPipeError:
        return await process.communicate()


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace")


def _here_document(stdin: bytes) -> str:
    if not stdin:
        return ""
    text = _text(stdin[:_SHOWN_STDIN])
    more = f"\n… ({len(stdin)} bytes in all)" if len(stdin) > _SHOWN_STDIN else ""
    return f" <<'INPUT'\n{text}{more}\nINPUT"
