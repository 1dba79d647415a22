"""How a step ended: done, refused by the server, or broken. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from results.domain.messages import gettext_lazy as _

_ERROR = re.compile(r"ERROR:\s+([0-9A-Z]{5}): (.*)")
_ERROR_LINE = re.compile(r"ERROR|FATAL|PANIC|error:|server closed the connection")
_SCRIPT_FAILED = 3  # psql's exit status for an error in a statement
# What a server says of a thing that it cannot do: not supported, an error inside an unfinished access method, a name or
# type that does not fit, a value or a state that is not allowed, a missing extension file. Disk, memory, locks, lost
# connections and damaged data are no refusals.
_REFUSALS = ("0A", "XX000", "42", "22023", "55000", "58P01")


class Outcome(StrEnum):
    DONE = "done"
    REFUSED = "refused"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True)
class Verdict:
    """How a step ended, and why in the server's words."""

    outcome: Outcome
    why: str = ""


def of_psql(exit_status: int | None, stderr: str, *, timed_out: bool = False) -> Verdict:
    """Judge psql's exit, its errors printed with VERBOSITY verbose."""
    if timed_out:
        return Verdict(Outcome.FAILED, _("It was still running at its deadline and was ended."))
    if exit_status == 0:
        return Verdict(Outcome.DONE)
    error = _ERROR.search(stderr)
    if exit_status == _SCRIPT_FAILED and error and error[1].startswith(_REFUSALS):
        return Verdict(Outcome.REFUSED, f"{error[2]} (SQLSTATE {error[1]})")
    why = _("It ended with exit status {exit_status}: {error}", exit_status=exit_status, error=error_line(stderr))
    return Verdict(Outcome.FAILED, why)


def error_line(stderr: str) -> str:
    """Return the line of the error."""
    lines = stderr.strip().splitlines()
    return next((line for line in lines if _ERROR_LINE.search(line)), stderr.strip()[:600]) or _("it gave no reason")


def by_index(plan: Mapping[str, Any]) -> Verdict:
    """Judge whether a plan (EXPLAIN's JSON) reads its table by an index."""
    nodes = list(_nodes(plan["Plan"]))
    if any("Index" in node for node in nodes):
        return Verdict(Outcome.DONE)
    return Verdict(Outcome.REFUSED, _("The server does not use the index: {plan}.", plan=", ".join(nodes)))


def _nodes(node: Mapping[str, Any]) -> Iterator[str]:
    yield str(node["Node Type"])
    for child in node.get("Plans", ()):
        yield from _nodes(child)
