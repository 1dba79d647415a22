"""Exchange input and output with a command on an agent, in chunks and within limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import asyncssh

from results.domain.messages import gettext_lazy as _
from workers.remote.limits import OUTPUT_BYTES

_CHUNK_BYTES = 64 * 1024
STDOUT, STDERR = _("standard output"), _("standard error")


class Sink(Protocol):
    """Where output goes. A binary file is one."""

    def write(self, data: bytes, /) -> object: ...


class OutputLimitError(Exception):
    """A command has printed more than it may.

    stream: STDOUT or STDERR
    limit_bytes: what it may print there
    """

    def __init__(self, stream: str, limit_bytes: int) -> None:
        super().__init__(f"more than {limit_bytes} bytes of {stream}")
        self.stream, self.limit_bytes = stream, limit_bytes


async def exchange(
    process: asyncssh.SSHClientProcess[bytes], stdin: bytes, stdout: Sink, stderr: Sink, limit_bytes: int
) -> None:
    """Send the input and write all that the command prints, until it ends.

    No more than one chunk of each stream is in memory; SSH's own window holds the sender back meanwhile. Raises
    OutputLimitError as soon as the command prints more than limit_bytes, or more than OUTPUT_BYTES of errors.
    """
    streams = [
        asyncio.ensure_future(_send(process, stdin)),
        asyncio.ensure_future(_receive(process.stdout, stdout.write, STDOUT, limit_bytes)),
        asyncio.ensure_future(_receive(process.stderr, stderr.write, STDERR, OUTPUT_BYTES)),
    ]
    try:
        await asyncio.gather(*streams)
    finally:
        for stream in streams:
            stream.cancel()
    await process.wait_closed()


async def _send(process: asyncssh.SSHClientProcess[bytes], stdin: bytes) -> None:
    """A program that ends without reading its input, as psql does where no server answers, may close its channel
    before the input is sent: that is no lost connection."""
    try:
        for start in range(0, len(stdin), _CHUNK_BYTES):
            process.stdin.write(stdin[start : start + _CHUNK_BYTES])
            await process.stdin.drain()
        if stdin:
            process.stdin.write_eof()
    except BrokenPipeError:
        return


async def _receive(
    reader: asyncssh.SSHReader[bytes], write: Callable[[bytes], object], stream: str, limit_bytes: int
) -> None:
    size_bytes = 0
    while chunk := await reader.read(_CHUNK_BYTES):
        size_bytes += len(chunk)
        if size_bytes > limit_bytes:
            raise OutputLimitError(stream, limit_bytes)
        write(chunk)
