"""What the latency log declares. Pure."""

from __future__ import annotations

from results.domain.kinds.programs import AWK
from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric, percentile_name
from results.domain.messages import gettext_lazy as _

PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)

_HELP = _("Exact, nearest rank, over every transaction of the measured window. Label: one script of a mixture.")


def _noise(percent: float) -> float:
    """Tails vary more from run to run than the middle."""
    return 0.02 if percent < 90 else 0.05 if percent < 99.9 else 0.1


METRICS = (
    *(
        Metric(
            percentile_name(p),
            "us",
            Better.LOWER,
            _("p{percent:g} latency", percent=p),
            _HELP,
            _noise(p),
            client_overhead=True,
            label_noun=_("script"),
        )
        for p in PERCENTILES
    ),
    Metric(
        "latency.max",
        "us",
        Better.LOWER,
        _("Largest latency"),
        _HELP,
        0.25,
        client_overhead=True,
        label_noun=_("script"),
    ),
)

SPEC = CollectorSpec(
    name="latency_log",
    title=_("Latency log"),
    help=_(
        "Logs every transaction's latency and folds the log on the agent into exact counts: percentiles, "
        "histogram and heat map. For workloads that run pgbench."
    ),
    on="client",
    metrics=METRICS,
    programs={"client": (AWK,)},
)
