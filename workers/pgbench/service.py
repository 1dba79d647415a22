"""Measure the service that clients had around a failover: throughput by second, length of the outage. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Event, Gap, Measurement, Part
from results.domain.measurement.series import Series
from results.domain.messages import gettext_lazy as _

from .restarts import Acknowledged, Run

STEADY_OVER_S = 3  # seconds whose mean is looked at
STEADY_SHARE = 0.9  # of the median before
_SOURCE, _NODE = "failover", "client"

METRICS = (
    Metric(
        "failover.outage",
        "s",
        Better.LOWER,
        _("Time without service"),
        _("From the last transaction that a client saw committed before the failover to the first after it."),
        0.05,
    ),
    Metric(
        "failover.promotion",
        "s",
        Better.LOWER,
        _("Time to promotion"),
        _("From the moment at which the primary was struck to the end of recovery on the promoted server."),
        0.05,
    ),
    Metric(
        "failover.steady",
        "s",
        Better.LOWER,
        _("Time to steady throughput"),
        _(
            "From the moment at which the primary was struck to the first whole second from which on the mean of every "
            "{seconds} seconds is at least {share:.0%} of the median of the whole seconds before.",
            seconds=STEADY_OVER_S,
            share=STEADY_SHARE,
        ),
        0.1,
    ),
    Metric(
        "failover.failed",
        "1",
        Better.LOWER,
        _("Transactions that failed"),
        _("Clients of pgbench that lost their connection, each with one transaction that it knows no end of."),
        0.1,
    ),
    Metric(
        "failover.refused",
        "1",
        Better.LOWER,
        _("Starts of pgbench in vain"),
        _("That found no server which takes writes, one after the other until there was one."),
        0.1,
    ),
    Metric(
        "failover.tps",
        "tps",
        Better.HIGHER,
        _("Transactions per second around the failover"),
        _("Median of the whole seconds. Label: before the primary was struck, after service was there again."),
        label_noun=_("moment"),
    ),
)


@dataclass(frozen=True)
class PrimaryLoss:
    """The loss of the primary, in seconds since the start of the measured window.

    struck_s: when the primary was struck
    promoted_s: when another server took its place
    """

    struck_s: float
    promoted_s: float


def series(log: Acknowledged, length_s: float) -> tuple[Series, ...]:
    """Return transactions a second and their mean latency, for whole seconds, each value at its second's end."""
    tps = rates(log, length_s)
    if not tps:
        return ()
    seconds = [log.seconds.get(second, (0, 0)) for second in range(len(tps))]
    mean_us = tuple(total / count if count else math.nan for count, total in seconds)
    return (Series("tps", _NODE, "tps", 1.0, 1.0, tps), Series("latency.mean", _NODE, "us", 1.0, 1.0, mean_us))


def rates(log: Acknowledged, length_s: float) -> tuple[float, ...]:
    """Return the transactions in each whole second of the window."""
    return tuple(float(log.seconds.get(second, (0, 0))[0]) for second in range(int(length_s)))


def outage(log: Acknowledged, offset_s: float, loss: PrimaryLoss) -> tuple[float, float] | None:
    """Return the last acknowledged transaction before the outage and the first after it, in seconds of the window.

    None where there is none before, or none after.

    offset_s: the window's start by the client's clock
    """
    spans = [(first_s - offset_s, last_s - offset_s) for _run, (first_s, last_s) in sorted(log.spans.items())]
    before = [last_s for first_s, last_s in spans if first_s < loss.struck_s]
    after = [first_s for first_s, _last_s in spans if first_s >= loss.struck_s]
    return (max(before), min(after)) if before and after else None


def transactions_by_server(log: Acknowledged, offset_s: float, loss: PrimaryLoss) -> tuple[int, int] | None:
    """Return the transactions acknowledged by the lost primary, and by the server that took its place.

    None where a run went on from one to the other, as behind a pooler; else a connection ends with its server.

    offset_s: the window's start by the client's clock
    """
    before = after = 0
    for run, (first_s, last_s) in log.spans.items():
        if first_s - offset_s >= loss.struck_s:
            after += log.of_run(run)
        elif last_s - offset_s <= loss.promoted_s:
            before += log.of_run(run)
        else:
            return None
    return before, after


def steady_s(tps: Sequence[float], median_before: float, since_s: float) -> int | None:
    """Return the first whole second from since_s on, after which throughput is steady.

    It is steady where the mean of every STEADY_OVER_S seconds is at least STEADY_SHARE of the median before the
    failover. None where it never is, or where too little is left of the window.
    """
    steady_second = None
    for second in range(len(tps) - STEADY_OVER_S, math.ceil(since_s) - 1, -1):
        if statistics.fmean(tps[second : second + STEADY_OVER_S]) < STEADY_SHARE * median_before:
            break
        steady_second = second
    return steady_second


def failover_part(log: Acknowledged, runs: Sequence[Run], length_s: float, offset_s: float, loss: PrimaryLoss) -> Part:
    """Return measurements, events and gaps of the failover, and a failure where service did not come back.

    length_s: of the window
    offset_s: the window's start by the client's clock
    """
    outage_span = outage(log, offset_s, loss)
    if outage_span is None:
        return Part(failure=_no_service_message(log, runs, offset_s, loss))
    last_s, again_s = outage_span
    tps = rates(log, length_s)
    before, after = tps[: int(loss.struck_s)], tps[math.ceil(again_s) :]
    median_before = statistics.median(before) if before else 0.0
    steady = steady_s(tps, median_before, again_s) if median_before else None
    measurements = [
        Measurement("failover.outage", again_s - last_s),
        Measurement("failover.promotion", loss.promoted_s - loss.struck_s),
        Measurement("failover.failed", sum(run.aborted for run in runs)),
        Measurement("failover.refused", sum(not log.of_run(run.number) for run in runs)),
    ]
    if before:
        measurements.append(Measurement("failover.tps", median_before, label="before"))
    if after:
        measurements.append(Measurement("failover.tps", statistics.median(after), label="after"))
    if steady is not None:
        measurements.append(Measurement("failover.steady", steady - loss.struck_s))
    again = _("service again, complete after {seconds:.3f} s without", seconds=again_s - last_s)
    return Part(
        measurements=tuple(measurements),
        events=(
            Event(
                round(last_s, 3), _NODE, "service", _("the last acknowledged transaction; no service, starting here")
            ),
            Event(round(again_s, 3), _NODE, "service", again),
        ),
        gaps=tuple(Gap(_SOURCE, _NODE, reason) for reason in _gaps(log, steady, len(after))),
        failure=_second_loss(runs),
    )


def _no_service_message(log: Acknowledged, runs: Sequence[Run], offset_s: float, loss: PrimaryLoss) -> str:
    """Return the failure of a failover without acknowledged transactions before or after it."""
    began_before = any(first_s - offset_s < loss.struck_s for first_s, _last_s in log.spans.values())
    error_message = next((run.error_message for run in reversed(runs) if run.error_message), "")
    what = (
        _("No transaction was acknowledged after the primary was lost.")
        if began_before
        else _("No transaction was acknowledged before the primary was lost.")
    )
    return _("{sentence} {message}", sentence=what, message=error_message) if error_message else what


def _gaps(log: Acknowledged, steady: int | None, seconds_after: int) -> Iterator[str]:
    if len(log.spans) > 2:
        yield _("service broke off {count} times: the first time is measured", count=len(log.spans) - 1)
    if steady is None and seconds_after < STEADY_OVER_S:
        yield _(
            "the window ended {seconds} whole seconds after service was there again: too few to be steady",
            seconds=seconds_after,
        )
    elif steady is None:
        yield _("throughput did not come back to what it was before the end of the window")


def _second_loss(runs: Sequence[Run]) -> str:
    """Return why the last run broke off before the end of the window; '' where it did not."""
    if not runs or not runs[-1].error_message:
        return ""
    return _("Clients lost their server again: {message}", message=runs[-1].error_message)
