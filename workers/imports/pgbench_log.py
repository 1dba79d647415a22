"""pgbench's log of every transaction (-l) → exact latencies, as the latency log's collector reads them. Pure."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import sub

from results.domain.errors import ImportedFileError
from results.domain.imports.values import TextFile
from results.domain.kinds.specs import Reading
from results.domain.measurement.histogram import bucket_of
from results.domain.measurement.parsed_trial import Part
from results.domain.messages import gettext_lazy as _
from workers.collectors.latency_log.parse import parse
from workers.collectors.latency_log.spec import METRICS

# client, transaction, latency in µs or a word, script, epoch seconds, microseconds [schedule lag] [retries]
_ROW = re.compile(
    r"[0-9]+ [0-9]+ ([0-9]{1,12}|skipped|failed|serialization|deadlock) ([0-9]{1,4})"
    r" ([0-9]{9,11}) ([0-9]{1,6})(?: [0-9]+){0,2}(?:\n|\Z)"
)


@dataclass(frozen=True)
class _Transactions:
    """Those that have a latency, each in the same place of all three; as arrays, since there may be millions.

    ends_us: moments of their ends, since 1970."""

    ends_us: array[int] = field(default_factory=lambda: array("q"))
    latencies_us: array[int] = field(default_factory=lambda: array("q"))
    scripts: array[int] = field(default_factory=lambda: array("H"))


def is_log(text: str) -> bool:
    return _ROW.match(text) is not None


def read_logs(logs: Sequence[TextFile], node: str, transactions: float | None) -> Part:
    """Return the latencies and percentiles of the logs of one run, one a thread. Raises ImportedFileError for a
    damaged line, and for logs that do not have as many transactions as the report.

    transactions: as the report counts them."""
    timed = _Transactions()
    for log in logs:
        _read_log(log, timed)
    if transactions is not None and len(timed.ends_us) != transactions:
        raise ImportedFileError(
            _(
                "The log has {count:,} transactions, the report {transactions:,.0f}.",
                count=len(timed.ends_us),
                transactions=transactions,
            ),
            where=", ".join(log.name for log in logs),
            why=_("It is the log of another run, not all threads' logs are here, or pgbench logged a sample."),
            todo=_("Add the logs of all threads, or import the report without a log."),
        )
    folded = _folded(timed)
    reading = Reading(node=node, files={"folded.txt": folded}, parameters={}, window=(0.0, 0.0))
    part = parse(reading)
    return Part(part.measurements, latencies=part.latencies, metrics=METRICS)


def _read_log(log: TextFile, timed: _Transactions) -> None:
    """Add a log's transactions. Raises ImportedFileError for a damaged line."""
    position, text = 0, log.text
    while position < len(text):
        match = _ROW.match(text, position)
        if match is None:
            raise ImportedFileError(
                _("This is no line of pgbench's log."),
                where=f"{log.name}:{text.count(chr(10), 0, position) + 1}",
                why=repr(text[position : position + 200].partition("\n")[0]),
                todo=_("Import the log as pgbench wrote it; one cut short lacks transactions."),
            )
        latency, script, seconds, microseconds = match.groups()
        if latency.isdigit():
            timed.ends_us.append(int(seconds) * 1_000_000 + int(microseconds))
            timed.latencies_us.append(int(latency))
            timed.scripts.append(int(script))
        position = match.end()


def _folded(timed: _Transactions) -> str:
    """Return the counts as `fold.awk` of the latency log prints them, from the first transaction's begin."""
    origin = min(map(sub, timed.ends_us, timed.latencies_us), default=0)
    bucket = cache(bucket_of)
    heat = Counter(
        (script, (end - origin) // 1_000_000, bucket(latency))
        for script, end, latency in zip(timed.scripts, timed.ends_us, timed.latencies_us, strict=True)
    )
    latencies = Counter(zip(timed.scripts, timed.latencies_us, strict=True))
    lines = [f"heat {script} {second} {bucket} {count}" for (script, second, bucket), count in heat.items()]
    lines += [f"latency {script} {latency} {count}" for (script, latency), count in latencies.items()]
    return "\n".join(lines)
