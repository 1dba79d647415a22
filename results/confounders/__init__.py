"""What differs between two environments, and whether it matters. Pure."""

from __future__ import annotations

from results.confounders.judge import (
    Environment,
    EnvironmentDifference,
    KeyJudgement,
    environment_of,
    judge_environments,
    merged,
)
from results.confounders.rules import AGENT, Cause

__all__ = [
    "AGENT",
    "Cause",
    "Environment",
    "EnvironmentDifference",
    "KeyJudgement",
    "environment_of",
    "judge_environments",
    "merged",
]
