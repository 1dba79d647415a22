"""What the logical topology declares. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from results.domain.errors import Problem
from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import PRIMARY, Role, Target, TopologySpec
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.replication.standby_parameters import CONNECTION, OFF, targets_among

FIRST_VERSION = 100000
FIRST_WITH_STREAMING = 140000
_FIRST_WITH = {"on": FIRST_WITH_STREAMING, "parallel": 160000}

SUBSCRIBERS = Parameter(
    pgettext_lazy("parameter", "subscribers"),
    Kind.INTEGER,
    1,
    _("How many servers subscribe to the primary's tables."),
    1,
    8,
)
STREAMING = Parameter(
    pgettext_lazy("parameter", "streaming"),
    Kind.CHOICE,
    OFF,
    _(
        "Transactions that outgrow logical_decoding_work_mem: off: sent when they commit; on: sent while they run, "
        "applied when they commit (14 and later); parallel: applied by further workers while they run (16 and later)."
    ),
    choices=(OFF, "on", "parallel"),
)
SYNCHRONOUS = Parameter(
    pgettext_lazy("parameter", "synchronous"),
    Kind.CHOICE,
    OFF,
    _(
        "What a commit at the primary waits for. off: no subscriber; remote_write: every subscriber has taken it; on: "
        "it is on every subscriber's disk; remote_apply: a query at any of them would see it."
    ),
    choices=(OFF, "remote_write", "on", "remote_apply"),
)
SUBSCRIBER_COMMIT = Parameter(
    pgettext_lazy("parameter", "subscriber_commit"),
    Kind.CHOICE,
    OFF,
    _(
        "synchronous_commit of the subscriptions. on: a change counts as applied when it is on the subscriber's disk; "
        "off: before."
    ),
    choices=(OFF, "on"),
)
LOAD = Parameter(
    "load",
    Kind.CHOICE,
    "primary",
    _(
        "Which servers take load: the primary, the subscribers (each from clients of its own, so a workload that only "
        "reads), or both."
    ),
    choices=("primary", "subscribers", "both"),
)
READS = Parameter(
    "reads",
    Kind.CHOICE,
    "select-only",
    _(
        "What the subscribers run where both take load: pgbench's select-only, whose numbers stay each subscriber's "
        "own, or the workload itself, which then must only read."
    ),
    choices=("select-only", "workload"),
)


def nodes(parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Name the primary, then the subscribers."""
    return ("primary", *_subscribers(parameters))


def targets(parameters: Mapping[str, Scalar]) -> tuple[Target, ...]:
    """Return the servers that take load, by `load` and `reads`."""
    return targets_among(_subscribers(parameters), parameters)


def problems(parameters: Mapping[str, Scalar], version_num: int) -> Iterator[Problem]:
    """Yield what this PostgreSQL version cannot do."""
    if version_num < FIRST_VERSION:
        what = _("PostgreSQL has logical replication of tables from version 10 on.")
        yield Problem("subscribers", what, _("Choose PostgreSQL 10 or later."))
    streaming = str(parameters["streaming"])
    first = _FIRST_WITH.get(streaming, FIRST_VERSION)
    if FIRST_VERSION <= version_num < first:
        what = _(
            "A subscription has streaming = {value} from version {version} on.",
            value=streaming,
            version=first // 10000,
        )
        yield Problem("streaming", what, _("Choose a later PostgreSQL, or off."))


def expected_state_of(parameters: Mapping[str, Scalar]) -> str:
    """Return the sync_state of pg_stat_replication that each subscriber is to have."""
    return "async" if parameters["synchronous"] == OFF else "sync"


def _subscribers(parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    return tuple(f"subscriber{number}" for number in range(1, int(parameters["subscribers"]) + 1))


SPEC = TopologySpec(
    name="logical",
    title=_("Logical replication"),
    help=_("A primary that publishes the workload's tables, and subscribers that apply its changes."),
    roles=(PRIMARY, Role("subscriber")),
    parameters=(SUBSCRIBERS, STREAMING, SYNCHRONOUS, SUBSCRIBER_COMMIT, LOAD, READS, CONNECTION),
    nodes=nodes,
    targets=targets,
    problems=problems,
    holders=("primary", "subscriber"),
    collectors=("replication",),
)
