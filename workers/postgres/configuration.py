"""The text of a cluster's configuration files. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence

from results.domain.errors import Problem, TrialError
from results.domain.kinds.reserved_names import OWN_SETTINGS, setting_is_reserved

# Makes checkpoints and autovacuum visible as events in every version; a plan may set them otherwise.
PREFERRED = {"log_checkpoints": "on", "log_autovacuum_min_duration": "0"}
FIRST_WITH_SCRAM = 100000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_LOCAL_HBA = ("local all all trust", "local replication all trust")


def setting_problems(settings: Mapping[str, str]) -> list[Problem]:
    """What is wrong with settings before any server sees them: names, control characters, Teiten's own settings."""
    problems = []
    for name, value in settings.items():
        if not _NAME.fullmatch(name):
            problems.append(Problem(f"settings.{name}", f"{name!r} is not the name of a PostgreSQL setting."))
        elif setting_is_reserved(name):
            problems.append(Problem(f"settings.{name}", f"{name} is set by Teiten itself.", "Leave it out."))
        elif not value.isprintable():
            problems.append(Problem(f"settings.{name}", f"The value {value!r} holds a control character."))
    return problems


def quote_value(value: str) -> str:
    """A value for postgresql.conf, which reads backslash escapes inside quotes."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def configuration(settings: Mapping[str, str], *, socket_dir: str, listen: str) -> str:
    """teiten.conf without its port. Raises TrialError for settings that cannot be written."""
    problems = setting_problems(settings)
    if problems:
        first = problems[0]
        raise TrialError(first.what, where=first.field, todo=first.todo)
    lines = (
        OWN_SETTINGS | {"unix_socket_directories": socket_dir, "listen_addresses": listen} | PREFERRED | dict(settings)
    )
    return "\n".join(f"{name} = {quote_value(value)}" for name, value in lines.items())


def host_based_access(lines: Sequence[str]) -> str:
    """pg_hba.conf: the agent's own account by its private socket, and the given lines. Raises TrialError."""
    for line in lines:
        if not line.isprintable():
            raise TrialError(f"The access line {line!r} holds a control character.", where="prepare")
    return "".join(f"{line}\n" for line in (*_LOCAL_HBA, *lines))


def access_line(host: str, version_num: int, database: str = "all") -> str:
    """The line of pg_hba.conf that lets one client in by password, by address or by name: an address alone would need a
    mask. database: `replication` for standbys, which `all` leaves out. Before version 10 there is no better method than
    md5."""
    try:
        address: object = ipaddress.ip_network(host)
    except ValueError:
        address = host
    return f"host {database} all {address} {'scram-sha-256' if version_num >= FIRST_WITH_SCRAM else 'md5'}"
