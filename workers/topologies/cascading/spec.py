"""What the cascading topology declares. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from results.domain.errors import Problem
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.specs import PRIMARY, Role, TopologySpec
from results.domain.messages import gettext_lazy as _
from workers.replication.standby_parameters import CONNECTION, LOAD, READS, STANDBYS, targets, version_problems


def nodes(parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Name the primary, the cascading standby, then the standbys that stream from it."""
    return ("primary", "cascade", *(f"standby{number}" for number in range(1, int(parameters["standbys"]) + 1)))


def problems(parameters: Mapping[str, Scalar], version_num: int) -> Iterator[Problem]:
    """Yield what this PostgreSQL version cannot do."""
    yield from version_problems(version_num)


SPEC = TopologySpec(
    name="cascading",
    title=_("Cascading replication"),
    help=_(
        "A primary, one standby that streams from it, and standbys that stream from that one: however many there are, "
        "the primary sends its WAL once."
    ),
    roles=(PRIMARY, Role("cascade"), Role("standby")),
    parameters=(STANDBYS, LOAD, READS, CONNECTION),
    nodes=nodes,
    targets=targets,
    problems=problems,
    collectors=("replication",),
)
