"""pgbench as a program that workloads need. Pure."""

from results.domain.kinds.programs import Program
from results.domain.messages import gettext_lazy as _

PGBENCH = Program(
    "pgbench",
    "Debian, Ubuntu: apt-get install postgresql-contrib; RHEL, Rocky, Fedora: dnf install postgresql-contrib",
    without=_("most workloads cannot run"),
    with_postgresql=True,
)
