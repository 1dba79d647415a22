"""What the endpoints declare. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from results.domain.errors import Problem
from results.domain.kinds.parameters import SHELL_CODE, Kind, Parameter, Scalar
from results.domain.kinds.specs import PRIMARY, Role, Target, TopologySpec
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy

from .listing import PATTERN, endpoints

FIRST, ALL, STANDBYS = "first", "all", "standbys"


def _shell_script(name: str, explanation: str) -> Parameter:
    return Parameter(name, Kind.SCRIPT, "", explanation, shell_with={}, code=SHELL_CODE)


PARAMETERS = (
    Parameter(
        pgettext_lazy("parameter", "endpoints"),
        Kind.TEXT,
        "127.0.0.1:5432",
        _(
            "Where the cluster's servers are reached: host:port role, host:port role, … Roles: coordinator, primary, "
            "standby, pooler. The data is loaded through the first."
        ),
        pattern=PATTERN,
    ),
    Parameter(
        pgettext_lazy("parameter", "user"),
        Kind.TEXT,
        "postgres",
        _("The account on the cluster. Its password stands in ~/.pgpass of the agents' accounts."),
        pattern=r"[A-Za-z_][A-Za-z0-9_.@-]{0,62}",
    ),
    Parameter(
        "sslmode",
        Kind.CHOICE,
        "prefer",
        _("How the connection is encrypted, as libpq has it."),
        choices=("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    ),
    Parameter(
        "load",
        Kind.CHOICE,
        ALL,
        _(
            "Which of them take load, each from clients of its own: all of them, the first, or the standbys (for "
            "workloads that only read)."
        ),
        choices=(ALL, FIRST, STANDBYS),
    ),
    _shell_script(pgettext_lazy("parameter", "before"), _("Shell commands for the client's agent before each trial.")),
    _shell_script(pgettext_lazy("parameter", "after"), _("Shell commands for the client's agent after each trial.")),
)


def nodes(parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    """The first endpoint is `primary`, the others `endpoint2`, `endpoint3`, …"""
    count = len(str(parameters["endpoints"]).split(","))
    return ("primary", *(f"endpoint{number}" for number in range(2, count + 1)))


def targets(parameters: Mapping[str, Scalar]) -> tuple[Target, ...]:
    """Which endpoints take load."""
    names = nodes(parameters)
    if parameters["load"] == FIRST:
        return (Target(names[0]),)
    try:
        listed = endpoints(str(parameters["endpoints"]))
    except ValueError:  # `problems` says so
        return tuple(Target(name) for name in names)
    wanted = [n for n, one in zip(names, listed, strict=True) if one.standby or parameters["load"] == ALL]
    return tuple(Target(name) for name in wanted)


def problems(parameters: Mapping[str, Scalar], version_num: int) -> Iterator[Problem]:
    """What is wrong with the list."""
    try:
        listed = endpoints(str(parameters["endpoints"]))
    except ValueError as error:
        yield Problem("endpoints", _("{what}.", what=error.args[0]), _("Write host:port role, host:port role, …"))
        return
    if len({(one.host, one.port) for one in listed}) < len(listed):
        yield Problem("endpoints", _("One endpoint is named twice."), _("Each once."))
    if listed[0].standby:
        yield Problem("endpoints", _("The first endpoint is a standby."), _("The data is loaded through the first."))
    if parameters["load"] == STANDBYS and not any(one.standby for one in listed):
        yield Problem("load", _("No endpoint is a standby."), _("Name their roles, or let another one take the load."))


SPEC = TopologySpec(
    name="endpoints",
    title=_("Endpoints of a cluster"),
    help=_(
        "Load on servers that Teiten did not build: Postgres-XC or Citus coordinators, a managed service, a primary "
        "that Patroni or Pacemaker runs."
    ),
    roles=(PRIMARY, Role("endpoint")),
    parameters=PARAMETERS,
    nodes=nodes,
    targets=targets,
    problems=problems,
    outside=True,
)
