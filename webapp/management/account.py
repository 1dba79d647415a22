"""Who runs a command, for the audit log."""

from __future__ import annotations

import getpass
import os


def actor_of(command: str) -> str:
    """Return 'command NAME (account)', of the account that this process runs as; its number where it has no name."""
    try:
        account = getpass.getuser()
    except (KeyError, OSError):
        account = f"uid {os.getuid()}"
    return f"command {command} ({account})"
