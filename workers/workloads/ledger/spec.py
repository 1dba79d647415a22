"""What the ledger declares: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.programs import AWK
from results.domain.kinds.specs import WorkloadSpec
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.pgbench import metrics as pgbench
from workers.pgbench import service
from workers.pgbench.parameters import CLIENTS, PROTOCOL, RATE
from workers.pgbench.program import PGBENCH

PARAMETERS = (
    CLIENTS,
    PROTOCOL,
    RATE,
    Parameter(
        pgettext_lazy("parameter", "retry_ms"),
        Kind.INTEGER,
        100,
        _(
            "After a failover: how long to wait before the clients connect again. No outage is measured finer than "
            "this."
        ),
        minimum=10,
        maximum=60000,
        unit="ms",
    ),
    Parameter(
        pgettext_lazy("parameter", "silence_s"),
        Kind.INTEGER,
        5,
        _(
            "Where the primary's network is cut: after so long without a word the clients give up their connections, "
            "and their system says that they are lost (libpq's keepalives and tcp_user_timeout)."
        ),
        minimum=2,
        maximum=600,
        unit="s",
    ),
)

METRICS = (
    *(metric for metric in pgbench.METRICS if metric.name in ("transactions", "latency.mean")),
    Metric(
        "ledger.tps",
        "tps",
        Better.HIGHER,
        _("Acknowledged transactions per second"),
        _("By the clients' own logs, divided by the whole measured window: time without service counts."),
        client_overhead=True,
    ),
    Metric(
        "ledger.lost",
        "1",
        Better.LOWER,
        _("Acknowledged and lost"),
        _("Transactions that a client saw committed, and whose row is not in the data afterwards."),
    ),
    Metric(
        "ledger.unacknowledged",
        "1",
        Better.NEITHER,
        _("Committed without word"),
        _("Rows in the data of whose transaction no client saw the end: in flight when the connection was lost."),
    ),
    *service.METRICS,
)


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """The table is loaded empty; what a run writes depends on how fast it is."""
    return 0


SPEC = WorkloadSpec(
    name="ledger",
    title=_("Ledger"),
    help=_(
        "Each transaction writes one row that says which it is. What clients saw committed is compared with the rows "
        "that are there afterwards, also across a failover."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    headline="ledger.tps",
    tolerates_failover=True,
    programs={"client": (PGBENCH, AWK)},
)
