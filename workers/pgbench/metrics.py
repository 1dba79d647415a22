"""The metrics of a run of pgbench. Pure."""

from __future__ import annotations

from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _

METRICS = (
    Metric(
        "tps",
        "tps",
        Better.HIGHER,
        _("Transactions per second"),
        _(
            "From pgbench, without the time of the first connections; with the time of every connection where "
            "each transaction opens its own (-C). Label: one script of a mixture."
        ),
        client_overhead=True,
        label_noun=_("script"),
    ),
    Metric(
        "tps.including",
        "tps",
        Better.HIGHER,
        _("Transactions per second, connecting included"),
        _("Printed up to version 13; from 14 transactions divided by run time plus initial connection time."),
        client_overhead=True,
    ),
    Metric(
        "transactions",
        "1",
        Better.NEITHER,
        _("Transactions processed"),
        _("Successful transactions, from pgbench."),
        client_overhead=True,
        label_noun=_("script"),
    ),
    Metric(
        "failed",
        "1",
        Better.LOWER,
        _("Failed transactions"),
        _("Serialization failures and deadlocks that no retry mended (15 and later). Labels: the two kinds."),
        label_noun=_("reason"),
    ),
    Metric("retried", "1", Better.LOWER, _("Transactions retried"), _("Transactions that took more than one try.")),
    Metric("retries", "1", Better.LOWER, _("Retries"), _("Tries beyond the first, of all transactions.")),
    Metric(
        "skipped",
        "1",
        Better.LOWER,
        _("Skipped transactions"),
        _("Too late to start at the given rate (-R, -L)."),
        client_overhead=True,
    ),
    Metric("late", "1", Better.LOWER, _("Late transactions"), _("Above the latency limit (-L)."), client_overhead=True),
    Metric(
        "latency.mean",
        "us",
        Better.LOWER,
        _("Mean latency"),
        _(
            "Of the exact counts of its transaction log; from pgbench, in whole µs, where that lacks transactions. "
            "Label: one script of a mixture."
        ),
        client_overhead=True,
        label_noun=_("script"),
    ),
    Metric(
        "latency.sd",
        "us",
        Better.LOWER,
        _("Latency, standard deviation"),
        _("As the mean latency."),
        0.05,
        client_overhead=True,
        label_noun=_("script"),
    ),
    Metric(
        "schedule.lag",
        "us",
        Better.LOWER,
        _("Mean schedule lag"),
        _("How late transactions began at the given rate (-R)."),
        client_overhead=True,
    ),
    Metric(
        "schedule.lag.max",
        "us",
        Better.LOWER,
        _("Largest schedule lag"),
        _("The latest beginning at the given rate (-R)."),
        0.1,
        client_overhead=True,
    ),
    Metric(
        "connection.time",
        "us",
        Better.LOWER,
        _("Initial connection time"),
        _("All clients connecting, before the clock starts (14 and later)."),
        0.1,
        client_overhead=True,
    ),
    Metric(
        "connection.mean",
        "us",
        Better.LOWER,
        _("Mean connection time"),
        _("Of one connection under -C (14 and later)."),
        0.05,
        client_overhead=True,
    ),
    Metric(
        "statement.latency",
        "us",
        Better.LOWER,
        _("Mean latency of a statement"),
        _("From pgbench -r. Label: script/number and the statement."),
        0.05,
        client_overhead=True,
        label_noun=_("statement"),
    ),
    Metric(
        "statement.failed",
        "1",
        Better.LOWER,
        _("Failures in a statement"),
        _("From pgbench -r (15 and later)."),
        label_noun=_("statement"),
    ),
    Metric(
        "statement.retries",
        "1",
        Better.LOWER,
        _("Retries after a statement"),
        _("From pgbench -r (15 and later)."),
        label_noun=_("statement"),
    ),
)
