"""What the pgbench workload declares: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import PGBENCH_CODE, SQL_CODE, Kind, Parameter, Scalar
from results.domain.kinds.specs import WorkloadSpec, by_pgbench
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.pgbench.metrics import METRICS
from workers.pgbench.parameters import (
    BACKGROUND,
    CLIENTS,
    CONNECT,
    DEFINE,
    LATENCY_LIMIT_MS,
    MAX_TRIES,
    PER_STATEMENT,
    PROTOCOL,
    RATE,
    SCALE,
    TRANSACTIONS,
    longest,
    tables_bytes,
)
from workers.pgbench.program import PGBENCH

BUILTINS = ("tpcb-like", "simple-update", "select-only")
CUSTOM = "custom"

_NAME = "|".join((*BUILTINS, CUSTOM))
_ONE_SCRIPT = rf"({_NAME})(@\d{{1,9}})?"

PARAMETERS = (
    Parameter(
        pgettext_lazy("parameter", "script"),
        Kind.TEXT,
        "tpcb-like",
        _(
            "What a transaction is: tpcb-like, simple-update, select-only or custom; a weighted mixture as "
            "'select-only@9, simple-update@1' (9.6 and later)."
        ),
        pattern=rf"{_ONE_SCRIPT}(\s*,\s*{_ONE_SCRIPT})*",
        words=(*BUILTINS, CUSTOM),
    ),
    Parameter(
        pgettext_lazy("parameter", "custom_script"),
        Kind.SCRIPT,
        "",
        _("The pgbench script that 'custom' stands for."),
        code=PGBENCH_CODE,
    ),
    Parameter(
        pgettext_lazy("parameter", "setup_script"),
        Kind.SCRIPT,
        "",
        _("SQL run after the pgbench tables are loaded: whatever else a custom script needs."),
        loads=True,
        code=SQL_CODE,
    ),
    DEFINE,
    CLIENTS,
    SCALE,
    PROTOCOL,
    RATE,
    LATENCY_LIMIT_MS,
    CONNECT,
    TRANSACTIONS,
    MAX_TRIES,
    PER_STATEMENT,
    *BACKGROUND,
    Parameter(
        "vacuum",
        Kind.BOOLEAN,
        False,
        _("VACUUM ANALYZE the pgbench tables and empty the history before each trial."),
    ),
    Parameter(
        "fillfactor",
        Kind.INTEGER,
        100,
        _("Fill factor of the tables (-F)."),
        minimum=10,
        maximum=100,
        unit="%",
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "partitions"),
        Kind.INTEGER,
        0,
        _("Partitions of pgbench_accounts; 0 = not partitioned (13 and later)."),
        minimum=0,
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "partition_method"),
        Kind.CHOICE,
        "range",
        _("How pgbench_accounts is partitioned."),
        choices=("range", "hash"),
        loads=True,
    ),
    Parameter(pgettext_lazy("parameter", "unlogged"), Kind.BOOLEAN, False, _("Unlogged tables."), loads=True),
    Parameter(
        pgettext_lazy("parameter", "foreign_keys"),
        Kind.BOOLEAN,
        False,
        _("Foreign keys between the tables."),
        loads=True,
    ),
)


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """Some 15 MB for each scale, more with a lower fill factor. What a setup script makes is not known."""
    return tables_bytes(int(parameters["scale"]), int(parameters["fillfactor"]))


SPEC = WorkloadSpec(
    name="pgbench",
    title="pgbench",
    help=_(
        "PostgreSQL's own load generator: the TPC-B-like, simple-update and select-only scripts, weighted "
        "mixtures of them, or a script of your own."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    several=by_pgbench,
    longest=longest,
    programs={"client": (PGBENCH,)},
)
