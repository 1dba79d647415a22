"""What the single topology declares. Pure."""

from results.domain.kinds.parameters import Kind, Parameter
from results.domain.kinds.specs import PRIMARY, TopologySpec
from results.domain.messages import gettext_lazy as _

SPEC = TopologySpec(
    name="single",
    title=_("Single server"),
    help=_("One PostgreSQL server; the client runs on the same agent or on another."),
    roles=(PRIMARY,),
    parameters=(
        Parameter(
            "connection",
            Kind.CHOICE,
            "auto",
            _("How the client connects. auto: by Unix socket on one machine, by TCP between two."),
            choices=("auto", "socket", "tcp"),
        ),
    ),
    clusters=lambda parameters, node: "",
)
