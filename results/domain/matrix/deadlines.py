"""When a phase of a trial has surely gone wrong: by what it has to do, far beyond what it ever took. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import GRACE_S, timed_limit_s
from results.domain.matrix import TrialSpec
from results.domain.plan import Kinds

SLOW_BYTES_A_SECOND = 250e3  # a hundredth of what a modest machine loads
_SERVER_S, _FACTOR_S = 900.0, 900.0  # to make and start one server; to set one host factor
_TIMES_PAST = 20.0
_UNKNOWN_BYTES = 10e9


def deadlines(spec: TrialSpec, kinds: Kinds, past_s: float | None = None) -> dict[str, float]:
    """Phase → seconds until its deadline.

    The plan's `patience` multiplies all but the times that the plan itself states.

    past_s: how long the measured window was in trials that did this very work: where nobody knows it before, what
        takes twenty times as long hangs, but never within an hour."""
    workload, patience = kinds.workloads[spec.workload], spec.patience
    size = workload.disk_bytes(spec.parameters)
    data_s = (_UNKNOWN_BYTES if size is None else size) / SLOW_BYTES_A_SECOND
    longest = workload.longest(spec.parameters, spec.duration_s)
    measured_s = workload.measured_s(spec.parameters, spec.duration_s)
    if measured_s is not None:
        measure_s = timed_limit_s(measured_s, patience)
    elif longest.stated:
        measure_s = longest.measure_s
    elif past_s is None:
        measure_s = longest.measure_s * patience
    else:
        measure_s = min(longest.measure_s, max(GRACE_S, _TIMES_PAST * past_s)) * patience
    load_s = data_s if longest.load_s is None else longest.load_s
    return {
        "prepare": (GRACE_S + _SERVER_S * len(spec.servers) + _FACTOR_S * len(spec.host)) * patience,
        "load": (GRACE_S + load_s) * patience,
        "arrange": (GRACE_S + data_s * len(spec.servers)) * patience,
        "warm": timed_limit_s(spec.warmup_s, patience) + (GRACE_S + data_s + longest.warm_s) * patience,
        "verify": (GRACE_S + data_s) * patience,
        "watch": GRACE_S * patience,
        "measure": measure_s,
        "collect": GRACE_S * patience + measure_s,
        "audit": (GRACE_S + data_s) * patience + measure_s,
    }
