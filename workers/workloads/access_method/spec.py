"""What the access-method profile declares: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from results.domain.errors import Problem
from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import GRACE_S, Longest, WorkloadSpec, timed_limit_s
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.pgbench.parameters import tables_bytes
from workers.pgbench.program import PGBENCH

from .steps import COLUMNS, Sizes

_MOST = 2_000_000_000
_SLOW_WRITES, _SLOW_READS = 250e3, 5e6  # bytes a second
_SLOW_TRANSACTION_S = 0.02
_NARROW_BYTES, _WIDE_BYTES = 180, 690  # of a row, with its index entries: measured as heap on 18

PARAMETERS = (
    Parameter(
        pgettext_lazy("parameter", "rows"),
        Kind.INTEGER,
        1_000_000,
        _("Rows of foo: a number and three texts of 32 random digits. Sizes the whole profile."),
        minimum=100,
        maximum=_MOST,
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "wide_rows"),
        Kind.INTEGER,
        0,
        _("Rows of the table of 20 texts that is scanned; 0 = five for each row of foo."),
        minimum=0,
        maximum=_MOST,
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "range_rows"),
        Kind.INTEGER,
        1_000,
        _("Rows of a range."),
        minimum=1,
        maximum=1_000_000,
    ),
    Parameter(
        pgettext_lazy("parameter", "scan_repetitions"),
        Kind.INTEGER,
        3,
        _("Scans of each column."),
        minimum=1,
        maximum=1_000,
    ),
    Parameter(
        pgettext_lazy("parameter", "row_repetitions"),
        Kind.INTEGER,
        10_000,
        _("Index scans, and updates, of one row."),
        minimum=1,
        maximum=100_000_000,
    ),
    Parameter(
        pgettext_lazy("parameter", "range_repetitions"),
        Kind.INTEGER,
        100,
        _("Index scans, and updates, of a range of rows."),
        minimum=1,
        maximum=100_000_000,
    ),
    Parameter(
        pgettext_lazy("parameter", "updates"),
        Kind.INTEGER,
        0,
        _(
            "Updates of an indexed column, each a transaction, by which a table is let grow; 0 = 0.62 for each row of "
            "foo."
        ),
        minimum=0,
        maximum=_MOST,
    ),
    Parameter(
        pgettext_lazy("parameter", "tpcb"),
        Kind.BOOLEAN,
        True,
        _("Run pgbench's TPC-B-like script for the plan's duration, with one client."),
    ),
    Parameter(
        pgettext_lazy("parameter", "tpcb_scale"),
        Kind.INTEGER,
        0,
        _("Scale of its tables; 0 = 1 for each 5,000 rows of foo, at least 1."),
        minimum=0,
        maximum=1_000_000,
    ),
    Parameter("fillfactor", Kind.INTEGER, 100, _("Fill factor of foo."), minimum=10, maximum=100, unit="%", loads=True),
    Parameter(
        pgettext_lazy("parameter", "heap_baseline"),
        Kind.BOOLEAN,
        True,
        _(
            "Where the access method is not heap: a second wide table stored as heap, which the break-even block "
            "count is measured against."
        ),
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "cold"),
        Kind.CHOICE,
        "when-allowed",
        _(
            "Whether the server is restarted and the system's caches are dropped before each scan, look-up, update and "
            "TPC-B. when-allowed: where the agent's account may; required: else the trial fails; restart: only that."
        ),
        choices=("when-allowed", "never", "restart", "required"),
    ),
    Parameter("seed", Kind.INTEGER, 1, _("Decides which rows are read and updated."), minimum=0, maximum=2**31 - 1),
)

_EXPLAIN = _("Mean of the repetitions, by EXPLAIN (ANALYZE, BUFFERS). Label: the column.")
METRICS = (
    Metric(
        "bulk_insert.seconds",
        "s",
        Better.LOWER,
        _("Bulk insert"),
        _(
            "By psql's \\timing. COPY and COMMIT of foo together; labels: each of them, and the INSERT of the wide "
            "tables."
        ),
        0.05,
        label_noun=_("step"),
    ),
    Metric("scan.seconds", "s", Better.LOWER, _("Sequential scan of a column"), _EXPLAIN, 0.05, label_noun=_("column")),
    Metric(
        "scan.blocks",
        "1",
        Better.LOWER,
        _("Blocks of a sequential scan"),
        _("Found in buffers or read. Mean of the repetitions, by EXPLAIN (ANALYZE, BUFFERS). Label: the column."),
        label_noun=_("column"),
    ),
    Metric(
        "scan.blocks.read", "1", Better.LOWER, _("Blocks read by a sequential scan"), _EXPLAIN, label_noun=_("column")
    ),
    Metric(
        "scan.heap.seconds",
        "s",
        Better.LOWER,
        _("The same scan of the heap beside"),
        _EXPLAIN,
        0.05,
        label_noun=_("column"),
    ),
    Metric(
        "scan.heap.blocks",
        "1",
        Better.LOWER,
        _("Blocks of the same scan of the heap beside"),
        _EXPLAIN,
        label_noun=_("column"),
    ),
    Metric(
        "scan.heap.blocks.read",
        "1",
        Better.LOWER,
        _("Blocks read by the same scan of the heap beside"),
        _EXPLAIN,
        label_noun=_("column"),
    ),
    Metric(
        "scan.break_even",
        "1",
        Better.HIGHER,
        _("Break-even block count"),
        _(
            "From how many blocks on the heap scans faster: where the line through blocks and seconds of the access "
            "method's scans reaches the heap's mean time."
        ),
        0.1,
    ),
    Metric(
        "index_scan.latency",
        "us",
        Better.LOWER,
        _("Index scan"),
        _("Mean, by pgbench -r. One row; label: a range."),
        0.05,
        whole=_("one row"),
        client_overhead=True,
        label_noun=_("rows"),
    ),
    Metric(
        "update.latency",
        "us",
        Better.LOWER,
        "UPDATE",
        _("Mean, by pgbench -r. One row; label: a range."),
        0.05,
        parts="update.latency",
        whole=_("one row"),
        client_overhead=True,
        label_noun=_("rows"),
    ),
    Metric(
        "commit.latency",
        "us",
        Better.LOWER,
        _("COMMIT of an UPDATE"),
        _("Mean, by pgbench -r. One row; label: a range."),
        0.05,
        whole=_("one row"),
        client_overhead=True,
        label_noun=_("rows"),
    ),
    Metric(
        "size.table",
        "B",
        Better.LOWER,
        _("Size of a table"),
        _("pg_table_size after it was filled. Label: the table."),
        label_noun=_("table"),
    ),
    Metric(
        "size.indexes",
        "B",
        Better.LOWER,
        _("Size of its indexes"),
        _("pg_indexes_size after it was filled. Label: the table."),
        label_noun=_("table"),
    ),
    Metric(
        "size.total",
        "B",
        Better.LOWER,
        _("Size with indexes"),
        _("pg_total_relation_size after it was filled. Label: the table."),
        label_noun=_("table"),
    ),
    Metric(
        "growth.bytes",
        "B",
        Better.LOWER,
        _("Growth"),
        _("By the step's updates. Label: the table; the table with 'indexes' or 'total'."),
        label_noun=_("table"),
        signed=True,
    ),
    Metric(
        "growth.percent",
        "%",
        Better.LOWER,
        _("Growth, relative"),
        _("Of the size before the updates. Labels as above."),
        label_noun=_("table"),
        signed=True,
    ),
    Metric(
        "dead_tuples",
        "1",
        Better.LOWER,
        _("Dead rows after updates"),
        _("n_dead_tup of the server's statistics. Label: the table."),
        label_noun=_("table"),
    ),
    Metric(
        "dead_tuples.found",
        "1",
        Better.LOWER,
        _("Dead rows found in the table"),
        _("By pgstattuple. Label: the table."),
        label_noun=_("table"),
    ),
    Metric(
        "free_space",
        "B",
        Better.NEITHER,
        _("Free space found in the table"),
        _("By pgstattuple. Label: the table."),
        label_noun=_("table"),
    ),
    Metric(
        "updates.hot",
        "1",
        Better.NEITHER,
        _("Heap-only updates"),
        _("n_tup_hot_upd of the server's statistics. Label: the table."),
        label_noun=_("table"),
    ),
    Metric(
        "maintenance.seconds",
        "s",
        Better.LOWER,
        _("Maintenance of a table"),
        _("By psql's \\timing. Of foo after its updates, but CREATE INDEX, which is after COPY. Label: the command."),
        0.05,
        label_noun=_("command"),
    ),
    Metric(
        "tpcb.tps",
        "tps",
        Better.HIGHER,
        _("TPC-B-like"),
        _("From pgbench, one client, without the time of connecting."),
        client_overhead=True,
    ),
    Metric("tpcb.latency", "us", Better.LOWER, _("Mean latency, TPC-B-like"), _("From pgbench."), client_overhead=True),
    Metric("tpcb.transactions", "1", Better.NEITHER, _("Transactions, TPC-B-like"), _("From pgbench.")),
    Metric(
        "tpcb.growth",
        "B",
        Better.LOWER,
        _("Growth of pgbench_accounts for each transaction"),
        _("pg_table_size after less before, by the transactions. Its fill factor is 100: few updates are heap-only."),
        0.05,
        signed=True,
    ),
    Metric(
        "tpcb.statement",
        "us",
        Better.LOWER,
        _("Mean latency of a statement, TPC-B-like"),
        _("Mean, by pgbench -r. Label: its number and text."),
        0.05,
        client_overhead=True,
        label_noun=_("statement"),
    ),
)


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """Two narrow tables, the file that one is copied from, the copy that CLUSTER makes; a version of each row that is
    updated; the wide table and its twin; TPC-B's. WAL is bounded by the server's max_wal_size."""
    sizes = Sizes.of(parameters)
    ranges = int(parameters["range_repetitions"]) * sizes.range_rows
    versions = int(parameters["row_repetitions"]) + ranges + sizes.updates
    wide = _WIDE_BYTES * sizes.wide_rows * (2 if parameters["heap_baseline"] else 1)
    tpcb = tables_bytes(sizes.scale) if parameters["tpcb"] else 0
    return _NARROW_BYTES * (4 * sizes.rows + versions) + wide + tpcb


def until_done(parameters: Mapping[str, Scalar], duration_s: float) -> None:
    """A profile takes as long as its steps take."""
    return None


def typical_s(parameters: Mapping[str, Scalar], duration_s: float) -> float:
    """Steps that grow with the rows, and TPC-B for the plan's duration."""
    return 5 + 15 * Sizes.of(parameters).rows / 100_000 + (duration_s if parameters["tpcb"] else 0.0)


def longest(parameters: Mapping[str, Scalar], duration_s: float) -> Longest:
    """Every byte written and every scan at a crawl, each update a transaction that waits for a slow disk."""
    sizes = Sizes.of(parameters)
    ranges, rows = int(parameters["range_repetitions"]), int(parameters["row_repetitions"])
    written_s = disk_bytes(parameters) / _SLOW_WRITES
    scanned_s = int(parameters["scan_repetitions"]) * 2 * len(COLUMNS) * _WIDE_BYTES * sizes.wide_rows / _SLOW_READS
    transactions_s = (2 * rows + 2 * ranges * sizes.range_rows + sizes.updates) * _SLOW_TRANSACTION_S
    tpcb_s = timed_limit_s(duration_s) if parameters["tpcb"] else 0.0
    return Longest(measure_s=GRACE_S + written_s + scanned_s + transactions_s + tpcb_s)


def stored_by(parameters: Mapping[str, Scalar]) -> Mapping[str, str]:
    """The twin of the wide table."""
    return {"wide_heap": "heap"} if parameters.get("heap_baseline", True) else {}


def problems(parameters: Mapping[str, Scalar]) -> Iterator[Problem]:
    """A range must fit into its table."""
    sizes = Sizes.of(parameters)
    if sizes.range_rows > sizes.rows:
        what = _(
            "A range of {range} rows does not fit into a table of {rows}.", range=sizes.range_rows, rows=sizes.rows
        )
        yield Problem("range_rows", what, _("Lower range_rows, or raise rows."))


SPEC = WorkloadSpec(
    name="access_method",
    title=_("Access-method profile"),
    help=_(
        "What each operation costs by a table's access method: bulk insert, sequential and index scans, updates and "
        "their COMMIT, sizes, growth, dead rows, maintenance, TPC-B."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    headline="update.latency",
    minimum_version=110000,
    measured_s=until_done,
    timed_part="tpcb",
    longest=longest,
    typical_s=typical_s,
    stored_by=stored_by,
    problems=problems,
    programs={"client": (PGBENCH,)},
)
