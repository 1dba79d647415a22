"""pgbench's log of every transaction (-l) → exact latencies, as the latency log's collector reads them. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from results.domain.errors import ImportedFileError
from results.domain.imports.values import TextFile
from results.domain.kinds.specs import Reading
from results.domain.measurement.histogram import bucket_of
from results.domain.measurement.parsed_trial import Part
from workers.collectors.latency_log.parse import parse
from workers.collectors.latency_log.spec import METRICS

# client, transaction, latency in µs or a word, script, epoch seconds, microseconds [schedule lag] [retries]
_ROW = re.compile(r"(\d+) (\d+) (\d+|skipped|failed|serialization|deadlock) (\d+) (\d{9,}) (\d{1,6})(?: \d+){0,2}")


def is_log(text: str) -> bool:
    return _ROW.fullmatch(text.partition("\n")[0]) is not None


def read_logs(logs: Sequence[TextFile], node: str, transactions: float | None) -> Part:
    """Return the latencies and percentiles of the logs of one run, one a thread. Raises ImportedFileError for a
    damaged line, and for logs that do not have as many transactions as the report.

    transactions: as the report counts them."""
    rows = [row for log in logs for row in _rows(log)]
    timed = [(at_us, latency, script) for at_us, latency, script in rows if latency is not None]
    if transactions is not None and len(timed) != transactions:
        raise ImportedFileError(
            f"The log has {len(timed):,} transactions, the report {transactions:,.0f}.",
            where=", ".join(log.name for log in logs),
            why="It is the log of another run, not all threads' logs are here, or pgbench logged a sample.",
            todo="Add the logs of all threads, or import the report without a log.",
        )
    folded = _folded(timed)
    reading = Reading(node=node, files={"folded.txt": folded}, parameters={}, window=(0.0, 0.0))
    part = parse(reading)
    return Part(part.measurements, latencies=part.latencies, metrics=METRICS)


def _rows(log: TextFile) -> Iterator[tuple[int, int | None, int]]:
    """Give (moment of the end in µs, latency in µs or None, script) of each transaction."""
    for number, line in enumerate(log.text.splitlines(), 1):
        match = _ROW.fullmatch(line)
        if match is None:
            raise ImportedFileError(
                "This is no line of pgbench's log.",
                where=f"{log.name}:{number}",
                why=repr(line[:200]),
                todo="Import the log as pgbench wrote it; one cut short lacks transactions.",
            )
        latency = int(match[3]) if match[3].isdigit() else None
        yield int(match[5]) * 1_000_000 + int(match[6]), latency, int(match[4])


def _folded(rows: Sequence[tuple[int, int, int]]) -> str:
    """Return the counts as `fold.awk` of the latency log prints them, from the first transaction's begin."""
    origin = min((at_us - latency for at_us, latency, _ in rows), default=0)
    heat = Counter((script, (at_us - origin) // 1_000_000, bucket_of(latency)) for at_us, latency, script in rows)
    latencies = Counter((script, latency) for _, latency, script in rows)
    lines = [f"heat {script} {second} {bucket} {count}" for (script, second, bucket), count in heat.items()]
    lines += [f"latency {script} {latency} {count}" for (script, latency), count in latencies.items()]
    return "\n".join(lines)
