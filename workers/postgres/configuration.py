"""The text of a cluster's configuration files. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence

from results.domain.errors import Problem, TrialError
from results.domain.kinds.reserved_names import OWN_SETTINGS, setting_is_reserved
from results.domain.messages import gettext_lazy as _

# They show checkpoints and autovacuum in the log of every version; a plan may set other values.
PREFERRED = {"log_checkpoints": "on", "log_autovacuum_min_duration": "0"}
FIRST_WITH_SCRAM = 100000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_LOCAL_HBA = ("local all all trust", "local replication all trust")


def setting_problems(settings: Mapping[str, str]) -> list[Problem]:
    """Return the problems of settings before any server reads them: names, control characters, reserved settings."""
    problems = []
    for name, value in settings.items():
        if not _NAME.fullmatch(name):
            what = _("{name!r} is not the name of a PostgreSQL setting.", name=name)
            problems.append(Problem(f"settings.{name}", what))
        elif setting_is_reserved(name):
            what = _("{setting} is set by Teiten itself.", setting=name)
            problems.append(Problem(f"settings.{name}", what, _("Leave it out.")))
        elif not value.isprintable():
            what = _("The value {value!r} holds a control character.", value=value)
            problems.append(Problem(f"settings.{name}", what))
    return problems


def quote_value(value: str) -> str:
    """Quote a value for postgresql.conf, which reads backslash escapes inside quotes."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def configuration(settings: Mapping[str, str], *, socket_dir: str, listen: str) -> str:
    """Return the text of teiten.conf without its port. Raises TrialError for settings that cannot be written."""
    problems = setting_problems(settings)
    if problems:
        first = problems[0]
        raise TrialError(first.what, where=first.field, todo=first.todo)
    lines = (
        OWN_SETTINGS | {"unix_socket_directories": socket_dir, "listen_addresses": listen} | PREFERRED | dict(settings)
    )
    return "\n".join(f"{name} = {quote_value(value)}" for name, value in lines.items())


def host_based_access(lines: Sequence[str]) -> str:
    """Return the text of pg_hba.conf: the agent's account by its socket, then these lines. Raises TrialError."""
    for line in lines:
        if not line.isprintable():
            raise TrialError(_("The access line {line!r} holds a control character.", line=line), where="prepare")
    return "".join(f"{line}\n" for line in (*_LOCAL_HBA, *lines))


def access_line(host: str, version_num: int, database: str = "all") -> str:
    """Return the line of pg_hba.conf that lets one host in by password. Before version 10 only md5 is available.

    host: name or address; an address gets the mask that pg_hba.conf needs
    database: `replication` for standbys, which `all` leaves out
    """
    try:
        address: object = ipaddress.ip_network(host)
    except ValueError:
        address = host
    return f"host {database} all {address} {'scram-sha-256' if version_num >= FIRST_WITH_SCRAM else 'md5'}"
