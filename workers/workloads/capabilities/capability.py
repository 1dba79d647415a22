"""A capability, as the modules in checks/ declare it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from results.domain.messages import gettext_lazy as _
from workers.workloads.capabilities.check_context import CheckContext


class Group(StrEnum):
    """In the order of the pages."""

    MAINTENANCE = _("Maintenance")
    CONTENTS = _("Contents and constraints")
    STORAGE = _("Storage")
    INDEXES = _("Indexes")
    QUERIES = _("Queries")
    TRANSACTIONS = _("Transactions")
    OPERATION = _("Backup, replication, recovery")


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
