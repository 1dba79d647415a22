"""What the bulk load declares: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.programs import AWK
from results.domain.kinds.specs import GRACE_S, Longest, WorkloadSpec
from results.domain.measurement.metrics import TOTAL, Better, Metric
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy

from .data import PARTS

MB = 1_000_000
_TABLES_AND_INDEXES = 2.4  # bytes in the database for each byte of the files: 2.25 measured on 15
_S_PER_MB = 2.0

PARAMETERS = (
    Parameter(
        pgettext_lazy("parameter", "size_mb"),
        Kind.INTEGER,
        100,
        _("About how many megabytes (10^6) the files hold that are loaded: 17,400 rows each."),
        minimum=1,
        maximum=10_000_000,
        unit="MB",
        loads=True,
    ),
    Parameter("seed", Kind.INTEGER, 1, _("Decides the values in the rows."), minimum=0, maximum=2**31 - 1, loads=True),
    Parameter(
        pgettext_lazy("parameter", "jobs"),
        Kind.INTEGER,
        1,
        _(
            "Sessions that COPY at once. Each table lies in {files} files: a divisor of {files} shares them evenly.",
            files=PARTS,
        ),
        minimum=1,
        maximum=PARTS,
    ),
    Parameter(
        pgettext_lazy("parameter", "wal_skipping"),
        Kind.BOOLEAN,
        False,
        _(
            "Each table is emptied and loaded in one transaction, by one session, so that COPY writes no WAL. Needs "
            "the settings wal_level = minimal and max_wal_senders = 0."
        ),
    ),
)

METRICS = (
    Metric(
        "bulk.seconds",
        "s",
        Better.LOWER,
        _("Bulk load"),
        _(
            "By the server's clock, from the first COPY to the end of the last ANALYZE. Labels: the step, and the step "
            "with one of its tables."
        ),
        0.05,
        parts="bulk.seconds",
        whole=TOTAL,
        label_noun=_("step"),
    ),
    Metric(
        "bulk.rows_per_s",
        "1/s",
        Better.HIGHER,
        _("Rows per second of the bulk load"),
        _(
            "Rows of the tables that the step works on, by the step's seconds. Labels: the step, and the step with one "
            "of its tables."
        ),
        0.05,
        label_noun=_("step"),
    ),
    Metric(
        "bulk.bytes_per_s",
        "B/s",
        Better.HIGHER,
        _("Bytes per second of the bulk load"),
        _(
            "COPY and the whole: bytes of the files; the other steps: size of the tables that they work on; by the "
            "step's seconds. Labels: the step, and the step with one of its tables."
        ),
        0.05,
        label_noun=_("step"),
    ),
    Metric(
        "bulk.wal",
        "B",
        Better.LOWER,
        _("WAL of the bulk load"),
        _(
            "Distance of the server's WAL insert positions, whoever wrote it. Not told of a table that was loaded "
            "beside others. Labels: the step, and the step with one of its tables."
        ),
        label_noun=_("step"),
    ),
    Metric(
        "bulk.rows",
        "1",
        Better.NEITHER,
        _("Rows loaded"),
        _("Counted afterwards. Label: the table."),
        label_noun=_("table"),
    ),
    Metric(
        "bulk.file_bytes",
        "B",
        Better.NEITHER,
        _("Size of the loaded files"),
        _("Label: the table."),
        label_noun=_("table"),
    ),
    Metric(
        "bulk.table_bytes",
        "B",
        Better.LOWER,
        _("Size of the tables"),
        _("pg_table_size afterwards. Label: the table."),
        label_noun=_("table"),
    ),
    Metric(
        "bulk.index_bytes",
        "B",
        Better.LOWER,
        _("Size of the indexes"),
        _("pg_indexes_size afterwards. Label: the table."),
        label_noun=_("table"),
    ),
)


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """The files, the tables and their indexes; WAL is bounded by the server's max_wal_size."""
    return int(int(parameters["size_mb"]) * MB * (1 + _TABLES_AND_INDEXES))


def until_done(parameters: Mapping[str, Scalar], duration_s: float) -> None:
    """A load takes as long as it takes."""
    return None


def typical_s(parameters: Mapping[str, Scalar], duration_s: float) -> float:
    """Copying, keys, VACUUM and ANALYZE: some 20 megabytes a second."""
    return 2 + int(parameters["size_mb"]) / 20


def longest(parameters: Mapping[str, Scalar], duration_s: float) -> Longest:
    """Half a megabyte a second; the files are made in load or, where an earlier trial loaded, in warm."""
    seconds = int(parameters["size_mb"]) * _S_PER_MB
    return Longest(warm_s=seconds, measure_s=GRACE_S + seconds)


SPEC = WorkloadSpec(
    name="bulk_load",
    title=_("Bulk load"),
    help=_(
        "COPY from files, primary keys, foreign keys, VACUUM and ANALYZE, each timed on its own with rows, bytes and "
        "WAL; in parallel sessions; with and without WAL-skipping."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    headline="bulk.seconds",
    minimum_version=110000,
    measured_s=until_done,
    longest=longest,
    typical_s=typical_s,
    loads_in_window=True,
    programs={"client": (AWK,)},
)
