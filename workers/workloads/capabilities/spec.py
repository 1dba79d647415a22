"""What the capability checks declare: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import GRACE_S, Longest, WorkloadSpec
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy

_BYTES = 600_000_000  # three clusters at once, with their write-ahead log
_BYTES_PER_ROW = 4_000
# The names of the modules' checks, in their order: a plan is checked against them without loading what runs them.
CHECKS = (
    "analyze",
    "cluster",
    "reindex",
    "truncate",
    "vacuum",
    "vacuum_full",
    "copy",
    "foreign_keys",
    "on_conflict",
    "updates",
    "fillfactor",
    "toast",
    "pgstattuple",
    "index_btree",
    "index_brin",
    "index_gin",
    "index_gist",
    "index_hash",
    "index_expression",
    "index_partial",
    "index_spgist",
    "index_unique",
    "partitioning",
    "parallel_query",
    "row_locks",
    "savepoints",
    "serializable",
    "snapshots",
    "base_backup",
    "logical",
    "crash_recovery",
    "streaming",
)
_CHECK = "|".join(CHECKS)

PARAMETERS = (
    Parameter(
        pgettext_lazy("parameter", "rows"),
        Kind.INTEGER,
        2000,
        _("Rows of the tables that the checks make and compare."),
        minimum=500,
        maximum=200_000,
    ),
    Parameter(
        pgettext_lazy("parameter", "checks"),
        Kind.TEXT,
        "",
        _("Only these checks, by name, with commas between them; empty for all of them."),
        pattern=rf"\s*(({_CHECK})\s*(,\s*({_CHECK})\s*)*)?",
        words=CHECKS,
    ),
    Parameter(
        pgettext_lazy("parameter", "deadline"),
        Kind.NUMBER,
        300,
        _("After this time a check is given up, with the outcome unknown."),
        minimum=10,
        maximum=86400,
        unit="s",
    ),
)

METRICS = (
    Metric("capabilities.yes", "1", Better.HIGHER, _("Capabilities that hold"), _("Checks with the outcome yes.")),
    Metric("capabilities.partly", "1", Better.NEITHER, _("Capabilities that hold in part"), _("Outcome partly.")),
    Metric(
        "capabilities.chose_not_to",
        "1",
        Better.NEITHER,
        _("Capabilities that the planner made no use of"),
        _("Outcome chose-not-to."),
    ),
    Metric(
        "capabilities.fails_differently",
        "1",
        Better.LOWER,
        _("Capabilities with another SQLSTATE than is due"),
        _("Outcome fails-differently."),
    ),
    Metric("capabilities.cannot", "1", Better.LOWER, _("Capabilities that do not hold"), _("Outcome cannot.")),
    Metric(
        "capabilities.no",
        "1",
        Better.LOWER,
        _("Capabilities that do not hold, or fail differently, or that the planner made no use of"),
        _("Outcome no, of trials from before these three were told apart."),
    ),
    Metric("capabilities.unknown", "1", Better.LOWER, _("Capabilities that could not be tried"), _("Outcome unknown.")),
    Metric(
        "check.seconds",
        "s",
        Better.NEITHER,
        _("Time of a check"),
        _("With its database or cluster, by the worker's clock. Label: the capability."),
        0.5,
        label_noun=_("capability"),
    ),
)


def measured_s(parameters: Mapping[str, Scalar], duration_s: float) -> float | None:
    """Return None: the run lasts until the last check ends."""
    return None


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """Estimate the space that checks use for a time; nothing is loaded."""
    return _BYTES + _BYTES_PER_ROW * int(parameters["rows"])


def typical_s(parameters: Mapping[str, Scalar], duration_s: float) -> float:
    """A second or two for each check."""
    named = len([name for name in str(parameters["checks"]).split(",") if name.strip()])
    return 1.5 * (named or len(CHECKS))


def longest(parameters: Mapping[str, Scalar], duration_s: float) -> Longest:
    """Allow every check its deadline, and as long again to remove what it left."""
    named = len([name for name in str(parameters["checks"]).split(",") if name.strip()])
    return Longest(measure_s=GRACE_S + (named or len(CHECKS)) * 2 * float(parameters["deadline"]))


SPEC = WorkloadSpec(
    name="capabilities",
    title=_("Capability checks"),
    help=_(
        "What a table access method can do: maintenance, indexes of every kind, transactions, backup, replication, "
        "recovery. Each check does the thing and compares contents; the answer is yes, partly, chose not to, fails "
        "differently, cannot or unknown, with the statement that decided."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    headline="capabilities.yes",
    minimum_version=110000,
    measured_s=measured_s,
    longest=longest,
    typical_s=typical_s,
    loads_in_window=True,
)
