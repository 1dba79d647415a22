"""What a bundle says, as plain values that cross from workers into the warehouse. Pure.

Times of series, events and heat maps are seconds relative to the start of the measured window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from results.domain.environment.layers import Layer
from results.domain.measurement.histogram import HeatMap, Histogram
from results.domain.measurement.metrics import Metric
from results.domain.measurement.series import Series


@dataclass(frozen=True)
class Measurement:
    """One value of a metric in one trial.

    value: in the metric's unit.
    node: role (`primary`, `client`), '' for the trial as a whole.
    label: which of several (script, statement, table, phase), '' for the total.
    """

    metric: str
    value: float
    node: str = ""
    label: str = ""


@dataclass(frozen=True)
class Latencies:
    """Every transaction's latency of one script on one client node.

    label: script name, '' for all scripts.
    histogram: of the whole window.
    heat: second by second.
    """

    node: str
    label: str
    histogram: Histogram
    heat: HeatMap


@dataclass(frozen=True)
class Event:
    """Something that happened at a moment.

    at_s: seconds since the start of the measured window.
    kind: short and stable (`checkpoint`, `autovacuum`, `error`).
    """

    at_s: float
    node: str
    kind: str
    text: str


@dataclass(frozen=True)
class Gap:
    """What could not be gathered, and why. It costs a series, and the trial only where the plan requires its source.

    source: the workload or collector that lacks it.
    """

    source: str
    node: str
    reason: str


@dataclass(frozen=True)
class Document:
    """Something structured that is no number: a query's plan, an answer to a check, sampled stacks.

    kind: short and stable (`plan`, `capability`, `stacks`).
    label: which of them (`q1.1`).
    content: JSON-ready.
    """

    kind: str
    label: str
    content: Any
    node: str = ""


@dataclass(frozen=True)
class LayerUse:
    """A layer of the environment and the role it describes."""

    node: str
    layer: Layer


@dataclass(frozen=True)
class Part:
    """What one workload or collector read from its own files.

    metrics: those that only the output can name; the spec declares all others.
    failure: set when the files themselves say that the trial failed (an aborted pgbench): the numbers are kept,
        shown, and stay out of every aggregate.
    """

    measurements: tuple[Measurement, ...] = ()
    series: tuple[Series, ...] = ()
    latencies: tuple[Latencies, ...] = ()
    events: tuple[Event, ...] = ()
    layers: tuple[LayerUse, ...] = ()
    gaps: tuple[Gap, ...] = ()
    documents: tuple[Document, ...] = ()
    metrics: tuple[Metric, ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class Check:
    """One thing verified before the clock started."""

    name: str
    node: str
    expected: str
    actual: str
    passed: bool


@dataclass(frozen=True)
class PhaseTiming:
    """One phase of an attempt.

    offset_s: its begin, since the attempt's start.
    seconds: how long it took.
    """

    name: str
    offset_s: float
    seconds: float
    ok: bool = True


@dataclass(frozen=True)
class CommandRun:
    """A command exactly as run on an agent.

    exit_status: None where a signal or a lost connection ended it.
    seconds: how long it took.
    """

    node: str
    phase: str
    command: str
    exit_status: int | None
    seconds: float


@dataclass(frozen=True)
class RawFile:
    """One file of the bundle."""

    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class ParsedTrial:
    """All that a bundle says of one attempt.

    trial_key: '<run>/<trial>' as in the manifest.
    measured_from, measured_to: None where the measured window was never reached.
    succeeded: the only thing that lets an attempt into an aggregate.
    error: as TeitenError.as_dict(), None where it succeeded.
    named_by_output: of `metrics`, the names of those that only the trial's own output declares.
    """

    trial_key: str
    attempt: int
    started_at: datetime
    measured_from: datetime | None
    measured_to: datetime | None
    succeeded: bool
    error: Mapping[str, Any] | None
    phases: tuple[PhaseTiming, ...]
    commands: tuple[CommandRun, ...]
    checks: tuple[Check, ...]
    files: tuple[RawFile, ...]
    metrics: tuple[Metric, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    series: tuple[Series, ...] = ()
    latencies: tuple[Latencies, ...] = ()
    events: tuple[Event, ...] = ()
    layers: tuple[LayerUse, ...] = ()
    gaps: tuple[Gap, ...] = ()
    documents: tuple[Document, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    named_by_output: frozenset[str] = frozenset()
