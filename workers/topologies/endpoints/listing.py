"""The list of endpoints as a plan writes it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from results.domain.messages import gettext_lazy as _

ROLES = ("coordinator", "primary", "standby", "pooler")
_HOST = r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9._-]*)"
ONE = rf"{_HOST}(?::[0-9]{{1,5}})?(?: +(?:{'|'.join(ROLES)}))?"
PATTERN = rf"\s*{ONE}(?:\s*,\s*{ONE})*\s*"
_PARTS = re.compile(rf"(?P<host>{_HOST})(?::(?P<port>[0-9]{{1,5}}))?(?: +(?P<role>[a-z]+))?")


@dataclass(frozen=True)
class Endpoint:
    """The address of a server, and its role in its cluster."""

    host: str
    port: int
    role: str

    @property
    def standby(self) -> bool:
        return self.role == "standby"


def endpoints(text: str) -> tuple[Endpoint, ...]:
    """Read 'db1:5432 primary, db2 standby'. Raises ValueError for an entry that is no endpoint."""
    listed = []
    for part in text.split(","):
        match = _PARTS.fullmatch(part.strip())
        if match is None:
            raise ValueError(_("{entry!r} is not 'host:port role'", entry=part.strip()))
        port = int(match["port"] or 5432)
        if not 0 < port < 65536:
            raise ValueError(_("{port} is not a port", port=port))
        listed.append(Endpoint(match["host"].strip("[]"), port, match["role"] or "coordinator"))
    return tuple(listed)
