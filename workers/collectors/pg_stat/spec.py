"""What PostgreSQL's own statistics declare. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric

_OVER = "Over the measured window, from the server's cumulative statistics."

METRICS = (
    Metric(
        "wal.bytes",
        "B",
        Better.LOWER,
        "WAL written",
        "Difference of WAL positions; on a standby, WAL replayed. Labels, where it was promoted: replayed, written.",
    ),
    Metric("wal.records", "1", Better.LOWER, "WAL records", f"{_OVER} pg_stat_wal, 14 and later."),
    Metric("wal.full_page_images", "1", Better.LOWER, "Full-page images in WAL", f"{_OVER} pg_stat_wal.", 0.05),
    Metric(
        "blocks.read",
        "1",
        Better.LOWER,
        "Blocks read into shared buffers",
        f"{_OVER} pg_stat_database.",
        0.05,
    ),
    Metric("blocks.hit", "1", Better.NEITHER, "Blocks found in shared buffers", f"{_OVER} pg_stat_database."),
    Metric(
        "blocks.written",
        "1",
        Better.LOWER,
        "Blocks written",
        f"{_OVER} pg_stat_io (writes and extends) from 16, pg_stat_bgwriter before; every database of the server.",
        0.05,
    ),
    Metric(
        "buffers.hit_ratio",
        "%",
        Better.HIGHER,
        "Buffer hit ratio",
        "blocks.hit / (blocks.hit + blocks.read).",
    ),
    Metric(
        "checkpoints",
        "1",
        Better.NEITHER,
        "Checkpoints",
        f"{_OVER} Labels: timed, requested.",
        label_noun="reason",
    ),
    Metric("transactions.committed", "1", Better.NEITHER, "Transactions committed", f"{_OVER} pg_stat_database."),
    Metric(
        "transactions.rolled_back",
        "1",
        Better.LOWER,
        "Transactions rolled back",
        f"{_OVER} pg_stat_database.",
    ),
    Metric("temp.bytes", "B", Better.LOWER, "Temporary files", f"{_OVER} pg_stat_database.", 0.05),
    Metric(
        "steady.server_age",
        "s",
        Better.NEITHER,
        "Time since the server's start",
        "When the window began. Replicates measured after one start share whatever mode the server started in.",
        0.1,
    ),
    Metric("deadlocks", "1", Better.LOWER, "Deadlocks", f"{_OVER} pg_stat_database."),
    Metric(
        "waits",
        "1",
        Better.NEITHER,
        "Sessions by what they wait for",
        "Mean of pg_stat_activity, sampled each second, 10 and later. Label: type and event.",
        0.1,
        label_noun="wait event",
    ),
    Metric(
        "size.table",
        "B",
        Better.LOWER,
        "Size of tables",
        "After the run, pg_table_size. Label: one table.",
        0.01,
        label_noun="table",
    ),
    Metric(
        "size.index",
        "B",
        Better.LOWER,
        "Size of indexes",
        "After the run, pg_indexes_size. Label: of one table.",
        0.01,
        label_noun="table",
    ),
    Metric("size.total", "B", Better.LOWER, "Size of tables and indexes", "After the run.", 0.01, label_noun="table"),
    Metric(
        "statement.calls",
        "1",
        Better.NEITHER,
        "Calls of a statement",
        "pg_stat_statements. Label: the statement.",
        label_noun="statement",
    ),
    Metric(
        "statement.mean",
        "us",
        Better.LOWER,
        "Mean time of a statement",
        "pg_stat_statements, execution.",
        0.05,
        label_noun="statement",
    ),
)

SPEC = CollectorSpec(
    name="pg_stat",
    title="PostgreSQL statistics",
    help="Cumulative statistics before and after, a sample each second, sizes of tables and indexes, and the "
    "server's log of the run.",
    on="servers",
    metrics=METRICS,
)
