"""What the replication collector declares. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric

_SENDER = "By pg_stat_replication of the server that it streams from, sampled each second."
_MEAN, _MAX = "Mean over the measured window.", "The largest sample of the measured window."
_STAGES = "Until replayed; labels: until sent, written, flushed."
_AGE = (
    "Of the last transaction that the standby has replayed, by pg_last_xact_replay_timestamp; 0 with nothing to replay."
)

METRICS = (
    Metric(
        "replication.lag_bytes",
        "B",
        Better.LOWER,
        "Replication lag in WAL",
        f"{_MEAN} {_STAGES} {_SENDER}",
        0.1,
        label_noun="stage",
    ),
    Metric(
        "replication.lag_bytes.max",
        "B",
        Better.LOWER,
        "Replication lag in WAL, largest",
        f"{_MAX} {_STAGES} {_SENDER}",
        0.1,
        label_noun="stage",
    ),
    Metric(
        "replication.lag", "s", Better.LOWER, "Replication lag", f"{_MEAN} {_STAGES} {_SENDER}", 0.1, label_noun="stage"
    ),
    Metric(
        "replication.lag.max",
        "s",
        Better.LOWER,
        "Replication lag, largest",
        f"{_MAX} {_STAGES} {_SENDER}",
        0.1,
        label_noun="stage",
    ),
    Metric("replication.replay_age", "s", Better.LOWER, "Age of what is replayed", f"{_MEAN} {_AGE}", 0.1),
    Metric("replication.replay_age.max", "s", Better.LOWER, "Age of what is replayed, largest", f"{_MAX} {_AGE}", 0.1),
    Metric(
        "replication.catch_up",
        "s",
        Better.LOWER,
        "Time to catch up after the load",
        "From the end of the measured window until all WAL of the load was replayed; 0 where it was when first asked.",
        0.1,
    ),
)

SPEC = CollectorSpec(
    name="replication",
    title="Replication lag",
    help="How far each standby or subscriber is behind, in bytes and in seconds, once a second, and how long it takes "
    "to catch up when the load has ended. PostgreSQL 11 and later.",
    on="servers",
    metrics=METRICS,
)
