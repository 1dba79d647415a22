"""How many parallel workers each timed execution got, as the server told its client. Pure.

Trials of the first versions set client_min_messages = debug5 for that, which can stop all I/O of PostgreSQL 18. None
does any more; the bundles that they left are read as ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from results.domain.measurement import query_plans
from results.domain.measurement.parsed_trial import Measurement

from .plans import Plans
from .transcript import Execution
from .workers import UNKNOWN, Workers, by_query


def told_workers(plans: Plans, clients: Sequence[tuple[Sequence[Execution], Sequence[int]]]) -> Workers:
    """clients: each one's executions, and the workers of each of its statements as the server told them. A count that
    EXPLAIN does not bear out is not believed: another server may tell its transactions otherwise."""
    expected = {query: query_plans.workers(content) for query, content in plans.content.items()}
    if reason := _disbelief(expected, plans.counted, clients):
        return Workers(unknown=UNKNOWN + reason)
    pairs = [pair for executions, counts in clients for pair in zip(executions, counts, strict=False)]
    planned: Counter[str] = Counter()
    launched: Counter[str] = Counter()
    for execution, workers in pairs:
        planned[execution.query] += expected[execution.query][0]
        launched[execution.query] += workers
    got = Counter(workers for _, workers in pairs)
    measurements = [
        *by_query("ssb.workers.planned", planned),
        *by_query("ssb.workers.launched", launched),
        *(Measurement("ssb.workers.share", 100 * n / len(pairs), label=str(w)) for w, n in sorted(got.items())),
    ]
    by_execution = {execution.name + execution.query: workers for execution, workers in pairs}
    return Workers(tuple(measurements), launched=by_execution)


def _disbelief(
    expected: Mapping[str, tuple[int, int]],
    counted: Sequence[int],
    clients: Sequence[tuple[Sequence[Execution], Sequence[int]]],
) -> str:
    if not expected:
        return "nothing was explained, against which they could be checked."
    launched = [launched for _, launched in expected.values()]
    if list(counted) != launched:
        return f"EXPLAIN launched {launched}, the server told of {list(counted)}."
    if any(planned for planned, _ in expected.values()) and not any(launched):
        return "EXPLAIN got none, so that what the server tells of them could not be checked."
    for executions, counts in clients:
        if len(counts) not in (len(executions), len(executions) + 1):  # the last one may have broken off
            return f"the server told a client of {len(counts)} statements, and it ran {len(executions)}."
    return ""
