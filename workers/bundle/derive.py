"""Derive metrics from all parts of a bundle together: costs per transaction, phases, overhead. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from results.domain.matrix import TrialSpec
from results.domain.measurement.histogram import Histogram
from results.domain.measurement.histogram import merge as merged_counts
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.messages import gettext_lazy as _
from workers.bundle.costs import costs, total
from workers.bundle.manifest import Manifest
from workers.bundle.steadiness import METRICS as OF_STEADINESS
from workers.bundle.steadiness import steadiness

T = TypeVar("T")

_PER = _(
    "Of the measured window, divided by the transactions in it; where several servers had a part, by the node's own."
)
METRICS = (
    Metric(
        "phase.seconds",
        "s",
        Better.NEITHER,
        _("Duration of a phase"),
        _("By the worker's clock. Label: the phase."),
        0.05,
        label_noun=_("phase"),
    ),
    Metric(
        "overhead.seconds",
        "s",
        Better.LOWER,
        _("Time beyond the measured window"),
        _("The whole attempt without the measured window and the warm-up."),
        0.1,
    ),
    Metric(
        "tps.per_node",
        "tps",
        Better.HIGHER,
        _("Transactions per second, mean of the nodes"),
        _("The total divided by the servers that took load, where there are several."),
        client_overhead=True,
    ),
    Metric(
        "cpu.per_transaction",
        "us",
        Better.LOWER,
        _("CPU per transaction"),
        _(
            "Busy processors of the agent. Of the measured window, divided by the transactions in it; where several "
            "servers had a part, by the node's own."
        ),
        client_overhead=True,
    ),
    Metric(
        "context_switches.per_transaction",
        "1",
        Better.LOWER,
        _("Context switches per transaction"),
        _PER,
        0.05,
        client_overhead=True,
    ),
    Metric("wal.per_transaction", "B", Better.LOWER, _("WAL per transaction"), _PER),
    Metric(
        "blocks.read.per_transaction",
        "1",
        Better.LOWER,
        _("Blocks read per transaction"),
        _(
            "Not found in buffers. Of the measured window, divided by the transactions in it; where several servers "
            "had a part, by the node's own."
        ),
        0.05,
    ),
    Metric("blocks.written.per_transaction", "1", Better.LOWER, _("Blocks written per transaction"), _PER, 0.05),
    *OF_STEADINESS,
)


def merge(parts: Sequence[Part]) -> Part:
    """Return all parts as one, with the first failure among them."""
    return Part(
        measurements=_join(part.measurements for part in parts),
        series=_join(part.series for part in parts),
        latencies=_join(part.latencies for part in parts),
        events=_join(part.events for part in parts),
        layers=_join(part.layers for part in parts),
        gaps=_join(part.gaps for part in parts),
        documents=_join(part.documents for part in parts),
        metrics=_join(part.metrics for part in parts),
        failure=next((part.failure for part in parts if part.failure), ""),
    )


def _join(groups: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(groups))


def add(whole: Part, manifest: Manifest, spec: TrialSpec) -> Part:
    """Return the part with all derived measurements and gaps."""
    checked = _with_exact_latencies(_without_incomplete_log(whole))
    per_transaction, gaps = costs(checked, manifest, spec)
    derived = (
        *_phases(manifest, spec),
        *per_transaction,
        *_per_node(checked, spec),
        *steadiness(checked, manifest, spec),
    )
    return replace(checked, measurements=(*checked.measurements, *derived), gaps=(*checked.gaps, *gaps))


def _phases(manifest: Manifest, spec: TrialSpec) -> Iterator[Measurement]:
    for phase in manifest.phases:
        yield Measurement("phase.seconds", phase.seconds, label=phase.name)
    if manifest.window is not None and manifest.error is None:
        warm_s = sum(phase.seconds for phase in manifest.phases if phase.name == "warm")
        # A workload whose work is done once has no warm-up, whatever the plan says. Added up in this order, stored
        # trials give the very same number when they are read again.
        measured_s = manifest.window[1] - manifest.window[0] + min(spec.warmup_s, warm_s)
        yield Measurement("overhead.seconds", max(0.0, manifest.ended_s - manifest.started_s - measured_s))


def _per_node(whole: Part, spec: TrialSpec) -> Iterator[Measurement]:
    servers = {load.server for load in spec.loads if load.workload}
    tps = total(whole.measurements, "tps")
    if len(servers) > 1 and tps is not None:
        yield Measurement("tps.per_node", tps / len(servers))


def _without_incomplete_log(whole: Part) -> Part:
    """Leave out latencies whose log lacks transactions that pgbench counted, since their percentiles would be wrong."""
    counted = total(whole.measurements, "transactions")
    logs = [item.histogram.total for item in whole.latencies if not item.label]
    logged = sum(logs)
    if counted is None or not logs or logged == counted:
        return whole
    reason = _(
        "pgbench counted {counted:.0f} transactions, its log holds {logged}: percentiles are left out",
        counted=counted,
        logged=logged,
    )
    return replace(
        whole,
        latencies=(),
        measurements=tuple(
            m for m in whole.measurements if not m.metric.startswith("latency.p") and m.metric != "latency.max"
        ),
        gaps=(*whole.gaps, Gap("latency_log", "client", reason)),
    )


def _with_exact_latencies(whole: Part) -> Part:
    """Replace mean and standard deviation of the latency, which pgbench prints rounded to whole microseconds, by those
    of the log's exact counts. What runs beside the workload has no log of all its scripts, and keeps pgbench's."""
    loads = {item.node for item in whole.latencies if not item.label}
    logged: dict[tuple[str, str], list[Histogram]] = defaultdict(list)
    for item in whole.latencies:
        if item.node in loads:
            for node in {item.node, ""}:
                logged[node, item.label].append(item.histogram)
    exact: dict[tuple[str, str, str], float] = {}
    for (node, label), histograms in logged.items():
        together = merged_counts(histograms)
        exact["latency.mean", node, label] = together.mean_us()
        exact["latency.sd", node, label] = together.sd_us()
    return replace(
        whole,
        measurements=tuple(
            replace(m, value=exact.get((m.metric, m.node, m.label), m.value)) for m in whole.measurements
        ),
    )
