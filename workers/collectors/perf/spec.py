"""What perf declares. Pure."""

from __future__ import annotations

from results.domain.kinds.programs import AWK, EVERY_ROLE, Program
from results.domain.kinds.specs import CollectorSpec
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _

TOP_FUNCTIONS = 10

METRICS = (
    Metric("perf.samples", "1", Better.NEITHER, _("Samples of call stacks"), _("From perf, of all processes."), 0.1),
    Metric("perf.lost", "1", Better.LOWER, _("Samples lost"), _("Taken by the kernel, not written by perf."), 0.1),
    Metric(
        "perf.processors",
        "1",
        Better.NEITHER,
        _("Processors that the samples stand for"),
        _("Samples in each second watched, divided by the frequency."),
        0.1,
    ),
    Metric("perf.seconds", "s", Better.NEITHER, _("Time watched by perf"), _("Part of the measured window."), 0.1),
    Metric(
        "perf.share",
        "%",
        Better.NEITHER,
        _("Share of samples in a function"),
        _(
            "Its own, without what it calls. The {number} functions with most. Label: the function.",
            number=TOP_FUNCTIONS,
        ),
        0.1,
        label_noun=_("function"),
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
    help=_(
        "Call stacks of the primary's processes, sampled 99 times a second by perf for up to 10 s in the middle of "
        "the measured window: a flame chart of where the processor's time goes, to be compared with that of another "
        "configuration. It needs perf on the agent and a kernel that lets the agent's account watch its own processes."
    ),
    on="primary",
    metrics=METRICS,
    programs={EVERY_ROLE: (PERF, PS, AWK)},
)
