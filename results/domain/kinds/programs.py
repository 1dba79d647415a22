"""Programs that kinds need on agents, as their specs name them, and those that Teiten cannot do without. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from results.domain.messages import gettext_lazy as _

EVERY_ROLE = "*"
"""In `programs` of a spec: each role that the kind works on. Of a workload these are the clients, of a topology the
servers and what stands beside them, of a collector the nodes that it watches."""


@dataclass(frozen=True)
class Program:
    """A program that has to be on an agent.

    name: as it is typed.
    packages: what to type to get it, on which distribution: 'Debian, Ubuntu: apt-get install sysstat; …'.
    version: shell command that prints its version, of which the first line counts; the program is "$tool", where it
        was found "$path".
    without: what trials lack where it is missing: then `manage.py doctor` misses it too, and the agent's page says so;
        '' where nobody lacks it but the kind that names it.
    with_postgresql: it comes with an installation of PostgreSQL, and a trial looks for it where psql is."""

    name: str
    packages: str = ""
    version: str = '"$tool" --version'
    without: str = ""
    with_postgresql: bool = False

    @property
    def how_to_get(self) -> str:
        return self.packages or _("install the package that has {program}", program=self.name)


AWK = Program(
    "awk",
    "Debian, Ubuntu: apt-get install mawk; RHEL, Rocky, Fedora: dnf install gawk",
    version='echo "$(readlink -f "$path") $("$tool" -W version 2>&1)"',
    without=_("trials have no latency percentiles"),
)
OWN = (
    AWK,
    Program("find", _("any: the package {package}", package="findutils")),
    Program("flock", _("any: the package {package}", package="util-linux")),
    Program("setsid", _("any: the package {package}", package="util-linux")),
    Program("tar", _("any: the package {package}", package="tar")),
    Program("timeout", _("any: the package {package}", package="coreutils")),
)
"""What Teiten runs and watches its commands with, on every agent."""
