"""What the streaming topology declares. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from results.domain.errors import Problem
from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import PRIMARY, Role, TopologySpec
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.replication.failover_parameters import (
    FAILOVER,
    FAILOVER_AT_S,
    NONE,
    PROMOTE_AFTER_S,
    in_mid_run,
    loses_until_s,
)
from workers.replication.standby_parameters import (
    CONNECTION,
    LOAD,
    MOST_STANDBYS,
    OFF,
    READS,
    STANDBYS,
    targets,
    version_problems,
)

SYNCHRONOUS = Parameter(
    pgettext_lazy("parameter", "synchronous"),
    Kind.CHOICE,
    OFF,
    _(
        "What a commit waits for. off: nothing at a standby; remote_write: the standby has taken it; on: it is on the "
        "standby's disk; remote_apply: a query there would see it."
    ),
    choices=(OFF, "remote_write", "on", "remote_apply"),
)
QUORUM = Parameter(
    pgettext_lazy("parameter", "quorum"),
    Kind.INTEGER,
    0,
    _("How many standbys a commit waits for, whichever are first; 0: for all of them."),
    0,
    MOST_STANDBYS,
)


def nodes(parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Name the primary, then the standbys."""
    return ("primary", *(f"standby{number}" for number in range(1, int(parameters["standbys"]) + 1)))


def problems(parameters: Mapping[str, Scalar], version_num: int) -> Iterator[Problem]:
    """Yield contradictions: a quorum of more standbys than there are, or one that no commit waits for; a failover while
    standbys are under load."""
    yield from version_problems(version_num)
    quorum, standbys = int(parameters["quorum"]), int(parameters["standbys"])
    if quorum > standbys:
        what = _("A commit cannot wait for {quorum} of {standbys} standbys.", quorum=quorum, standbys=standbys)
        yield Problem("quorum", what, _("Choose fewer."))
    if quorum and parameters["synchronous"] == OFF:
        what = _("A commit waits for no standby, so there is no quorum.")
        yield Problem("quorum", what, _("Set synchronous, or leave the quorum at 0."))
    if parameters["failover"] != NONE and parameters["load"] != "primary":
        what = _("A failover is measured by the clients of the primary, and here the standbys take load as well.")
        yield Problem("load", what, _("Let the load go to the primary, or have no failover."))


def expected_state_of(parameters: Mapping[str, Scalar]) -> str:
    """Return the sync_state of pg_stat_replication that each standby is to have."""
    if parameters["synchronous"] == OFF:
        return "async"
    return "quorum" if int(parameters["quorum"]) else "sync"


SPEC = TopologySpec(
    name="streaming",
    title=_("Streaming replication"),
    help=_("A primary and standbys that stream from it, asynchronously or synchronously."),
    roles=(PRIMARY, Role("standby")),
    parameters=(STANDBYS, SYNCHRONOUS, QUORUM, LOAD, READS, CONNECTION, FAILOVER, FAILOVER_AT_S, PROMOTE_AFTER_S),
    nodes=nodes,
    targets=targets,
    problems=problems,
    collectors=("replication",),
    loses_until_s=loses_until_s,
    in_mid_run=in_mid_run,
)
