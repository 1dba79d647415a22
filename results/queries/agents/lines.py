"""Agents as a page lists them beside other things: a line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from results import sql


@dataclass(frozen=True)
class AgentLine:
    """One agent; fields of the same names as of `AgentRow`, of which it has a part.

    busy: None, or run_id, trial_id (None of a private run) and phase.
    installations: name and present of each.
    not_back: factor and running of each."""

    name: str
    host: str
    port: int
    enabled: bool
    state: str
    facts_at: datetime | None
    cores: int | None
    memory_bytes: int | None
    disk: Mapping[str, Any]
    busy: Mapping[str, Any] | None
    installations: tuple[Mapping[str, Any], ...]
    not_back: tuple[Mapping[str, Any], ...]


def agent_lines() -> list[AgentLine]:
    """Return agents by name, without those that are archived. One query."""
    return sql.rows(AgentLine, sql.load(__file__))
