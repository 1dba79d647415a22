"""The program of pgpool-II, which a topology and its collector need. Pure."""

from results.domain.kinds.programs import Program
from results.domain.messages import gettext_lazy as _

PROGRAM = Program(
    "pgpool",
    _(
        "Debian, Ubuntu: apt-get install pgpool2; Fedora: dnf install postgresql-pgpool-II; "
        "RHEL, Rocky: dnf install pgpool-II-pg16, of the repository of pgpool-II, by PostgreSQL's major version"
    ),
)
