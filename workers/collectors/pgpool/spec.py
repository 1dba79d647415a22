"""What the counts of pgpool-II declare. Pure."""

from __future__ import annotations

from results.domain.kinds.programs import EVERY_ROLE
from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric
from workers.pgpool.program import PROGRAM

_OVER = "Over the measured window, pgbench's own first questions included."

METRICS = (
    Metric("pgpool.selects", "1", Better.NEITHER, "SELECTs sent to a server", f"SHOW POOL_NODES. {_OVER}", 0.05),
    Metric(
        "pgpool.writes",
        "1",
        Better.NEITHER,
        "INSERTs, UPDATEs and DELETEs sent to a server",
        f"SHOW POOL_BACKEND_STATS. {_OVER} In native replication each is sent to every server.",
        0.05,
    ),
    Metric(
        "pgpool.errors", "1", Better.LOWER, "Errors that servers sent to pgpool-II", f"SHOW POOL_BACKEND_STATS. {_OVER}"
    ),
    Metric(
        "pgpool.cache.hits",
        "1",
        Better.HIGHER,
        "SELECTs answered from the query cache",
        f"SHOW POOL_CACHE. {_OVER}",
        0.05,
    ),
)

SPEC = CollectorSpec(
    name="pgpool",
    title="pgpool-II",
    help="How many statements pgpool-II sent to each server, and how many it answered from its query cache.",
    on="pooler",
    metrics=METRICS,
    programs={EVERY_ROLE: (PROGRAM,)},
)
