"""All newest answers of the warehouse, read as the page of capabilities reads them."""

from __future__ import annotations

from results.queries.agents.capabilities import CapabilityRow, answers, checked_attempts
from results.queries.shared.run_filter import NO_FILTER, RunFilter


def newest_answers(runs: RunFilter = NO_FILTER) -> list[CapabilityRow]:
    """Return the newest counted answer of each (installation, access method, agent, capability)."""
    return answers(checked_attempts(runs=runs))
