"""What the update scale-up declares: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import WorkloadSpec, by_pgbench
from results.domain.messages import gettext_lazy as _
from workers.pgbench.metrics import METRICS
from workers.pgbench.parameters import BACKGROUND, CLIENTS, PROTOCOL, RATE, SCALE, tables_bytes
from workers.pgbench.program import PGBENCH

PARAMETERS = (
    SCALE,
    Parameter(
        "fillfactor",
        Kind.INTEGER,
        80,
        _("Fill factor of the tables (-F): what is left free takes new versions of rows beside the old ones."),
        minimum=10,
        maximum=100,
        unit="%",
        loads=True,
    ),
    CLIENTS,
    PROTOCOL,
    RATE,
    *BACKGROUND,
)


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """As loaded; what the updates add depends on how many there will be."""
    return tables_bytes(int(parameters["scale"]), int(parameters["fillfactor"]))


SPEC = WorkloadSpec(
    name="update_scaleup",
    title=_("Update scale-up"),
    help=_(
        "How updating grows with the number of clients: each transaction rewrites one column of one random account. "
        "Updates change the data: take the data policy template or fresh."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    several=by_pgbench,
    programs={"client": (PGBENCH,)},
)
