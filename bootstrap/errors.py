"""The one error of this package, in the same four sentences as everywhere in Teiten."""

from __future__ import annotations

from pathlib import Path


class BootstrapError(Exception):
    """what: the fact.  where: which part.  why: the cause, often a tool's own words.  todo: the next step."""

    def __init__(self, what: str, *, where: str = "", why: str = "", todo: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.why, self.todo = what, where, why, todo

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return "\n".join(part for part in (head, self.why, self.todo) if part)


def say(text: str = "") -> None:
    """One line for the person at the terminal, at once."""
    print(text, flush=True)


def last_lines(path: Path, count: int = 12) -> str:
    """The end of a log, indented for quoting; '' when there is none."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return ""
    return "\n".join(f"    {line}" for line in lines[-count:])
