"""What the pgbench workload declares: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.metrics import Better, Metric
from results.parameters import Kind, Parameter, Scalar
from results.specs import WorkloadSpec

BUILTINS = ("tpcb-like", "simple-update", "select-only")
CUSTOM = "custom"

_NAME = "|".join((*BUILTINS, CUSTOM))
_ONE_SCRIPT = rf"({_NAME})(@\d{{1,9}})?"
_BYTES_PER_SCALE = 15_500_000  # accounts with their key, tellers, branches: measured on 16
_DEFINITION = r"[A-Za-z_][A-Za-z0-9_]*=[^,]*"

PARAMETERS = (
    Parameter(
        "script",
        Kind.TEXT,
        "tpcb-like",
        "What a transaction is: tpcb-like, simple-update, select-only or custom; a weighted mixture as "
        "'select-only@9, simple-update@1' (9.6 and later).",
        pattern=rf"{_ONE_SCRIPT}(\s*,\s*{_ONE_SCRIPT})*",
    ),
    Parameter("custom_script", Kind.SCRIPT, "", "The pgbench script that 'custom' stands for."),
    Parameter(
        "setup_script",
        Kind.SCRIPT,
        "",
        "SQL run after the pgbench tables are loaded: whatever else a custom script needs.",
        loads=True,
    ),
    Parameter(
        "define",
        Kind.TEXT,
        "",
        "Variables for the scripts, as 'name=value, name=value' (-D).",
        pattern=rf"(\s*{_DEFINITION}(\s*,\s*{_DEFINITION})*)?",
    ),
    Parameter("clients", Kind.INTEGER, 1, "Concurrent connections (-c).", minimum=1, maximum=100000),
    Parameter(
        "scale",
        Kind.INTEGER,
        1,
        "Size of the data (-s): 100,000 accounts, some 15 MB, for each 1.",
        minimum=1,
        maximum=1000000,
        loads=True,
    ),
    Parameter(
        "protocol",
        Kind.CHOICE,
        "simple",
        "Query protocol (-M).",
        choices=("simple", "extended", "prepared"),
    ),
    Parameter("rate", Kind.NUMBER, 0, "Target rate; 0 = as fast as possible (-R).", minimum=0, unit="tps"),
    Parameter(
        "latency_limit_ms",
        Kind.NUMBER,
        0,
        "Transactions above this are counted as late, and skipped when a rate is set; 0 = no limit (-L).",
        minimum=0,
        unit="ms",
    ),
    Parameter("connect", Kind.BOOLEAN, False, "A new connection for each transaction (-C)."),
    Parameter(
        "transactions",
        Kind.INTEGER,
        0,
        "Transactions of each client (-t); 0 = run for the plan's duration (-T).",
        minimum=0,
    ),
    Parameter("max_tries", Kind.INTEGER, 1, "Tries of a failed transaction (15 and later).", minimum=1),
    Parameter("per_statement", Kind.BOOLEAN, False, "Mean latency, failures and retries of each statement (-r)."),
    Parameter(
        "vacuum",
        Kind.BOOLEAN,
        False,
        "VACUUM ANALYZE the pgbench tables and empty the history before each trial.",
    ),
    Parameter(
        "fillfactor",
        Kind.INTEGER,
        100,
        "Fill factor of the tables (-F).",
        minimum=10,
        maximum=100,
        unit="%",
        loads=True,
    ),
    Parameter(
        "partitions",
        Kind.INTEGER,
        0,
        "Partitions of pgbench_accounts; 0 = not partitioned (13 and later).",
        minimum=0,
        loads=True,
    ),
    Parameter(
        "partition_method",
        Kind.CHOICE,
        "range",
        "How pgbench_accounts is partitioned.",
        choices=("range", "hash"),
        loads=True,
    ),
    Parameter("unlogged", Kind.BOOLEAN, False, "Unlogged tables.", loads=True),
    Parameter("foreign_keys", Kind.BOOLEAN, False, "Foreign keys between the tables.", loads=True),
)

METRICS = (
    Metric(
        "tps",
        "tps",
        Better.HIGHER,
        "Transactions per second",
        "From pgbench, without the time of the first connections; with the time of every connection where "
        "each transaction opens its own (-C). Label: one script of a mixture.",
    ),
    Metric(
        "tps.including",
        "tps",
        Better.HIGHER,
        "Transactions per second, connecting included",
        "Printed up to version 13; from 14 transactions divided by run time plus initial connection time.",
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
    Metric("skipped", "1", Better.LOWER, "Skipped transactions", "Too late to start at the given rate (-R, -L)."),
    Metric("late", "1", Better.LOWER, "Late transactions", "Above the latency limit (-L)."),
    Metric(
        "latency.mean",
        "us",
        Better.LOWER,
        "Mean latency",
        "From pgbench. Label: one script of a mixture.",
    ),
    Metric("latency.sd", "us", Better.LOWER, "Latency, standard deviation", "From pgbench.", 0.05),
    Metric(
        "schedule.lag",
        "us",
        Better.LOWER,
        "Mean schedule lag",
        "How late transactions began at the given rate (-R).",
    ),
    Metric(
        "schedule.lag.max",
        "us",
        Better.LOWER,
        "Largest schedule lag",
        "The latest beginning at the given rate (-R).",
        0.1,
    ),
    Metric(
        "connection.time",
        "us",
        Better.LOWER,
        "Initial connection time",
        "All clients connecting, before the clock starts (14 and later).",
        0.1,
    ),
    Metric(
        "connection.mean",
        "us",
        Better.LOWER,
        "Mean connection time",
        "Of one connection under -C (14 and later).",
        0.05,
    ),
    Metric(
        "statement.latency",
        "us",
        Better.LOWER,
        "Mean latency of a statement",
        "From pgbench -r. Label: script/number and the statement.",
        0.05,
    ),
    Metric("statement.failed", "1", Better.LOWER, "Failures in a statement", "From pgbench -r (15 and later)."),
    Metric("statement.retries", "1", Better.LOWER, "Retries after a statement", "From pgbench -r (15 and later)."),
)


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """Some 15 MB for each scale, more with a lower fill factor. What a setup script makes is not known."""
    return int(_BYTES_PER_SCALE * int(parameters["scale"]) * 100 / int(parameters["fillfactor"]))


SPEC = WorkloadSpec(
    name="pgbench",
    title="pgbench",
    help="PostgreSQL's own load generator: the TPC-B-like, simple-update and select-only scripts, weighted "
    "mixtures of them, or a script of your own.",
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
)
