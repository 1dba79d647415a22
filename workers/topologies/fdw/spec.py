"""What the postgres_fdw topology declares. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from results.domain.errors import Problem
from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import PRIMARY, Role, TopologySpec
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.replication.standby_parameters import CONNECTION

FIRST_VERSION = 110000  # from here on rows find their way into foreign partitions
FIRST_WITH_ASYNC = 140000
HASH = "hash"

SHARDS = Parameter(
    pgettext_lazy("parameter", "shards"),
    Kind.INTEGER,
    2,
    _("Over how many servers the large tables are shared out."),
    1,
    8,
    loads=True,
)
METHOD = Parameter(
    pgettext_lazy("parameter", "method"),
    Kind.CHOICE,
    HASH,
    _("How rows are shared out by their key: by its hash, or by ranges of equal length."),
    choices=(HASH, "range"),
    loads=True,
)
LEAST_ROWS = Parameter(
    pgettext_lazy("parameter", "least_rows"),
    Kind.INTEGER,
    10_000,
    _("Which tables are large: those of at least so many rows. Smaller ones stay on the primary."),
    1,
    1_000_000_000_000,
    loads=True,
)
ASYNC_CAPABLE = Parameter(
    "async_capable",
    Kind.BOOLEAN,
    False,
    _("A scan of several shards asks all of them at once and not one after the other (14 and later)."),
)
FETCH_SIZE = Parameter("fetch_size", Kind.INTEGER, 100, _("Rows fetched from a shard at a time."), 1, 1_000_000)
USE_REMOTE_ESTIMATE = Parameter(
    "use_remote_estimate", Kind.BOOLEAN, False, _("The shards are asked for costs when a query is planned.")
)
BATCH_SIZE = Parameter(
    "batch_size", Kind.INTEGER, 1, _("Rows inserted into a shard at a time (14 and later)."), 1, 65_535
)


def nodes(parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Name the primary, then the shards."""
    return ("primary", *(f"shard{number}" for number in range(1, int(parameters["shards"]) + 1)))


def problems(parameters: Mapping[str, Scalar], version_num: int) -> Iterator[Problem]:
    """Yield what this PostgreSQL version cannot do, and asynchronous scans of a single shard."""
    if version_num < FIRST_VERSION:
        what = _("Before PostgreSQL 11 no row finds its way into a foreign partition.")
        yield Problem("shards", what, _("Choose PostgreSQL 11 or later."))
    if parameters["async_capable"] and int(parameters["shards"]) == 1:
        what = _("A scan of one shard waits for no other.")
        yield Problem("async_capable", what, _("Take two shards or more, or exclude this combination."))
    if version_num >= FIRST_WITH_ASYNC:
        return
    for name, default in (("async_capable", False), ("batch_size", 1)):
        if parameters[name] != default:
            what = _("postgres_fdw has {option} from version 14 on.", option=name)
            yield Problem(name, what, _("Choose PostgreSQL 14 or later."))


SPEC = TopologySpec(
    name="fdw",
    title=_("Sharding by postgres_fdw"),
    help=_("The workload's large tables lie on other servers, as foreign partitions of the primary's tables."),
    roles=(PRIMARY, Role("shard")),
    parameters=(
        SHARDS,
        METHOD,
        ASYNC_CAPABLE,
        FETCH_SIZE,
        USE_REMOTE_ESTIMATE,
        BATCH_SIZE,
        LEAST_ROWS,
        CONNECTION,
    ),
    nodes=nodes,
    problems=problems,
    holders=("primary", "shard"),
    shares=("shard",),
    extensions=("postgres_fdw",),
)
