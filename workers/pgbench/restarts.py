"""Parse the files of `surviving`: consecutive runs of pgbench, and the transactions that their clients saw committed.
Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from results.domain import json_text
from results.domain.dataclass_json import from_json
from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _

from .progress import aborted_clients, first_error, was_aborted
from .report import read_report

RUNS, FOLDED = "runs.json", "folded.txt"


@dataclass(frozen=True)
class Run:
    """One run of pgbench. Times are epoch seconds of the client's clock.

    number: from 1
    ended_s, exit_status: None where it was ended with its job
    """

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
        """Transactions that pgbench counts as processed. Raises ParseError for a damaged report."""
        return int(read_report(self.stdout).total.values.get(("transactions", ""), 0))

    @property
    def aborted(self) -> int:
        """Clients that lost their connection, each in the middle of a transaction."""
        return aborted_clients(self.stderr)

    @property
    def error_message(self) -> str:
        """Why it broke off, in pgbench's words; '' where it did not."""
        if self.exit_status == 0 and not was_aborted(self.stderr):
            return ""
        return first_error(self.stderr) or _("pgbench ended with exit status {status}", status=self.exit_status)


@dataclass
class Acknowledged:
    """The transactions that clients saw committed. Times are epoch seconds of the client's clock.

    origin_s: second 0 of `seconds`
    clients: (run, client) → transactions
    spans: run → first and last transaction
    seconds: whole second since origin_s → transactions, sum of latencies in µs
    damaged: lines of the logs that could not be read
    """

    origin_s: float = 0.0
    clients: dict[tuple[int, int], int] = field(default_factory=dict)
    spans: dict[int, tuple[float, float]] = field(default_factory=dict)
    seconds: dict[int, tuple[int, int]] = field(default_factory=dict)
    damaged: int = 0

    @property
    def total(self) -> int:
        return sum(self.clients.values())

    def of_run(self, number: int) -> int:
        return sum(count for (run, _client), count in self.clients.items() if run == number)


def read_runs(files: Mapping[str, str]) -> tuple[Run, ...]:
    """Return the runs of a bundle's files. Raises ParseError."""
    text = files.get(RUNS, "")
    try:
        return from_json(tuple[Run, ...], json_text.loads(text))
    except ValueError as error:
        raise ParseError(_("not a list of runs of pgbench"), file=RUNS, text=f"{error!r} in {text[:150]}") from None


def read_acknowledged(files: Mapping[str, str]) -> Acknowledged:
    """Return the acknowledged transactions of a bundle's files. Raises ParseError for a damaged file."""
    log = Acknowledged()
    for number, line in enumerate(files.get(FOLDED, "").splitlines(), 1):
        try:
            _read_line(log, line)
        except ValueError:
            raise ParseError(_("not a line of folded logs"), file=FOLDED, line=number, text=line) from None
    return log


def _read_line(log: Acknowledged, line: str) -> None:
    match line.split():
        case ["origin", at_s]:
            log.origin_s = _moment(at_s)
        case ["client", run, client, count]:
            log.clients[_count(run), _count(client)] = _count(count)
        case ["run", run, first_s, last_s]:
            log.spans[_count(run)] = (_moment(first_s), _moment(last_s))
        case ["second", second, count, sum_us]:
            log.seconds[_count(second)] = (_count(count), _count(sum_us))
        case ["damaged", lines]:
            log.damaged = _count(lines)
        case _:
            raise ValueError(line)


def _moment(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _count(text: str) -> int:
    if len(text) > 18:
        raise ValueError(f"{text[:20]}… is no count")
    return int(text)
