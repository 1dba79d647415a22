"""What the replication collector declares. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _

_MEAN_LAG = _(
    "Mean over the measured window. Until replayed; labels: until sent, written, flushed. By pg_stat_replication of "
    "the server that it streams from, sampled each second."
)
_LARGEST_LAG = _(
    "The largest sample of the measured window. Until replayed; labels: until sent, written, flushed. By "
    "pg_stat_replication of the server that it streams from, sampled each second."
)
_MEAN_AGE = _(
    "Mean over the measured window. Of the last transaction that the standby has replayed, by "
    "pg_last_xact_replay_timestamp; 0 with nothing to replay."
)
_LARGEST_AGE = _(
    "The largest sample of the measured window. Of the last transaction that the standby has replayed, by "
    "pg_last_xact_replay_timestamp; 0 with nothing to replay."
)

METRICS = (
    Metric(
        "replication.lag_bytes",
        "B",
        Better.LOWER,
        _("Replication lag in WAL"),
        _MEAN_LAG,
        0.1,
        label_noun=_("stage"),
    ),
    Metric(
        "replication.lag_bytes.max",
        "B",
        Better.LOWER,
        _("Replication lag in WAL, largest"),
        _LARGEST_LAG,
        0.1,
        label_noun=_("stage"),
    ),
    Metric("replication.lag", "s", Better.LOWER, _("Replication lag"), _MEAN_LAG, 0.1, label_noun=_("stage")),
    Metric(
        "replication.lag.max",
        "s",
        Better.LOWER,
        _("Replication lag, largest"),
        _LARGEST_LAG,
        0.1,
        label_noun=_("stage"),
    ),
    Metric("replication.replay_age", "s", Better.LOWER, _("Age of what is replayed"), _MEAN_AGE, 0.1),
    Metric("replication.replay_age.max", "s", Better.LOWER, _("Age of what is replayed, largest"), _LARGEST_AGE, 0.1),
    Metric(
        "replication.catch_up",
        "s",
        Better.LOWER,
        _("Time to catch up after the load"),
        _(
            "From the end of the measured window until all WAL of the load was replayed; 0 where it was when first "
            "asked."
        ),
        0.1,
    ),
)

SPEC = CollectorSpec(
    name="replication",
    title=_("Replication lag"),
    help=_(
        "How far each standby or subscriber is behind, in bytes and in seconds, once a second, and how long it takes "
        "to catch up when the load has ended. PostgreSQL 11 and later."
    ),
    on="servers",
    metrics=METRICS,
)
