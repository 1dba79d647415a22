"""The one error of this package, in the same four sentences as everywhere in Teiten."""

from __future__ import annotations

from pathlib import Path


class BootstrapError(Exception):
    """An error that a person at the terminal can act on.

    what: the fact
    where: the part that failed
    why: the cause, often a tool's message
    todo: the next step
    """

    def __init__(self, what: str, *, where: str = "", why: str = "", todo: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.why, self.todo = what, where, why, todo

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return "\n".join(part for part in (head, self.why, self.todo) if part)


def say(text: str = "") -> None:
    """Print a line at once, for the person at the terminal."""
    print(text, flush=True)


def last_lines(path: Path, count: int = 12) -> str:
    """Return the end of a log, indented for quoting; '' where there is none."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return ""
    return "\n".join(f"    {line}" for line in lines[-count:])
