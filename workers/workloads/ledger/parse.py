"""A ledger's own files → what was acknowledged, what is there, how long there was no service. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.messages import gettext_lazy as _
from workers.pgbench import service
from workers.pgbench.restarts import Acknowledged, Run, read_acknowledged, read_runs
from workers.replication.failover_report import read_failover

_PRESENT = "present.json"
_Ranges = Mapping[tuple[int, int], Sequence[tuple[int, int]]]  # (run, client) → first and last number, no hole between


@dataclass(frozen=True)
class Balance:
    """The difference between acknowledged transactions and rows.

    lost: acknowledged, without a row.
    unacknowledged: a row, not acknowledged.
    unsent: rows that no client can have sent: it sends a transaction only after the end of the one before.
    """

    lost: int
    unacknowledged: int
    unsent: int


def parse(reading: Reading) -> Part:
    """Raises ParseError for damaged files."""
    log, runs = read_acknowledged(reading.files), read_runs(reading.files)
    length_s = reading.window[1] - reading.window[0]
    start_s = reading.window[0]
    failover = read_failover(reading.files)
    part = Part()
    by_server: tuple[Measurement, ...] = ()
    if failover is not None:
        loss = service.PrimaryLoss(failover.struck_s - start_s, failover.promoted_s - start_s)
        part = service.failover_part(log, runs, length_s, start_s + reading.clock_offset_s, loss)
        if counts := service.transactions_by_server(log, start_s + reading.clock_offset_s, loss):
            nodes = ("primary", failover.promoted)
            by_server = tuple(Measurement("transactions", n, at) for n, at in zip(counts, nodes, strict=True))
    ranges = _present(reading)
    difference = balance(log, ranges) if ranges is not None else None
    service_failures = [] if failover is None else [part.failure]
    failures = [*service_failures, *_failures(reading, log, runs, difference, failed_over=failover is not None)]
    return Part(
        measurements=(*_measurements(log, length_s, difference), *by_server, *part.measurements),
        series=service.series(log, length_s),
        events=(*(failover.events(start_s) if failover else ()), *part.events),
        gaps=(*(failover.gaps(start_s) if failover else ()), *part.gaps, *_damaged(log, reading.node)),
        failure=next(filter(None, failures), ""),
    )


def balance(log: Acknowledged, ranges: _Ranges) -> Balance:
    """A client's n-th acknowledged transaction wrote its number n: numbers 1 … n must be there, and n + 1 may be."""
    lost = unacknowledged = unsent = 0
    for key in {*log.clients, *ranges}:
        acknowledged = log.clients.get(key, 0)
        stored = ranges.get(key, ())
        lost += acknowledged - sum(max(0, min(last, acknowledged) - first + 1) for first, last in stored)
        beyond = sum(max(0, last - max(first, acknowledged + 1) + 1) for first, last in stored)
        in_flight = any(first <= acknowledged + 1 <= last for first, last in stored)
        unacknowledged += in_flight
        unsent += beyond - in_flight
    return Balance(lost, unacknowledged, unsent)


def _measurements(log: Acknowledged, length_s: float, counted: Balance | None) -> Iterator[Measurement]:
    yield Measurement("transactions", log.total)
    yield Measurement("ledger.tps", log.total / length_s)
    if log.total:
        yield Measurement("latency.mean", sum(sum_us for _, sum_us in log.seconds.values()) / log.total)
    if counted is not None:
        yield Measurement("ledger.lost", counted.lost)
        yield Measurement("ledger.unacknowledged", counted.unacknowledged)


def _failures(
    reading: Reading, log: Acknowledged, runs: Sequence[Run], counted: Balance | None, *, failed_over: bool
) -> Iterator[str]:
    """Why the numbers are not those of the trial that was asked for, the plainest reason first; '' is none."""
    if reading.files.get("timed_out", "").strip():
        yield _("pgbench was still running at its deadline and was ended.")
    if not failed_over and (trouble := next((run.error_message for run in runs if run.error_message), "")):
        yield trouble
    if not log.total:
        yield _("No transaction was finished.")
    if (reported := sum(run.transactions for run in runs)) != log.total:
        yield _(
            "pgbench counted {reported:,} transactions, its logs hold {logged:,}.", reported=reported, logged=log.total
        )
    yield _unbalanced(counted, failed_over=failed_over)


def _unbalanced(counted: Balance | None, *, failed_over: bool) -> str:
    if counted is None:
        return _("The rows were not looked at after the run.")
    if counted.unsent:
        return _("{rows:,} rows are there that no client can have sent.", rows=counted.unsent)
    if counted.lost and not failed_over:
        return _(
            "{lost:,} acknowledged transactions have no row, though no server was lost.",
            lost=counted.lost,
        )
    return ""


def _damaged(log: Acknowledged, node: str) -> tuple[Gap, ...]:
    if not log.damaged:
        return ()
    return (Gap("ledger", node, _("{lines} lines of the logs were not transactions", lines=log.damaged)),)


def _present(reading: Reading) -> _Ranges | None:
    text = reading.files.get(_PRESENT)
    if text is None:
        return None
    try:
        present: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for row in json_text.loads(text)["ranges"]:
            present[int(row["start"]), int(row["client"])].append((int(row["first"]), int(row["last"])))
        return present
    except (ValueError, KeyError, TypeError) as error:
        raise ParseError(_("not the rows of a ledger"), file=_PRESENT, text=f"{error!r} in {text[:150]}") from None
