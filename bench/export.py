"""Rows a second of a stream of a million measurements over HTTP, against psycopg and orjson alone over the same query;
and how much memory the server takes for it."""

from __future__ import annotations

import http.client
import time
from pathlib import Path

import orjson
import psycopg
from django.db import connection
from django.utils import timezone
from rich.console import Console

from bench.comparison import PORT, own_database, served
from bench.figures import Figure
from results import models, sql
from results.synthesis.writing import Size, synthesize
from webapp.api.measurements import BATCH, COLUMNS, EXPRESSIONS
from webapp.api.tables import Kind
from workers.registry import kinds

TRIALS = 83_000  # of twelve measurements each
LIMITS = {"rate": 0.5, "MB": 150}
ROUNDS = 5  # at most: each takes seconds
FORMS = ("ndjson", "csv", "parquet")
_WITH_BUNDLES = "UPDATE results_attempt SET bundle_sha256 = encode(sha256(id::text::bytea), 'hex')"


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    with own_database():
        synthesize(Size(TRIALS, detailed=0), kinds(), timezone.now())
        sql.execute(_WITH_BUNDLES)
        sql.execute("VACUUM ANALYZE")
        rows = models.Measurement.objects.count()
        console.print(f"  {rows:,} measurements")
        return _alternated(min(rounds, ROUNDS), rows, console)


def _alternated(rounds: int, rows: int, console: Console) -> list[Figure]:
    ratios = []
    with served() as ask:
        _streamed(ask, "json&page_size=1000")
        begun_mb = max(map(_peak_mb, _workers()))
        for _ in range(rounds):
            alone_s, length = _alone()
            ours_s, sent = _streamed(ask, "ndjson")
            assert sent == length, "the stream has other rows than the query"
            rates = f"alone {rows / alone_s:,.0f} rows/s, over HTTP {rows / ours_s:,.0f} rows/s"
            console.print(f"  {rates}, {sent:,} bytes")
            ratios.append(alone_s / ours_s)
        figures = [Figure("rate of NDJSON to psycopg + orjson alone", "", LIMITS["rate"], tuple(ratios), at_least=True)]
        for form in FORMS:
            took_s, sent = _streamed(ask, form)
            peak_mb = max(map(_peak_mb, _workers()))
            console.print(f"  {form}: {took_s:.1f} s, {sent:,} bytes; at most {peak_mb:.0f} MB until then")
            if form == "ndjson":
                figures.append(Figure("memory that NDJSON takes", "MB", LIMITS["MB"], (peak_mb - begun_mb,)))
        console.print(f"  the server after its first page of 1,000: {begun_mb:.0f} MB")
    return figures


def _alone() -> tuple[float, int]:
    """Return seconds and bytes of the same rows by a cursor of psycopg's, each dumped by orjson and left."""
    query, parameters = (
        models.Measurement.objects.filter(attempt__in=models.Trial.objects.values("attempt"))
        .order_by("id")
        .values_list(*EXPRESSIONS.values())
        .query.sql_with_params()
    )
    names = [column.name for column in COLUMNS]
    levels = next(index for index, column in enumerate(COLUMNS) if column.kind is Kind.JSON)
    options = orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE
    length = 0
    begun = time.perf_counter()
    with psycopg.connect(**_address()) as alone, alone.cursor("export") as cursor:
        cursor.itersize = BATCH
        cursor.execute(query, parameters)
        for row in cursor:
            values = dict(zip(names, row, strict=True))
            values["levels"] = orjson.Fragment(row[levels])
            length += len(orjson.dumps(values, option=options))
    return time.perf_counter() - begun, length


def _address() -> dict[str, str]:
    given = connection.settings_dict
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    return {name: str(given[key]) for name, key in names.items() if given[key]}


def _streamed(ask: http.client.HTTPConnection, form: str) -> tuple[float, int]:
    ask.close()  # gunicorn has, while the rows were read alone
    begun, length = time.perf_counter(), 0
    ask.request("GET", f"/api/v1/measurements/?format={form}")
    answer = ask.getresponse()
    assert answer.status == 200, answer.read()
    while piece := answer.read(1 << 20):
        length += len(piece)
    return time.perf_counter() - begun, length


def _workers() -> list[int]:
    """Return the processes of gunicorn that answer."""
    found = []
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"127.0.0.1:{PORT}".encode() in status.read_bytes():
                found.append(int(status.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
    return found


def _peak_mb(pid: int) -> float:
    """Return the most memory that a process has had resident, in MB."""
    text = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmHWM")) / 1024
