"""What the pgpool topology declares. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from results.domain.errors import Problem
from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import PRIMARY, Role, RoleKind, Target, TopologySpec, cluster_name
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.pgpool.program import PROGRAM
from workers.replication.failover_parameters import FAILOVER, FAILOVER_AT_S, HANG, KILL, NONE, STOP, loses_until_s
from workers.replication.standby_parameters import CONNECTION, FIRST_VERSION

STREAMING, NATIVE = "streaming_replication", "native_replication"
PGPOOL, DIRECT = "pgpool", "direct"
ONE, EACH = "one", "per-server"
SESSION, STATEMENT, OFF = "session", "statement", "off"
POOLER = "pooler"
SPARE_CHILDREN = 4  # for Teiten's own questions
_WITH_PGPOOL = {"through": (PGPOOL,)}
_WITH_FAILOVER = {"failover": (STOP, KILL, HANG)}

MODE = Parameter(
    pgettext_lazy("parameter", "mode"),
    Kind.CHOICE,
    STREAMING,
    _(
        "How the servers come to the same data. streaming_replication: a primary and standbys; native_replication: "
        "pgpool-II sends every write to each of several primaries."
    ),
    choices=(STREAMING, NATIVE),
)
SERVERS = Parameter(
    pgettext_lazy("parameter", "servers"), Kind.INTEGER, 2, _("How many PostgreSQL servers there are."), 1, 8
)
THROUGH = Parameter(
    pgettext_lazy("parameter", "through"),
    Kind.CHOICE,
    PGPOOL,
    _("Where the load goes: through pgpool-II, or directly to the servers, as the baseline."),
    choices=(PGPOOL, DIRECT),
)
CLIENT_SETS = Parameter(
    pgettext_lazy("parameter", "client_sets"),
    Kind.CHOICE,
    ONE,
    _(
        "one: one set of clients in all. per-server: as many sets as there are servers, each of as many clients as the "
        "plan says; directly each set has a server of its own, so the workload must only read where these are standbys."
    ),
    choices=(ONE, EACH),
)
LOAD_BALANCE = Parameter(
    pgettext_lazy("parameter", "load_balance"),
    Kind.CHOICE,
    SESSION,
    _(
        "Who draws the server to read from. session: each client's session when it begins; statement: every SELECT; "
        "off: nobody, all read from the first."
    ),
    choices=(SESSION, STATEMENT, OFF),
    only_with=_WITH_PGPOOL,
)
CONNECTION_CACHE = Parameter(
    pgettext_lazy("parameter", "connection_cache"),
    Kind.BOOLEAN,
    True,
    _("pgpool-II keeps its connections to the servers when a client leaves."),
    only_with=_WITH_PGPOOL,
)
QUERY_CACHE = Parameter(
    pgettext_lazy("parameter", "query_cache"),
    Kind.BOOLEAN,
    False,
    _("pgpool-II keeps results of SELECT in shared memory until their tables change."),
    only_with=_WITH_PGPOOL,
)
CHILDREN = Parameter(
    "num_init_children",
    Kind.INTEGER,
    0,
    _("How many clients pgpool-II serves at once; 0: as many as the trial has, and {spare}.", spare=SPARE_CHILDREN),
    0,
    10_000,
    only_with=_WITH_PGPOOL,
)

LOSS = replace(
    FAILOVER,
    help=_(
        "How the primary is lost in mid-run, in streaming replication; pgpool-II finds out by itself and promotes a "
        "standby. stop: a fast shutdown; kill: kill -9 of all its processes; hang: it is frozen (SIGSTOP) until the "
        "end of the window, so that only health checks tell."
    ),
    choices=(NONE, STOP, KILL, HANG),
    only_with={"mode": (STREAMING,), **_WITH_PGPOOL},
)
HEALTH_CHECKS = (
    Parameter(
        "health_check_period",
        Kind.INTEGER,
        5,
        _("How long pgpool-II waits between two health checks of a server."),
        1,
        3600,
        unit="s",
        only_with=_WITH_FAILOVER,
    ),
    Parameter(
        "health_check_timeout",
        Kind.INTEGER,
        5,
        _("How long it waits for a server's answer to one."),
        1,
        3600,
        unit="s",
        only_with=_WITH_FAILOVER,
    ),
    Parameter(
        "health_check_max_retries",
        Kind.INTEGER,
        0,
        _("How often it asks again before it gives the server up."),
        0,
        1000,
        only_with=_WITH_FAILOVER,
    ),
    Parameter(
        "health_check_retry_delay",
        Kind.INTEGER,
        1,
        _("How long it waits before it asks again."),
        0,
        3600,
        unit="s",
        only_with=_WITH_FAILOVER,
    ),
    Parameter(
        "failover_on_backend_error",
        Kind.BOOLEAN,
        True,
        _(
            "Whether it gives a server up as soon as a connection to it breaks off, and does not wait for a health "
            "check."
        ),
        only_with=_WITH_FAILOVER,
    ),
)


def servers(parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Name the primary, then its standbys; or the other primaries, numbered from 2."""
    count = int(parameters["servers"])
    if parameters["mode"] == STREAMING:
        return ("primary", *(f"standby{number}" for number in range(1, count)))
    return ("primary", *(f"node{number}" for number in range(2, count + 1)))


def nodes(parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Name the servers, then the pooler if there is one."""
    return (*servers(parameters), *((POOLER,) if parameters["through"] == PGPOOL else ()))


def collectors(parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Return the collectors of this topology: only standbys have a lag."""
    return ("pgpool", "replication") if parameters["mode"] == STREAMING else ("pgpool",)


def targets(parameters: Mapping[str, Scalar]) -> tuple[Target, ...]:
    """Return the target of each set of clients."""
    if parameters["through"] == DIRECT:
        return tuple(Target(node) for node in servers(parameters)) if _each(parameters) else (Target("primary"),)
    if not _each(parameters):
        return (Target(POOLER),)
    return tuple(Target(POOLER, name=f"set{number}") for number in range(1, int(parameters["servers"]) + 1))


def problems(parameters: Mapping[str, Scalar], version_num: int) -> Iterator[Problem]:
    """Yield what this PostgreSQL version cannot do, and failovers that cannot be made or measured."""
    if version_num < FIRST_VERSION:
        what = _("Before PostgreSQL 12 a standby is configured in another way, which Teiten does not know.")
        yield Problem("mode", what, _("Choose PostgreSQL 12 or later."))
    if parameters["failover"] == NONE:
        return
    if parameters["mode"] != STREAMING or parameters["through"] != PGPOOL or int(parameters["servers"]) < 2:
        what = _("pgpool-II promotes a standby in streaming replication, and here it has none to promote.")
        todo = _("Set mode to streaming_replication, through to pgpool, servers to 2 or more; or have no failover.")
        yield Problem("failover", what, todo)
    if _each(parameters):
        what = _("A failover is measured by one set of clients.")
        yield Problem("client_sets", what, _("Set it to one, or have no failover."))


def limit_problems(parameters: Mapping[str, Scalar], clients: int) -> Iterator[Problem]:
    """Yield a Problem for more clients than pgpool-II serves at once: the rest would wait, and pgbench too."""
    limit = int(parameters["num_init_children"])
    if parameters["through"] == PGPOOL and 0 < limit < clients:
        what = _("{clients} clients, but pgpool-II serves {limit} at once.", clients=clients, limit=limit)
        todo = _("Set it to {least} or more, or to 0.", least=clients + SPARE_CHILDREN)
        yield Problem("num_init_children", what, todo)


def clusters(parameters: Mapping[str, Scalar], node: str) -> str:
    """Return the cluster's name: native replication shares none with a primary of standbys."""
    return cluster_name("pgpool" if parameters["mode"] == STREAMING else "pgpool-native", node)


def _each(parameters: Mapping[str, Scalar]) -> bool:
    return parameters["client_sets"] == EACH


SPEC = TopologySpec(
    name="pgpool",
    title="pgpool-II",
    help=_(
        "Servers behind pgpool-II, which balances reads, keeps connections and caches results; or the same servers "
        "without it, as the baseline."
    ),
    roles=(PRIMARY, Role("standby"), Role("node"), Role(POOLER, RoleKind.POOLER, "pgpool-II")),
    parameters=(
        MODE,
        SERVERS,
        THROUGH,
        CLIENT_SETS,
        LOAD_BALANCE,
        CONNECTION_CACHE,
        QUERY_CACHE,
        CHILDREN,
        LOSS,
        FAILOVER_AT_S,
        *HEALTH_CHECKS,
        replace(CONNECTION, help=_("How all connect. auto: by Unix socket within one machine, by TCP between two.")),
    ),
    nodes=nodes,
    targets=targets,
    problems=problems,
    limit_problems=limit_problems,
    collectors_of=collectors,
    programs={POOLER: (PROGRAM,)},
    loses_until_s=loses_until_s,
    clusters=clusters,
)
