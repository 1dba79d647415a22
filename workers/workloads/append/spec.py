"""What appending declares: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import WorkloadSpec, by_pgbench
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.pgbench import metrics as pgbench
from workers.pgbench.parameters import BACKGROUND, CLIENTS, PROTOCOL, RATE
from workers.pgbench.program import PGBENCH

ONE_BY_ONE, TOGETHER = "one-by-one", "together"
FIRST_WITH_PARTITIONED_INDEXES = 110000

PARAMETERS = (
    Parameter(
        pgettext_lazy("parameter", "rows_per_transaction"),
        Kind.INTEGER,
        10,
        _("Rows that a transaction inserts."),
        minimum=1,
        maximum=1000,
    ),
    Parameter(
        pgettext_lazy("parameter", "inserts"),
        Kind.CHOICE,
        ONE_BY_ONE,
        _("one-by-one: an INSERT for each row between BEGIN and COMMIT; together: one INSERT for all of them."),
        choices=(ONE_BY_ONE, TOGETHER),
    ),
    Parameter(
        pgettext_lazy("parameter", "partition_s"),
        Kind.INTEGER,
        60,
        _("How long a partition is: they are made before the load begins, for all of its time."),
        minimum=1,
        maximum=86400,
        unit="s",
    ),
    Parameter(
        pgettext_lazy("parameter", "index"),
        Kind.CHOICE,
        "source",
        _("source: an index on (source, at), into which rows go at random places; time: on (at), at its end; none."),
        choices=("source", "time", "none"),
        loads=True,
    ),
    CLIENTS,
    PROTOCOL,
    RATE,
    *BACKGROUND,
)

METRICS = (
    *pgbench.METRICS,
    Metric(
        "append.rows_per_second",
        "1/s",
        Better.HIGHER,
        _("Rows per second"),
        _("Transactions per second times the rows of a transaction, where the server has as many rows as that makes."),
        client_overhead=True,
    ),
    Metric(
        "append.rows",
        "1",
        Better.NEITHER,
        _("Rows appended"),
        _("Rows in the table after the run, less those before it, counted by the server."),
    ),
)


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """The table is loaded empty; what the run appends depends on how fast it is."""
    return 0


SPEC = WorkloadSpec(
    name="append",
    title=_("Append"),
    help=_(
        "Storing what arrives: each transaction inserts ten rows at the present end of a table that is partitioned by "
        "minute. Nothing is read or updated."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    several=by_pgbench,
    headline="append.rows_per_second",
    minimum_version=FIRST_WITH_PARTITIONED_INDEXES,
    programs={"client": (PGBENCH,)},
)
