"""What the read scale-up declares: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import WorkloadSpec, by_pgbench
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.pgbench.metrics import METRICS
from workers.pgbench.parameters import BACKGROUND, CLIENTS, PROTOCOL, RATE, SCALE, tables_bytes
from workers.pgbench.program import PGBENCH

COUNT, SELECT_ONLY, INDEX_ONLY = "count", "select-only", "index-only"
INDEX = "pgbench_accounts_aid_abalance"

_INDEX_BYTES_PER_SCALE = 2_300_000  # measured on 16, and the same as the primary key's

PARAMETERS = (
    Parameter(
        pgettext_lazy("parameter", "variant"),
        Kind.CHOICE,
        COUNT,
        _(
            "count: counts the balances of a random range of accounts; select-only: reads one random account; "
            "index-only: counts as the first, from an index on (aid, abalance) alone."
        ),
        choices=(COUNT, SELECT_ONLY, INDEX_ONLY),
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "row_count"),
        Kind.INTEGER,
        10000,
        _(
            "Length of the range: BETWEEN aid AND aid + row_count, one row more than its name says. Not for "
            "select-only."
        ),
        minimum=1,
        maximum=100_000_000,
    ),
    SCALE,
    CLIENTS,
    PROTOCOL,
    RATE,
    *BACKGROUND,
)


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """The tables of pgbench, and the second index where it is wanted."""
    scale = int(parameters["scale"])
    index = _INDEX_BYTES_PER_SCALE * scale if parameters["variant"] == INDEX_ONLY else 0
    return tables_bytes(scale) + index


SPEC = WorkloadSpec(
    name="read_scaleup",
    title=_("Read scale-up"),
    help=_(
        "How reading grows with the number of clients: each transaction counts the balances of 10,001 accounts in a "
        "random range, which loads the server's processors and hardly the network."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    several=by_pgbench,
    programs={"client": (PGBENCH,)},
)
