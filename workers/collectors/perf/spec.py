"""What perf declares. Pure."""

from __future__ import annotations

from results.domain.kinds.programs import AWK, EVERY_ROLE, Program
from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric

TOP_FUNCTIONS = 10

METRICS = (
    Metric("perf.samples", "1", Better.NEITHER, "Samples of call stacks", "From perf, of all processes.", 0.1),
    Metric("perf.lost", "1", Better.LOWER, "Samples lost", "Taken by the kernel, not written by perf.", 0.1),
    Metric(
        "perf.processors",
        "1",
        Better.NEITHER,
        "Processors that the samples stand for",
        "Samples in each second watched, divided by the frequency.",
        0.1,
    ),
    Metric("perf.seconds", "s", Better.NEITHER, "Time watched by perf", "Part of the measured window.", 0.1),
    Metric(
        "perf.share",
        "%",
        Better.NEITHER,
        "Share of samples in a function",
        f"Its own, without what it calls. The {TOP_FUNCTIONS} functions with most. Label: the function.",
        0.1,
        label_noun="function",
    ),
)

PERF = Program(
    "perf",
    "Debian: apt-get install linux-perf; Ubuntu: apt-get install linux-tools-generic; "
    "RHEL, Rocky, Fedora: dnf install perf",
)
PS = Program("ps", "Debian, Ubuntu: apt-get install procps; RHEL, Rocky, Fedora: dnf install procps-ng")

SPEC = CollectorSpec(
    name="perf",
    title="perf",
    help="Call stacks of the primary's processes, sampled 99 times a second by perf for up to 10 s in the middle of "
    "the measured window: a flame chart of where the processor's time goes, to be compared with that of another "
    "configuration. It needs perf on the agent and a kernel that lets the agent's account watch its own processes.",
    on="primary",
    metrics=METRICS,
    programs={EVERY_ROLE: (PERF, PS, AWK)},
)
