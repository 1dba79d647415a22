"""The sampler's lines of JSON → series of lag. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.measurement.series import Series
from results.domain.messages import gettext_lazy as _

# (metric, unit, its label → column); label '' is the lag until replayed
_LAGS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    (
        "replication.lag_bytes",
        "B",
        {"": "replay_bytes", "sent": "sent_bytes", "written": "write_bytes", "flushed": "flush_bytes"},
    ),
    ("replication.lag", "s", {"": "replay_s", "written": "write_s", "flushed": "flush_s"}),
)
LAGS = tuple((name, label) for name, _unit, columns in _LAGS for label in columns)


@dataclass(frozen=True)
class Sample:
    """One second of one server.

    at_s: epoch seconds by its clock.
    replayed_all: whether it has replayed all that it received; None on a server that is no standby.
    replayed_at_s: commit time of the last transaction replayed, by the primary's clock; None before the first.
    behind: node → its row of pg_stat_replication.
    """

    at_s: float
    replayed_all: bool | None
    replayed_at_s: float | None
    behind: Mapping[str, Mapping[str, Any]]


def read_samples(text: str, file: str) -> list[Sample]:
    """Read every complete line (a killed psql may leave half of one). Raises ParseError for a damaged one."""
    samples = []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        if not line.strip():
            continue
        try:
            samples.append(_sample(json_text.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ParseError(_("not a sample of replication"), file=file, line=number, text=line) from None
    return samples


def nodes_behind(samples: Sequence[Sample]) -> list[str]:
    """Return every node that the server has sent to, sorted."""
    return sorted({node for sample in samples for node in sample.behind})


def lag_series(samples: Sequence[Sample], start_s: float) -> Iterator[Series]:
    """Compute the lag of each node that the server sends to, filed under that node; NaN where it was not connected.

    start_s: the window's start, epoch seconds by the server's clock.
    """
    at_s = times(samples, start_s)
    for node in nodes_behind(samples):
        rows = [sample.behind.get(node) for sample in samples]
        for name, unit, columns in _LAGS:
            for label, column in columns.items():
                values = tuple(_lag(row, column) for row in rows)
                if not all(math.isnan(value) for value in values):
                    yield Series(name, node, unit, at_s[0], 0.0, values, label, at_s)


def age_series(samples: Sequence[Sample], node: str, start_s: float, ahead_s: float) -> Iterator[Series]:
    """Compute the age of the last transaction that a standby has replayed; 0 while it has replayed all it received.

    After a pause that transaction is old although the standby is not behind: no age exceeds the time since the standby
    had replayed all.
    ahead_s: how far its clock is ahead of the primary's.
    """
    known = [sample for sample in samples if sample.replayed_all is not None]
    if known:
        at_s = times(known, start_s)
        ages = []
        complete_at_s = -math.inf
        for sample in known:
            complete_at_s = sample.at_s if sample.replayed_all else complete_at_s
            age_s = min(_age(sample, ahead_s), sample.at_s - complete_at_s)
            ages.append(round(age_s, 6) if math.isfinite(age_s) else math.nan)
        yield Series("replication.replay_age", node, "s", at_s[0], 0.0, tuple(ages), times_s=at_s)


def _sample(row: Mapping[str, Any]) -> Sample:
    replayed_all, replayed_at = row["replayed_all"], row["replayed_at"]
    behind = {str(standby["node"]): standby for standby in row["standbys"] or ()}
    for standby in behind.values():
        for *_rest, columns in _LAGS:
            for column in columns.values():
                float(0 if standby[column] is None else standby[column])
    return Sample(
        at_s=float(row["at"]),
        replayed_all=None if replayed_all is None else bool(replayed_all),
        replayed_at_s=None if replayed_at is None else float(replayed_at),
        behind=behind,
    )


def times(samples: Sequence[Sample], start_s: float) -> tuple[float, ...]:
    """Return the samples' times in seconds since start_s."""
    return tuple(round(sample.at_s - start_s, 3) for sample in samples)


def _lag(row: Mapping[str, Any] | None, column: str) -> float:
    """Return one lag; NaN where it is unknown. An idle server shows null for a time: then it is 0."""
    if row is None:
        return math.nan
    if row[column] is not None:
        return max(0.0, float(row[column]))  # a standby may have advanced between two readings
    bytes_of = column.removesuffix("_s") + "_bytes"
    return 0.0 if column.endswith("_s") and row[bytes_of] is not None and float(row[bytes_of]) <= 0 else math.nan


def _age(sample: Sample, ahead_s: float) -> float:
    """Return the age in seconds; infinite before anything was replayed."""
    if sample.replayed_at_s is None:
        return math.inf
    return max(0.0, sample.at_s - ahead_s - sample.replayed_at_s)
