"""What the counts of pgpool-II declare. Pure."""

from __future__ import annotations

from results.domain.kinds.programs import EVERY_ROLE
from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from workers.pgpool.program import PROGRAM


def _over(answer: str) -> Message:
    return _("SHOW {answer}. Over the measured window, pgbench's own first questions included.", answer=answer)


METRICS = (
    Metric("pgpool.selects", "1", Better.NEITHER, _("SELECTs sent to a server"), _over("POOL_NODES"), 0.05),
    Metric(
        "pgpool.writes",
        "1",
        Better.NEITHER,
        _("INSERTs, UPDATEs and DELETEs sent to a server"),
        _(
            "SHOW POOL_BACKEND_STATS. Over the measured window, pgbench's own first questions included. In native "
            "replication each is sent to every server."
        ),
        0.05,
    ),
    Metric("pgpool.errors", "1", Better.LOWER, _("Errors that servers sent to pgpool-II"), _over("POOL_BACKEND_STATS")),
    Metric(
        "pgpool.cache.hits",
        "1",
        Better.HIGHER,
        _("SELECTs answered from the query cache"),
        _over("POOL_CACHE"),
        0.05,
    ),
)

SPEC = CollectorSpec(
    name="pgpool",
    title="pgpool-II",
    help=_("How many statements pgpool-II sent to each server, and how many it answered from its query cache."),
    on="pooler",
    metrics=METRICS,
    programs={EVERY_ROLE: (PROGRAM,)},
)
