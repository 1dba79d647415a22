"""Quote commands, and hold their results. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass


def quote(argv: Sequence[str]) -> str:
    """Return one POSIX shell command of exactly these words. Raises ValueError for a NUL byte, which no shell accepts.

    Every command goes through this function.
    """
    if any("\0" in word for word in argv):
        raise ValueError(f"a word of a command holds a NUL byte: {list(argv)!r}")
    return shlex.join(argv)


@dataclass(frozen=True)
class CommandResult:
    """A finished command.

    exit_status: None where a signal ended it or its end was not seen."""

    command: str
    exit_status: int | None
    stdout: str
    stderr: str
    seconds: float
