"""What the topology declares. Pure."""

from __future__ import annotations

from results.domain.kinds.parameters import Kind, Parameter
from results.domain.kinds.programs import Program
from results.domain.kinds.specs import PRIMARY, Role, RoleKind, TopologySpec

LEADER = "leader"
SPEC = TopologySpec(
    name="registered",
    title="Registered server",
    help="One server, and a registry that is told where it is.",
    roles=(PRIMARY, Role("registry", RoleKind.SERVICE, "Registry 1.0")),
    parameters=(Parameter("key", Kind.TEXT, LEADER, "Under which key the server is looked for.", pattern="[a-z]+"),),
    programs={"registry": (Program("perl", "Debian, Ubuntu: apt-get install perl"),)},
)
