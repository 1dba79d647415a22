"""What `surviving` left: runs of pgbench one after the other, and what their clients saw acknowledged. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from results.domain.dataclass_json import from_json
from results.domain.errors import ParseError

from .progress import aborted_clients, complaint, was_aborted
from .report import read_report

RUNS, FOLDED = "runs.json", "folded.txt"


@dataclass(frozen=True)
class Run:
    """One run of pgbench. number: from 1. Times in epoch seconds of the client's clock. exit_status, ended_s: None
    where it was ended with its job."""

    number: int
    began_s: float
    ended_s: float | None
    exit_status: int | None
    stdout: str
    stderr: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def transactions(self) -> int:
        """That pgbench counts as processed. Raises ParseError for a damaged report."""
        return int(read_report(self.stdout).total.values.get(("transactions", ""), 0))

    @property
    def aborted(self) -> int:
        """Clients that lost their connection, each with a transaction that it was about."""
        return aborted_clients(self.stderr)

    @property
    def trouble(self) -> str:
        """Why it did not come to its end, in pgbench's words; '' when it did."""
        if self.exit_status == 0 and not was_aborted(self.stderr):
            return ""
        return complaint(self.stderr) or f"pgbench ended with exit status {self.exit_status}"


@dataclass
class Acknowledged:
    """The transactions that clients saw committed. clients: (run, client) → how many. spans: run → first and last,
    epoch seconds of the client's clock. seconds: whole second since origin_s → transactions, sum of latencies in µs."""

    origin_s: float = 0.0
    clients: dict[tuple[int, int], int] = field(default_factory=dict)
    spans: dict[int, tuple[float, float]] = field(default_factory=dict)
    seconds: dict[int, tuple[int, int]] = field(default_factory=dict)
    damaged: int = 0

    @property
    def total(self) -> int:
        return sum(self.clients.values())

    def of_run(self, number: int) -> int:
        return sum(count for (run, _), count in self.clients.items() if run == number)


def read_runs(files: Mapping[str, str]) -> tuple[Run, ...]:
    """Raises ParseError."""
    text = files.get(RUNS, "")
    try:
        return from_json(tuple[Run, ...], json.loads(text))
    except ValueError as error:
        raise ParseError("not a list of runs of pgbench", file=RUNS, text=f"{error!r} in {text[:150]}") from None


def read_acknowledged(files: Mapping[str, str]) -> Acknowledged:
    """Raises ParseError for a damaged file."""
    found = Acknowledged()
    for number, line in enumerate(files.get(FOLDED, "").splitlines(), 1):
        try:
            _read_line(found, line)
        except ValueError:
            raise ParseError("not a line of folded logs", file=FOLDED, line=number, text=line) from None
    return found


def _read_line(found: Acknowledged, line: str) -> None:
    match line.split():
        case ["origin", at_s]:
            found.origin_s = float(at_s)
        case ["client", run, client, count]:
            found.clients[int(run), int(client)] = int(count)
        case ["run", run, first_s, last_s]:
            found.spans[int(run)] = (float(first_s), float(last_s))
        case ["second", second, count, sum_us]:
            found.seconds[int(second)] = (int(count), int(sum_us))
        case ["damaged", lines]:
            found.damaged = int(lines)
        case _:
            raise ValueError(line)
