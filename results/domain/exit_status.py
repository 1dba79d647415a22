"""How a program ended, in words. Pure."""

from __future__ import annotations

import signal

from results.domain.messages import gettext_lazy as _

_SIGNALLED = 128  # a shell's exit status of a program that signal n ended is 128 + n


def ending(exit_status: int) -> str:
    """Return how a program ended: 'ended with exit status 3', or by which signal."""
    try:
        name = signal.Signals(exit_status - _SIGNALLED).name
    except ValueError:
        return _("ended with exit status {status}", status=exit_status)
    if name == "SIGKILL":
        return _(
            "was ended by {signal} (exit status {status}), from outside: the system log of its machine may say by "
            "whom, such as the kernel where memory ran out",
            signal=name,
            status=exit_status,
        )
    return _("was ended by {signal} (exit status {status})", signal=name, status=exit_status)
