"""Plan → configurations × replicates, blocked and shuffled from a stored seed. Pure."""

from __future__ import annotations

from results.domain.matrix.configurations import Configuration, Slot, expand, order
from results.domain.matrix.resolving import find_installation, resolve, threads_for
from results.domain.matrix.values import ONE_LOAD, InstallationRef, Load, TrialSpec, dimensions, is_client

__all__ = [
    "ONE_LOAD",
    "Configuration",
    "InstallationRef",
    "Load",
    "Slot",
    "TrialSpec",
    "dimensions",
    "expand",
    "find_installation",
    "is_client",
    "order",
    "resolve",
    "threads_for",
]
