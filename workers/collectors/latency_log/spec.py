"""What the latency log declares. Pure."""

from __future__ import annotations

from results.domain.kinds.programs import AWK
from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric, percentile_name

PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)

_HELP = "Exact, nearest rank, over every transaction of the measured window. Label: one script of a mixture."


def _noise(percent: float) -> float:
    """Tails vary more from run to run than the middle."""
    return 0.02 if percent < 90 else 0.05 if percent < 99.9 else 0.1


METRICS = (
    *(
        Metric(
            percentile_name(p),
            "us",
            Better.LOWER,
            f"p{p:g} latency",
            _HELP,
            _noise(p),
            client_overhead=True,
            label_noun="script",
        )
        for p in PERCENTILES
    ),
    Metric(
        "latency.max", "us", Better.LOWER, "Largest latency", _HELP, 0.25, client_overhead=True, label_noun="script"
    ),
)

SPEC = CollectorSpec(
    name="latency_log",
    title="Latency log",
    help="Logs every transaction's latency and folds the log on the agent into exact counts: percentiles, "
    "histogram and heat map. For workloads that run pgbench.",
    on="client",
    metrics=METRICS,
    programs={"client": (AWK,)},
)
