"""What PostgreSQL's own statistics declare. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _


def _over(view: str) -> Message:
    return _("Over the measured window, from the server's cumulative statistics. {view}.", view=view)


METRICS = (
    Metric(
        "wal.bytes",
        "B",
        Better.LOWER,
        _("WAL written"),
        _("Difference of WAL positions; on a standby, WAL replayed. Labels, where it was promoted: replayed, written."),
    ),
    Metric(
        "wal.records",
        "1",
        Better.LOWER,
        _("WAL records"),
        _(
            "Over the measured window, from the server's cumulative statistics. {view}, 14 and later.",
            view="pg_stat_wal",
        ),
    ),
    Metric("wal.full_page_images", "1", Better.LOWER, _("Full-page images in WAL"), _over("pg_stat_wal"), 0.05),
    Metric(
        "blocks.read",
        "1",
        Better.LOWER,
        _("Blocks read into shared buffers"),
        _over("pg_stat_database"),
        0.05,
    ),
    Metric("blocks.hit", "1", Better.NEITHER, _("Blocks found in shared buffers"), _over("pg_stat_database")),
    Metric(
        "blocks.written",
        "1",
        Better.LOWER,
        _("Blocks written"),
        _(
            "Over the measured window, from the server's cumulative statistics. pg_stat_io (writes and extends) from "
            "16, pg_stat_bgwriter before; every database of the server."
        ),
        0.05,
    ),
    Metric(
        "buffers.hit_ratio",
        "%",
        Better.HIGHER,
        _("Buffer hit ratio"),
        _("blocks.hit / (blocks.hit + blocks.read)."),
    ),
    Metric(
        "checkpoints",
        "1",
        Better.NEITHER,
        _("Checkpoints"),
        _("Over the measured window, from the server's cumulative statistics. Labels: timed, requested."),
        label_noun=_("reason"),
    ),
    Metric("transactions.committed", "1", Better.NEITHER, _("Transactions committed"), _over("pg_stat_database")),
    Metric(
        "transactions.rolled_back",
        "1",
        Better.LOWER,
        _("Transactions rolled back"),
        _over("pg_stat_database"),
    ),
    Metric("temp.bytes", "B", Better.LOWER, _("Temporary files"), _over("pg_stat_database"), 0.05),
    Metric(
        "steady.server_age",
        "s",
        Better.NEITHER,
        _("Time since the server's start"),
        _("When the window began. Replicates measured after one start share whatever mode the server started in."),
        0.1,
    ),
    Metric("deadlocks", "1", Better.LOWER, _("Deadlocks"), _over("pg_stat_database")),
    Metric(
        "waits",
        "1",
        Better.NEITHER,
        _("Sessions by what they wait for"),
        _("Mean of pg_stat_activity, sampled each second, 10 and later. Label: type and event."),
        0.1,
        label_noun=_("wait event"),
    ),
    Metric(
        "size.table",
        "B",
        Better.LOWER,
        _("Size of tables"),
        _("After the run, pg_table_size. Label: one table."),
        0.01,
        label_noun=_("table"),
    ),
    Metric(
        "size.index",
        "B",
        Better.LOWER,
        _("Size of indexes"),
        _("After the run, pg_indexes_size. Label: of one table."),
        0.01,
        label_noun=_("table"),
    ),
    Metric(
        "size.total",
        "B",
        Better.LOWER,
        _("Size of tables and indexes"),
        _("After the run."),
        0.01,
        label_noun=_("table"),
    ),
    Metric(
        "statement.calls",
        "1",
        Better.NEITHER,
        _("Calls of a statement"),
        _("pg_stat_statements. Label: the statement."),
        label_noun=_("statement"),
    ),
    Metric(
        "statement.mean",
        "us",
        Better.LOWER,
        _("Mean time of a statement"),
        _("pg_stat_statements, execution."),
        0.05,
        label_noun=_("statement"),
    ),
)

SPEC = CollectorSpec(
    name="pg_stat",
    title=_("PostgreSQL statistics"),
    help=_(
        "Cumulative statistics before and after, a sample each second, sizes of tables and indexes, and the "
        "server's log of the run."
    ),
    on="servers",
    metrics=METRICS,
)
