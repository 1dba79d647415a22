"""What every plan says besides its workload's and topology's parameters. Pure."""

from __future__ import annotations

from results.domain.kinds.parameters import Kind, Parameter
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from results.domain.states import Standing

NAME = r"[^\x00-\x1f\"'`$\\<>;|&]{1,120}"

TEXTS = (
    Parameter(
        pgettext_lazy("parameter", "name"),
        Kind.TEXT,
        "",
        _("What the plan is called on every page: up to 120 characters, none of them \" ' ` $ \\ < > ; | &."),
        pattern=NAME,
    ),
    Parameter(pgettext_lazy("parameter", "description"), Kind.SCRIPT, "", _("What the plan is to find out.")),
    Parameter(pgettext_lazy("parameter", "workload"), Kind.TEXT, "pgbench", _("What is run.")),
    Parameter(
        pgettext_lazy("parameter", "replicates"),
        Kind.INTEGER,
        3,
        _("Blocks: how often every configuration is measured."),
        1,
        1000,
    ),
    Parameter(
        pgettext_lazy("parameter", "seed"),
        Kind.INTEGER,
        1,
        _("Decides the random order within each block."),
        0,
        2**31 - 1,
    ),
    Parameter(
        pgettext_lazy("parameter", "patience"),
        Kind.NUMBER,
        1,
        _(
            "Factor of every phase's deadline, which Teiten estimates generously: more where honest work takes longer "
            "still, less to give up sooner."
        ),
        minimum=0.01,
        maximum=1000,
    ),
    Parameter(
        pgettext_lazy("parameter", "standing"),
        Kind.CHOICE,
        Standing.EXPLORATORY.value,
        _(
            "What its runs begin as. Versions, access methods, topologies, trends and alerts use kept runs only; what "
            "is exploratory can be kept later, on the run's page."
        ),
        choices=tuple(standing.value for standing in Standing),
    ),
)
NEWEST, OWN = "newest", "own"  # of client_programs
CONDITIONS = (
    Parameter(pgettext_lazy("parameter", "topology"), Kind.TEXT, "single", _("How the servers are arranged.")),
    Parameter(
        pgettext_lazy("parameter", "installation"),
        Kind.TEXT,
        "",
        _("Which PostgreSQL: a version ('16', '16.9') or the name of an installation."),
        pattern=r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,80}",
    ),
    Parameter(
        pgettext_lazy("parameter", "access_method"),
        Kind.TEXT,
        "",
        _("Table access method; empty is the server's default."),
        pattern=r"([a-z_][a-z0-9_]*)?",
    ),
    Parameter(
        pgettext_lazy("parameter", "client_programs"),
        Kind.TEXT,
        "",
        _(
            "Whose psql and pgbench make the load. newest: those of the newest release on the client's agent, so that "
            "only the servers differ; own: those of each installation, where they are meant to be part of what is "
            "compared; or a version or an installation there. Empty: newest where installations are compared, else own."
        ),
        pattern=r"([A-Za-z0-9][A-Za-z0-9 ._+-]{0,80})?",
    ),
    Parameter(
        pgettext_lazy("parameter", "duration_s"),
        Kind.NUMBER,
        60,
        _("Length of the measured window."),
        1,
        7 * 86400,
        unit="s",
    ),
    Parameter(
        pgettext_lazy("parameter", "warmup_s"),
        Kind.NUMBER,
        0,
        _("The load runs this long before the clock starts."),
        0,
        86400,
        unit="s",
    ),
    Parameter(
        pgettext_lazy("parameter", "threads"),
        Kind.TEXT,
        "clients/2",
        _("pgbench threads: 'clients', 'clients/2' (at least 1) or a number."),
        pattern=r"clients(/[1-9][0-9]*)?|[1-9][0-9]*",
    ),
    Parameter(
        pgettext_lazy("parameter", "data"),
        Kind.CHOICE,
        "reuse",
        _(
            "fresh: loaded for every trial; template: copied from a loaded database; "
            "reuse: loaded once and used by all trials with the same data."
        ),
        choices=("fresh", "template", "reuse"),
    ),
    Parameter(
        pgettext_lazy("parameter", "cache"),
        Kind.CHOICE,
        "prewarm",
        _(
            "prewarm: tables read into shared buffers; cold: server restarted and the system's caches dropped; "
            "as-found: nothing is done."
        ),
        choices=("prewarm", "cold", "as-found"),
    ),
)
