"""How many parallel workers executions got: in the pass under EXPLAIN by all clients at once, before the clock starts,
and in the timed executions by the server's own counters. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement import query_plans
from results.domain.measurement.parsed_trial import Document, Measurement
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _

from .plans import Plans, explained
from .sequence import counted_apart
from .transcript import Execution

_COUNTERS = "parallel_workers.json"


@dataclass(frozen=True)
class Explained:
    """One execution under EXPLAIN, and its parallel workers."""

    client: int
    query: str
    planned: int
    launched: int


@dataclass(frozen=True)
class Workers:
    """Parallel workers of one query.

    launched: timed execution (its name and query) → workers, where each one's are known (see `message_counts`).
    unknown: why those of the timed executions are not known, where they should be."""

    measurements: tuple[Measurement, ...] = ()
    documents: tuple[Document, ...] = ()
    launched: Mapping[str, int] = field(default_factory=dict)
    unknown: str = ""


def workers_of(reading: Reading, plans: Plans, executions: Sequence[Execution]) -> Workers:
    """Return the workers of each query. Raises ParseError.

    executions: the timed ones."""
    if not plans.content:
        return Workers(unknown=unknown_workers(_("no query was explained to check them against.")))
    explained_pass = _explained_pass(reading, plans)
    planned = {execution.query: execution.planned for execution in explained_pass}
    if not planned.keys() >= {execution.query for execution in executions}:
        return Workers(unknown=unknown_workers(_("not every query was explained.")))
    expected = Counter[str]()
    for execution in executions:
        expected[execution.query] += planned[execution.query]
    launched, unknown = _launched(reading, sum(expected.values()))
    measurements = [
        *by_query("ssb.workers.planned", expected),
        *([] if launched is None else [Measurement("ssb.workers.launched", launched)]),
        *_pass_measurements(explained_pass),
    ]
    rows = [
        {"client": e.client, "query": e.query, "planned": e.planned, "launched": e.launched} for e in explained_pass
    ]
    reason = unknown_workers(unknown) if unknown else ""
    return Workers(tuple(measurements), (Document("explained", "all", rows),), unknown=reason)


def unknown_workers(reason: str) -> Message:
    """Return the sentence that the workers of the timed executions are not known, and why."""
    return _("The workers of the timed executions are not known: {reason}", reason=reason)


def _explained_pass(reading: Reading, plans: Plans) -> list[Explained]:
    """All clients at once; one client alone got its workers with its plans."""
    if not counted_apart(reading.parameters):
        return [Explained(1, query, *query_plans.workers(content)) for query, content in plans.content.items()]
    executions = []
    for client in range(1, int(reading.parameters["clients"]) + 1):
        for query, content in explained(reading, f"workers/clients/{client}.stdout", client):
            executions.append(Explained(client, query, *query_plans.workers(content)))
    return executions


def _pass_measurements(executions: Sequence[Explained]) -> Iterator[Measurement]:
    planned, launched = Counter[str](), Counter[str]()
    for execution in executions:
        planned[execution.query] += execution.planned
        launched[execution.query] += execution.launched
    yield from by_query("ssb.explained.planned", planned)
    yield from by_query("ssb.explained.launched", launched)
    for workers, times in sorted(Counter(execution.launched for execution in executions).items()):
        yield Measurement("ssb.explained.share", 100 * times / len(executions), label=str(workers))


def _launched(reading: Reading, expected: int) -> tuple[int | None, str]:
    """(Workers of all timed executions, why they are not known). The counters are the database's: they are these
    executions' where as many were to be launched as EXPLAIN planned for them."""
    if _COUNTERS not in reading.files:
        return None, ""
    try:
        counters = json_text.loads(reading.files[_COUNTERS])
        before, after = counters["before"], counters["after"]
        planned, launched = (int(after[key]) - int(before[key]) for key in ("planned", "launched"))
        same_statistics = before["since"] == after["since"]
    except (ValueError, KeyError, TypeError) as error:
        raise ParseError(_("not the counters of workers: {error}", error=repr(error)), file=_COUNTERS) from None
    if not same_statistics or min(planned, launched) < 0:
        return None, _("its statistics were reset in the measured window.")
    if planned != expected:
        return None, _(
            "the database counted {counted} workers that were to be launched, and EXPLAIN planned {planned} for the "
            "timed executions: plans have changed since, or another session ran parallel queries.",
            counted=planned,
            planned=expected,
        )
    return launched, ""


def by_query(metric: str, counts: Counter[str]) -> list[Measurement]:
    """Return a measurement of all queries together, and one of each."""
    labelled = [Measurement(metric, count, label=query) for query, count in sorted(counts.items())]
    return [Measurement(metric, sum(counts.values())), *labelled]
