"""The parallel workers of each timed execution, counted in the server's messages to its client. Pure.

Teiten's first versions set client_min_messages = debug5 for this, which can stop all I/O of PostgreSQL 18. No trial
does any more; their bundles are still read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from results.domain.measurement import query_plans
from results.domain.measurement.parsed_trial import Measurement
from results.domain.messages import gettext_lazy as _

from .plans import Plans
from .transcript import Execution
from .workers import Workers, by_query, unknown_workers


def workers_by_messages(plans: Plans, clients: Sequence[tuple[Sequence[Execution], Sequence[int]]]) -> Workers:
    """Count the workers of each execution; unknown where EXPLAIN contradicts the count: servers' messages may differ.

    clients: each one's executions, and the workers of each of its statements by the server's messages.
    """
    expected = {query: query_plans.workers(content) for query, content in plans.content.items()}
    if reason := _why_not_trusted(expected, plans.counted, clients):
        return Workers(unknown=unknown_workers(reason))
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


def _why_not_trusted(
    expected: Mapping[str, tuple[int, int]],
    counted: Sequence[int],
    clients: Sequence[tuple[Sequence[Execution], Sequence[int]]],
) -> str:
    if not expected:
        return _("no query was explained to check them against.")
    if unexplained := {one.query for executions, _ in clients for one in executions} - expected.keys():
        return _("{query} was not explained.", query=min(unexplained))
    launched = [launched for _, launched in expected.values()]
    if list(counted) != launched:
        return _(
            "EXPLAIN launched {launched}, the server reported {reported}.",
            launched=str(launched),
            reported=str(list(counted)),
        )
    if any(planned for planned, _ in expected.values()) and not any(launched):
        return _("EXPLAIN got none, so the server's messages could not be checked.")
    for executions, counts in clients:
        if len(counts) not in (len(executions), len(executions) + 1):  # the last one may have broken off
            return _(
                "the server reported {reported} statements to a client that ran {run}.",
                reported=len(counts),
                run=len(executions),
            )
    return ""
