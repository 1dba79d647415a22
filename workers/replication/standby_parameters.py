"""Parameters that topologies with standbys share, and the loads that they imply. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from results.domain.errors import Problem
from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import Target
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy

FIRST_VERSION = 120000  # from here on a standby's settings are settings
MOST_STANDBYS = 16
OFF = "off"

CONNECTION = Parameter(
    pgettext_lazy("parameter", "connection"),
    Kind.CHOICE,
    "auto",
    _("How the client connects. auto: by Unix socket on one machine, by TCP between two."),
    choices=("auto", "tcp"),
)
STANDBYS = Parameter(pgettext_lazy("parameter", "standbys"), Kind.INTEGER, 1, _("How many standbys."), 1, MOST_STANDBYS)
LOAD = Parameter(
    pgettext_lazy("parameter", "load"),
    Kind.CHOICE,
    "primary",
    _(
        "Which servers take load: the primary, the standbys (each from clients of its own, so a workload that only "
        "reads), or both."
    ),
    choices=("primary", "standbys", "both"),
)
READS = Parameter(
    pgettext_lazy("parameter", "reads"),
    Kind.CHOICE,
    "select-only",
    _(
        "What the standbys run where both take load: pgbench's select-only, whose numbers stay each standby's own, or "
        "the workload itself, which then must only read."
    ),
    choices=("select-only", "workload"),
)


def targets(parameters: Mapping[str, Scalar]) -> tuple[Target, ...]:
    """Return which servers take load, by `load` and `reads`."""
    return targets_among([f"standby{number}" for number in range(1, int(parameters["standbys"]) + 1)], parameters)


def targets_among(other_nodes: Sequence[str], parameters: Mapping[str, Scalar]) -> tuple[Target, ...]:
    """Return which of the primary and the other servers take load, by `load` and `reads`.

    `load` is primary, both, or the kind's word for the others.
    """
    if parameters["load"] == "primary":
        return (Target("primary"),)
    if parameters["load"] == "both":
        return (Target("primary"), *(Target(node, parameters["reads"] == "workload") for node in other_nodes))
    return tuple(Target(node) for node in other_nodes)


def version_problems(version_num: int) -> Iterator[Problem]:
    """Yield a problem for a version before 12, whose standbys Teiten cannot configure."""
    if version_num < FIRST_VERSION:
        what = _("Before PostgreSQL 12 a standby is configured in another way, which Teiten does not know.")
        yield Problem("standbys", what, _("Choose PostgreSQL 12 or later."))
