"""How a program ended, in words. Pure."""

from __future__ import annotations

import signal

_SIGNALLED = 128  # a shell's exit status of a program that signal n ended is 128 + n
_BY_WHOM = "from outside: the system log of its machine may say by whom, such as the kernel where memory ran out"


def ending(exit_status: int) -> str:
    """Return how a program ended: 'ended with exit status 3', or by which signal."""
    try:
        name = signal.Signals(exit_status - _SIGNALLED).name
    except ValueError:
        return f"ended with exit status {exit_status}"
    by_whom = f", {_BY_WHOM}" if name == "SIGKILL" else ""
    return f"was ended by {name} (exit status {exit_status}){by_whom}"
