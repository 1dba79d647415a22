"""The parameters of a failover in mid-run. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from results.domain.kinds.host_factors import MidRun
from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy

NONE, STOP, KILL, HANG, CUT = "none", "stop", "kill", "hang", "cut"
NETWORK = "network"  # the host factor whose level `cut` an operator defines
_WITH_FAILOVER = {"failover": (STOP, KILL, HANG, CUT)}

FAILOVER = Parameter(
    pgettext_lazy("parameter", "failover"),
    Kind.CHOICE,
    NONE,
    _(
        "How the primary is lost in mid-run. stop: a fast shutdown, as for maintenance; kill: kill -9 of all its "
        "processes; hang: it is frozen (SIGSTOP), keeps its connections without a word, and is killed before a standby "
        "is promoted; cut: its network is cut by the host factor `network` of its agent, and it lives on behind the "
        "cut."
    ),
    choices=(NONE, STOP, KILL, HANG, CUT),
)
FAILOVER_AT_S = Parameter(
    pgettext_lazy("parameter", "failover_at_s"),
    Kind.NUMBER,
    10,
    _("The second of the measured window at which the primary is lost."),
    minimum=2,
    unit="s",
    only_with=_WITH_FAILOVER,
)
PROMOTE_AFTER_S = Parameter(
    pgettext_lazy("parameter", "promote_after_s"),
    Kind.NUMBER,
    0,
    _(
        "How long after the primary is gone (after it froze, for hang) a standby is promoted: what a cluster manager "
        "takes to be sure. 0: at once."
    ),
    minimum=0,
    unit="s",
    only_with=_WITH_FAILOVER,
)


@dataclass(frozen=True)
class FailoverOptions:
    """How the primary is lost, and what takes its place.

    kind: stop, kill, hang, cut.
    at_s: seconds since the start of the measured window.
    promote_after_s: from then; 0 where a pooler decides."""

    kind: str
    at_s: float
    promote_after_s: float


def failover_options(parameters: Mapping[str, Scalar]) -> FailoverOptions | None:
    """Return the failover that a topology's parameters request; None for none, or without such parameters."""
    kind = str(parameters.get("failover", NONE))
    if kind == NONE:
        return None
    return FailoverOptions(kind, float(parameters["failover_at_s"]), float(parameters.get("promote_after_s", 0)))


def loses_until_s(parameters: Mapping[str, Scalar]) -> float | None:
    """Return the second at which a standby is to be promoted, for `TopologySpec`."""
    options = failover_options(parameters)
    return options.at_s + options.promote_after_s if options else None


def in_mid_run(parameters: Mapping[str, Scalar]) -> MidRun | None:
    """Return the cut of the primary's network, for `TopologySpec`."""
    options = failover_options(parameters)
    return MidRun("primary", NETWORK, CUT, "failover") if options and options.kind == CUT else None
