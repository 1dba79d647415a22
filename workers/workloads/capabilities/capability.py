"""A capability, as the modules in checks/ declare it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from workers.workloads.capabilities.check_context import CheckContext


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
    """One capability and the check of it.

    name: stable, in URLs and the API.
    run: the check.
    own_cluster: whether it needs a cluster to itself; the others share one and have a database each.
    settings: of its own cluster.
    """

    name: str
    title: str
    group: Group
    run: Callable[[CheckContext], Awaitable[None]]
    own_cluster: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
