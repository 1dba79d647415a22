"""A capability, as the modules in checks/ declare it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from workers.workloads.capabilities.lab import Lab


class Group(StrEnum):
    """In the order of the pages."""

    MAINTENANCE = "Maintenance"
    CONTENTS = "Contents and constraints"
    STORAGE = "Storage"
    INDEXES = "Indexes"
    QUERIES = "Queries"
    TRANSACTIONS = "Transactions"
    OPERATION = "Backup, replication, recovery"


@dataclass(frozen=True)
class Capability:
    """name: stable, in URLs and the API. own_cluster: it needs a cluster to itself, with these settings; the others
    share one and have a database each."""

    name: str
    title: str
    group: Group
    run: Callable[[Lab], Awaitable[None]]
    own_cluster: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
