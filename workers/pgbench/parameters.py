"""Parameters of a pgbench run that workloads share, and the options that they become. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import GRACE_S, Longest, timed_limit_s
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy

from .version import FIRST_WITH_ACCESS_METHODS, FIRST_WITH_DETAILED_FAILURES, require

_DEFINITION = r"[A-Za-z_][A-Za-z0-9_]*=[^,]*"
_FIRST_WITH_TRIES = 150000
_LONGEST_UNTIL_DONE_S = 12 * 3600.0
_SLOW_TRANSACTION_S, _SLOW_OWN_S = 0.5, 30.0  # of pgbench's scripts, with as many others at once; of a plan's own
_BYTES_PER_SCALE = 15_500_000  # accounts with their key, tellers, branches: measured on 16

DEFINE = Parameter(
    pgettext_lazy("parameter", "define"),
    Kind.TEXT,
    "",
    _("Variables for the scripts, as 'name=value, name=value' (-D)."),
    pattern=rf"(\s*{_DEFINITION}(\s*,\s*{_DEFINITION})*)?",
)
CLIENTS = Parameter(
    pgettext_lazy("parameter", "clients"), Kind.INTEGER, 1, _("Concurrent connections (-c)."), minimum=1, maximum=100000
)
PROTOCOL = Parameter(
    pgettext_lazy("parameter", "protocol"),
    Kind.CHOICE,
    "simple",
    _("Query protocol (-M)."),
    choices=("simple", "extended", "prepared"),
)
RATE = Parameter(
    pgettext_lazy("parameter", "rate"),
    Kind.NUMBER,
    0,
    _("Target rate; 0 = as fast as possible (-R)."),
    minimum=0,
    unit="tps",
)
LATENCY_LIMIT_MS = Parameter(
    pgettext_lazy("parameter", "latency_limit_ms"),
    Kind.NUMBER,
    0,
    _("Transactions above this are counted as late, and skipped when a rate is set; 0 = no limit (-L)."),
    minimum=0,
    unit="ms",
)
CONNECT = Parameter(
    pgettext_lazy("parameter", "connect"), Kind.BOOLEAN, False, _("A new connection for each transaction (-C).")
)
TRANSACTIONS = Parameter(
    pgettext_lazy("parameter", "transactions"),
    Kind.INTEGER,
    0,
    _("Transactions of each client (-t); 0 = run for the plan's duration (-T)."),
    minimum=0,
)
MAX_TRIES = Parameter(
    pgettext_lazy("parameter", "max_tries"),
    Kind.INTEGER,
    1,
    _("Tries of a failed transaction (15 and later)."),
    minimum=1,
)
PER_STATEMENT = Parameter(
    pgettext_lazy("parameter", "per_statement"),
    Kind.BOOLEAN,
    False,
    _("Mean latency, failures and retries of each statement (-r)."),
)
ACCOUNTS_PER_SCALE = 100_000
SCALE = Parameter(
    pgettext_lazy("parameter", "scale"),
    Kind.INTEGER,
    1,
    _("Size of the data (-s): 100,000 accounts, some 15 MB, for each 1."),
    minimum=1,
    maximum=1000000,
    loads=True,
)
BACKGROUND = (
    Parameter(
        pgettext_lazy("parameter", "background"),
        Kind.CHOICE,
        "none",
        _("Work on the primary in the midst of the measured window: a CHECKPOINT, or a VACUUM of the database."),
        choices=("none", "checkpoint", "vacuum"),
    ),
    Parameter(
        pgettext_lazy("parameter", "background_at_s"),
        Kind.NUMBER,
        10,
        _("The second of the measured window at which that work begins."),
        minimum=0,
        unit="s",
    ),
)


def longest(parameters: Mapping[str, Scalar], duration_s: float) -> Longest:
    """Return the longest time that a run of a fixed number of transactions may take, at its rate or a very slow one.

    At most twelve hours without a rate.
    """
    transactions = int(parameters.get("transactions", 0))
    rate, clients = float(parameters.get("rate", 0)), int(parameters.get("clients", 1))
    has_custom_script = "custom" in str(parameters.get("script", "custom"))
    slow_s = min(
        _LONGEST_UNTIL_DONE_S, GRACE_S + transactions * (_SLOW_OWN_S if has_custom_script else _SLOW_TRANSACTION_S)
    )
    return Longest(measure_s=slow_s + (timed_limit_s(transactions * clients / rate) if rate else 0.0))


def run_arguments(parameters: Mapping[str, Scalar], *, threads: int, duration_s: float, client: int) -> list[str]:
    """Return the options that decide the load, from those of this module's parameters that the mapping has.

    Without scripts, program, database, progress and log.

    duration_s: rounded up to whole seconds
    client: pgbench's version number
    """
    clients = int(parameters.get("clients", 1))
    arguments = ["-n", "-c", str(clients), "-j", str(max(1, min(threads, clients)))]
    arguments += ["-M", str(parameters.get("protocol", PROTOCOL.default))]
    if int(parameters.get("transactions", 0)):
        arguments += ["-t", str(parameters["transactions"])]
    else:
        arguments += ["-T", str(max(1, math.ceil(duration_s)))]
    return arguments + _optional(parameters, client)


def _optional(parameters: Mapping[str, Scalar], client: int) -> list[str]:
    arguments: list[str] = []
    if rate := float(parameters.get("rate", 0)):
        arguments += ["-R", f"{rate:.12g}"]
    if limit_ms := float(parameters.get("latency_limit_ms", 0)):
        arguments += ["-L", f"{limit_ms:.12g}"]
    if parameters.get("connect"):
        arguments.append("-C")
    if parameters.get("per_statement"):
        arguments.append("-r")
    if int(parameters.get("max_tries", 1)) > 1:
        arguments.append(f"--max-tries={parameters['max_tries']}")
    if client >= FIRST_WITH_DETAILED_FAILURES:
        arguments.append("--failures-detailed")
    for definition in filter(None, (part.strip() for part in str(parameters.get("define", "")).split(","))):
        arguments += ["-D", definition]
    return arguments


def check_version(parameters: Mapping[str, Scalar], client: int) -> None:
    """Raise VerifyError for a parameter that this version of pgbench does not support."""
    if int(parameters.get("max_tries", 1)) > 1:
        require("parameters.max_tries", "pgbench", client, _FIRST_WITH_TRIES)


def check_server(access_method: str, server: int) -> None:
    """Raise VerifyError where the plan names an access method and a server of this version has none."""
    if access_method not in ("", "heap"):
        require("access_method", "PostgreSQL", server, FIRST_WITH_ACCESS_METHODS)


def tables_bytes(scale: int, fillfactor: int = 100) -> int:
    """Return the estimated size of the tables of `pgbench -i` with their keys: some 15 MB for each scale."""
    return int(_BYTES_PER_SCALE * scale * 100 / fillfactor)
