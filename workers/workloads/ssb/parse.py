"""The clients' transcripts → times, plans, workers. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Document, Gap, Measurement, Part
from results.domain.messages import SEMICOLON, linked
from results.domain.messages import gettext_lazy as _

from .message_counts import workers_by_messages
from .messages import Messages, read_messages
from .plans import Plans, jit, plan_documents, read_plans
from .sequence import sequence
from .transcript import Execution, Transcript, read_transcript
from .workers import Workers, workers_of


@dataclass(frozen=True)
class _Client:
    transcript: Transcript
    messages: Messages
    exit_status: str


def parse(reading: Reading) -> Part:
    """Read all files below workload/.

    Where a query failed, a client broke off or answers differ, `failure` names the query; complete executions are
    kept, and there are no totals. Raises ParseError for damaged files.
    """
    clients = {number: _client(reading, number) for number in range(1, int(reading.parameters["clients"]) + 1)}
    executions = [execution for client in clients.values() for execution in client.transcript.executions]
    differences = _differences(executions)
    failure = _failure(reading, clients) or linked(SEMICOLON, differences.values())
    if not failure:
        _require_all(reading, clients)
    plans = read_plans(reading)
    workers = _workers(reading, plans, clients)
    return Part(
        measurements=(
            *_queries([execution for execution in executions if execution.query not in differences]),
            *(() if failure else (*_totals(executions, reading), *workers.measurements)),
            *jit(plans),
            *_load(reading),
        ),
        documents=(*plan_documents(plans), _executions_document(executions, workers), *workers.documents),
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


def _failure(reading: Reading, clients: Mapping[int, _Client]) -> str:
    """Return why the run broke off, with the query and the server's message; '' where it completed."""
    if reading.files.get("timed_out", "").strip():
        return _("The queries were still running at the deadline and were ended.")
    failed_client = reading.files.get("clients/failed", "").strip()
    failed = (
        [int(failed_client)]
        if failed_client.isdigit()
        else [n for n, client in clients.items() if client.exit_status != "0"]
    )
    if not failed and reading.files.get("exit", "").strip() == "0":
        return ""
    client = clients.get(failed[0]) if failed else None
    if client is None:
        return _("The queries were interrupted, and no client reports why.")
    place = client.transcript.unfinished or _("client {number}, between two queries", number=failed[0])
    killed = _("psql was killed")
    status = client.exit_status
    ending = _("psql ended with exit status {exit_status}", exit_status=status) if status else killed
    return _("{place}: {reason}", place=place, reason=client.messages.complaint or ending)


def _differences(executions: Sequence[Execution]) -> dict[str, str]:
    """Return query → how its answers differ, for queries with different answers. Rows that ORDER BY leaves equal may
    come in any order."""
    first: dict[str, Execution] = {}
    differences: dict[str, str] = {}
    for execution in executions:
        reference = first.setdefault(execution.query, execution)
        if sorted(execution.answer) != sorted(reference.answer) and execution.query not in differences:
            differences[execution.query] = _(
                "{query} was answered differently: {one}, and {other} ({rows} and {other_rows} rows)",
                query=execution.query,
                one=reference.name,
                other=execution.name,
                rows=len(reference.answer),
                other_rows=len(execution.answer),
            )
    return differences


def _require_all(reading: Reading, clients: Mapping[int, _Client]) -> None:
    for number, client in clients.items():
        executed = [(execution.number, execution.query) for execution in client.transcript.executions]
        if executed != sequence(reading.parameters, number, int(reading.parameters["passes"])):
            what = _("client {number} did not run its queries", number=number)
            raise ParseError(what, file=f"clients/{number}.stdout", text=str(executed))


def _queries(executions: Sequence[Execution]) -> Iterator[Measurement]:
    by_query: dict[str, list[Execution]] = defaultdict(list)
    for execution in executions:
        by_query[execution.query].append(execution)
    for query, runs in sorted(by_query.items()):
        seconds = [execution.seconds for execution in runs]
        yield Measurement("ssb.query.seconds", median(seconds), label=query)
        yield Measurement("ssb.query.seconds.min", min(seconds), label=query)
        yield Measurement("ssb.query.seconds.max", max(seconds), label=query)
        yield Measurement("ssb.query.rows", len(runs[0].answer), label=query)


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
        return workers_by_messages(
            plans, [(client.transcript.executions, client.messages.workers) for client in clients.values()]
        )
    if not reading.parameters["count_workers"]:
        return Workers()
    return workers_of(reading, plans, [e for client in clients.values() for e in client.transcript.executions])


def _executions_document(executions: Sequence[Execution], workers: Workers) -> Document:
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
        steps = [
            (str(s["step"]), float(s["seconds"]), s.get("rows")) for s in json_text.loads(reading.files["load.json"])
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParseError(_("not the steps of a load: {error}", error=repr(error)), file="load.json") from None
    yield Measurement("ssb.load.seconds", sum(seconds for _, seconds, _ in steps))
    for step, seconds, rows in steps:
        yield Measurement("ssb.load.seconds", seconds, label=step)
        if rows is not None and seconds > 0:
            yield Measurement("ssb.load.rows_per_second", rows / seconds, label=step)
