"""How long a plan takes: the one estimate that its preview and the ready plans show, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from results.domain.kinds.specs import WorkloadSpec
from results.domain.matrix import TrialSpec
from results.domain.messages import gettext_lazy as _
from results.domain.messages import ngettext_lazy
from results.domain.plan import Plan
from results.queries.runs.estimates import PastTimings, PastWindow, past_seconds, past_window, past_windows

LOAD_BYTES_A_SECOND = 30e6  # a modest machine; only until there are past trials
COPY_BYTES_A_SECOND = 150e6
UNKNOWN_LOAD_S = 10.0  # of data whose size nobody knows before
TRIAL_S = 4.0  # servers started, verified and stopped, caches warmed, files collected


@dataclass(frozen=True)
class Estimate:
    """A run's duration in seconds.

    source: what it rests on, as the end of a sentence.
    guess: nothing of the kind has run yet, so that typical times stand for some of it.
    """

    seconds: float
    source: str
    guess: bool


@dataclass
class PastTrials:
    """What is known of past trials, each workload asked once: a query, and a second where work decides the window."""

    _timings: dict[str, PastTimings] = field(default_factory=dict)
    _windows: dict[str, list[PastWindow]] = field(default_factory=dict)

    def timings(self, workload: str) -> PastTimings:
        if workload not in self._timings:
            self._timings[workload] = past_seconds(workload)
        return self._timings[workload]

    def windows(self, workload: WorkloadSpec) -> list[PastWindow]:
        if workload.name not in self._windows:
            self._windows[workload.name] = past_windows(workload.name, workload.timed_part)
        return self._windows[workload.name]


def estimate(
    plan: Plan, specs: Sequence[TrialSpec], workload: WorkloadSpec, past: PastTrials | None = None
) -> Estimate:
    """Return how long the plan's trials take one after the other."""
    past = past or PastTrials()
    windows, source, guessed = _windows(specs, workload, past)
    measured_s = (sum(windows) + sum(spec.warmup_s for spec in specs)) * plan.replicates
    timings, count = past.timings(plan.workload), len(specs) * plan.replicates
    if timings.trials:
        overhead = ngettext_lazy(
            "the median overhead of {number:,} past trial",
            "the median overhead of {number:,} past trials",
            timings.trials,
        )
        both = _("{windows} and {overhead}", windows=source, overhead=overhead) if source else overhead
        return Estimate(measured_s + timings.seconds * count, both, bool(guessed))
    loading_s = _loading_s(plan, specs, workload)
    warming_s = sum(workload.typical_warm_s(spec.parameters) for spec in specs) * plan.replicates
    typical = _(
        "{durations} and how fast such data typically load: no trial of this workload has run yet",
        durations=source or _("durations"),
    )
    return Estimate(measured_s + loading_s + warming_s + count * TRIAL_S, typical, True)


def _windows(specs: Sequence[TrialSpec], workload: WorkloadSpec, past: PastTrials) -> tuple[list[float], str, int]:
    """Return the length of each configuration's measured window, what is known besides the plan, and how many of them
    are only typical lengths."""
    planned = [workload.measured_s(spec.parameters, spec.duration_s) for spec in specs]
    windows = [window for window in planned if window is not None]
    if len(windows) == len(specs):
        return windows, "", 0
    known, guessed = past.windows(workload), 0
    for spec, window in zip(specs, planned, strict=True):
        if window is None:
            measured = past_window(known, spec.parameters, _part_s(spec, workload))
            guessed += measured is None
            windows.append(workload.typical_s(spec.parameters, spec.duration_s) if measured is None else measured)
    return windows, _source(guessed, len(specs)), guessed


def _source(guessed: int, configurations: int) -> str:
    if not guessed:
        return _("the measured windows of past trials with the same parameters")
    if guessed == configurations:
        return _("how long such work typically takes")
    return _(
        "how long such work typically takes of {guessed} of {configurations} configurations",
        guessed=guessed,
        configurations=configurations,
    )


def _loading_s(plan: Plan, specs: Sequence[TrialSpec], workload: WorkloadSpec) -> float:
    """Return how long loading takes before the clock starts: each data once where trials share it, else for every
    trial."""
    if workload.loads_in_window:
        return 0.0
    loads: dict[object, float] = {}
    for spec in specs:
        size = workload.disk_bytes(spec.parameters)
        seconds = UNKNOWN_LOAD_S if size is None else size / LOAD_BYTES_A_SECOND
        data = tuple(sorted(workload.data_key(spec.parameters).items()))
        loads[(spec.installation, spec.topology, tuple(spec.nodes), data)] = seconds * len(spec.servers)
    once_s = sum(loads.values())
    if plan.conditions["data"] == "fresh":
        return once_s / len(loads) * len(specs) * plan.replicates
    if plan.conditions["data"] == "template":
        copied_s = once_s * LOAD_BYTES_A_SECOND / COPY_BYTES_A_SECOND
        return once_s + copied_s / len(loads) * len(specs) * plan.replicates
    return once_s


def _part_s(spec: TrialSpec, workload: WorkloadSpec) -> float | None:
    return spec.duration_s if workload.part_by_duration(spec.parameters) else None
