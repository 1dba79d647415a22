"""The clients' transcripts → times, plans, workers. Pure."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Document, Gap, Measurement, Part

from .messages import Messages, read_messages
from .plans import Plans, jit, plan_documents, read_plans
from .sequence import sequence
from .told import told_workers
from .transcript import Execution, Transcript, read_transcript
from .workers import Workers, workers_of


@dataclass(frozen=True)
class _Client:
    transcript: Transcript
    messages: Messages
    exit_status: str


def parse(reading: Reading) -> Part:
    """Everything below workload/. A query that failed, a client that broke off, answers that differ: the executions
    that came to their end are kept and shown, and `failure` says which query it was; nothing is summed up. Raises
    ParseError for damaged files."""
    clients = {number: _client(reading, number) for number in range(1, int(reading.parameters["clients"]) + 1)}
    executions = [execution for client in clients.values() for execution in client.transcript.executions]
    differing = _differing(executions)
    failure = _broken(reading, clients) or "; ".join(differing.values())
    if not failure:
        _require_all(reading, clients)
    plans = read_plans(reading)
    workers = _workers(reading, plans, clients)
    return Part(
        measurements=(
            *_queries([execution for execution in executions if execution.query not in differing]),
            *(() if failure else (*_totals(executions, reading), *workers.measurements)),
            *jit(plans),
            *_load(reading),
        ),
        documents=(*plan_documents(plans), _every(executions, workers), *workers.documents),
        gaps=(Gap("ssb", "primary", workers.unknown),) if workers.unknown else (),
        failure=failure,
    )


def _client(reading: Reading, number: int) -> _Client:
    file = f"clients/{number}"
    return _Client(
        read_transcript(reading.files.get(f"{file}.stdout", ""), number, f"{file}.stdout"),
        read_messages(reading.files.get(f"{file}.stderr", "")),
        reading.files.get(f"{file}.exit", "").strip(),
    )


def _broken(reading: Reading, clients: Mapping[int, _Client]) -> str:
    """Why the run broke off, with the query and the server's words; '' when it came to its end."""
    if reading.files.get("timed_out", "").strip():
        return "The queries were still running at the deadline and were ended."
    named = reading.files.get("clients/failed", "").strip()
    failed = [int(named)] if named.isdigit() else [n for n, client in clients.items() if client.exit_status != "0"]
    if not failed and reading.files.get("exit", "").strip() == "0":
        return ""
    client = clients.get(failed[0]) if failed else None
    if client is None:
        return "The queries were broken off, and no client says why."
    at = client.transcript.unfinished or f"client {failed[0]}, between two queries"
    ending = f"psql ended with exit status {client.exit_status}" if client.exit_status else "psql was killed"
    return f"{at}: {client.messages.complaint or ending}"


def _differing(executions: Sequence[Execution]) -> dict[str, str]:
    """Query → how its answers differ, for the queries that were not answered alike by all. Rows that ORDER BY leaves
    equal may come in any order."""
    first: dict[str, Execution] = {}
    differing: dict[str, str] = {}
    for execution in executions:
        reference = first.setdefault(execution.query, execution)
        if sorted(execution.answer) != sorted(reference.answer) and execution.query not in differing:
            rows = f"{len(reference.answer)} and {len(execution.answer)} rows"
            differing[execution.query] = (
                f"{execution.query} was answered differently: {reference.name}, and {execution.name} ({rows})"
            )
    return differing


def _require_all(reading: Reading, clients: Mapping[int, _Client]) -> None:
    for number, client in clients.items():
        ran = [(execution.number, execution.query) for execution in client.transcript.executions]
        if ran != sequence(reading.parameters, number, int(reading.parameters["passes"])):
            raise ParseError(f"client {number} did not run its queries", file=f"clients/{number}.stdout", text=str(ran))


def _queries(executions: Sequence[Execution]) -> Iterator[Measurement]:
    by_query: dict[str, list[Execution]] = defaultdict(list)
    for execution in executions:
        by_query[execution.query].append(execution)
    for query, passes in sorted(by_query.items()):
        seconds = [execution.seconds for execution in passes]
        yield Measurement("ssb.query.seconds", median(seconds), label=query)
        yield Measurement("ssb.query.seconds.min", min(seconds), label=query)
        yield Measurement("ssb.query.seconds.max", max(seconds), label=query)
        yield Measurement("ssb.query.rows", len(passes[0].answer), label=query)


def _totals(executions: Sequence[Execution], reading: Reading) -> Iterator[Measurement]:
    passes: dict[tuple[int, int], float] = defaultdict(float)
    by_query: dict[str, list[float]] = defaultdict(list)
    for execution in executions:
        passes[execution.client, execution.number] += execution.seconds
        by_query[execution.query].append(execution.seconds)
    medians = [median(seconds) for seconds in by_query.values()]
    hours = (reading.window[1] - reading.window[0]) / 3600
    yield Measurement("ssb.pass.seconds", median(passes.values()))
    yield Measurement("ssb.executions", len(executions))
    if min(medians) > 0:  # psql tells microseconds
        yield Measurement("ssb.geometric_mean.seconds", math.exp(fmean(math.log(value) for value in medians)))
    if hours > 0:
        yield Measurement("ssb.queries_per_hour", len(executions) / hours)


def _workers(reading: Reading, plans: Plans, clients: Mapping[int, _Client]) -> Workers:
    if plans.counted or any(client.messages.workers for client in clients.values()):
        return told_workers(plans, [(one.transcript.executions, one.messages.workers) for one in clients.values()])
    if not reading.parameters["count_workers"]:
        return Workers()
    return workers_of(reading, plans, [e for client in clients.values() for e in client.transcript.executions])


def _every(executions: Sequence[Execution], workers: Workers) -> Document:
    """Each execution as one object."""
    rows = []
    for execution in executions:
        row = {
            "client": execution.client,
            "pass": execution.number,
            "query": execution.query,
            "seconds": execution.seconds,
            "rows": len(execution.answer),
        }
        launched = workers.launched.get(execution.name + execution.query)
        rows.append(row if launched is None else row | {"workers_launched": launched})
    return Document("executions", "all", rows)


def _load(reading: Reading) -> Iterator[Measurement]:
    """Where this trial loaded the data itself."""
    if "load.json" not in reading.files:
        return
    try:
        steps = [(str(s["step"]), float(s["seconds"]), s.get("rows")) for s in json.loads(reading.files["load.json"])]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParseError(f"not the steps of a load: {error!r}", file="load.json") from None
    yield Measurement("ssb.load.seconds", sum(seconds for _, seconds, _ in steps))
    for step, seconds, rows in steps:
        yield Measurement("ssb.load.seconds", seconds, label=step)
        if rows is not None and seconds > 0:
            yield Measurement("ssb.load.rows_per_second", rows / seconds, label=step)
