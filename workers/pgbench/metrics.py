"""The metrics of a run of pgbench. Pure."""

from __future__ import annotations

from results.domain.measurement.metrics import Better, Metric

METRICS = (
    Metric(
        "tps",
        "tps",
        Better.HIGHER,
        "Transactions per second",
        "From pgbench, without the time of the first connections; with the time of every connection where "
        "each transaction opens its own (-C). Label: one script of a mixture.",
        client_overhead=True,
    ),
    Metric(
        "tps.including",
        "tps",
        Better.HIGHER,
        "Transactions per second, connecting included",
        "Printed up to version 13; from 14 transactions divided by run time plus initial connection time.",
        client_overhead=True,
    ),
    Metric(
        "transactions",
        "1",
        Better.NEITHER,
        "Transactions processed",
        "Successful transactions, from pgbench.",
    ),
    Metric(
        "failed",
        "1",
        Better.LOWER,
        "Failed transactions",
        "Serialization failures and deadlocks that no retry mended (15 and later). Labels: the two kinds.",
    ),
    Metric("retried", "1", Better.LOWER, "Transactions retried", "Transactions that took more than one try."),
    Metric("retries", "1", Better.LOWER, "Retries", "Tries beyond the first, of all transactions."),
    Metric(
        "skipped",
        "1",
        Better.LOWER,
        "Skipped transactions",
        "Too late to start at the given rate (-R, -L).",
        client_overhead=True,
    ),
    Metric("late", "1", Better.LOWER, "Late transactions", "Above the latency limit (-L).", client_overhead=True),
    Metric(
        "latency.mean",
        "us",
        Better.LOWER,
        "Mean latency",
        "Of the exact counts of its transaction log; from pgbench, in whole µs, where that lacks transactions. "
        "Label: one script of a mixture.",
        client_overhead=True,
    ),
    Metric(
        "latency.sd",
        "us",
        Better.LOWER,
        "Latency, standard deviation",
        "As the mean latency.",
        0.05,
        client_overhead=True,
    ),
    Metric(
        "schedule.lag",
        "us",
        Better.LOWER,
        "Mean schedule lag",
        "How late transactions began at the given rate (-R).",
        client_overhead=True,
    ),
    Metric(
        "schedule.lag.max",
        "us",
        Better.LOWER,
        "Largest schedule lag",
        "The latest beginning at the given rate (-R).",
        0.1,
        client_overhead=True,
    ),
    Metric(
        "connection.time",
        "us",
        Better.LOWER,
        "Initial connection time",
        "All clients connecting, before the clock starts (14 and later).",
        0.1,
        client_overhead=True,
    ),
    Metric(
        "connection.mean",
        "us",
        Better.LOWER,
        "Mean connection time",
        "Of one connection under -C (14 and later).",
        0.05,
        client_overhead=True,
    ),
    Metric(
        "statement.latency",
        "us",
        Better.LOWER,
        "Mean latency of a statement",
        "From pgbench -r. Label: script/number and the statement.",
        0.05,
        client_overhead=True,
    ),
    Metric("statement.failed", "1", Better.LOWER, "Failures in a statement", "From pgbench -r (15 and later)."),
    Metric("statement.retries", "1", Better.LOWER, "Retries after a statement", "From pgbench -r (15 and later)."),
)
