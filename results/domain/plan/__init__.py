"""Plan, Factor, Level: everything needed to run an experiment again. Reads and writes TOML. Pure.

A *target* names one thing that a plan sets or a factor varies:

    installation, access_method, topology, data, cache, duration_s, warmup_s, threads
    <workload parameter>            clients, scale, script, …
    setting.<name>                  any PostgreSQL setting
    topology.<parameter>            a parameter of the topology
    host.<name>                     a host factor of the agents, by the name of its level (`kinds.host_factors`)

The TOML file and the form make the same mapping; `draft_of` is the only validation, and `from_mapping` refuses what it
finds wrong.
"""

from __future__ import annotations

from results.domain.plan.checks import MAXIMUM_TRIALS
from results.domain.plan.code import Code, code_of
from results.domain.plan.fields import SETTING
from results.domain.plan.reading import AGENT, PlanDraft, draft_of, draft_of_toml, from_mapping, read
from results.domain.plan.values import (
    DEFAULT_COLLECTORS,
    Factor,
    Kinds,
    Level,
    Plan,
    label_of,
    setting_text,
    targets,
    to_toml,
)

__all__ = [
    "AGENT",
    "DEFAULT_COLLECTORS",
    "MAXIMUM_TRIALS",
    "SETTING",
    "Code",
    "Factor",
    "Kinds",
    "Level",
    "Plan",
    "PlanDraft",
    "code_of",
    "draft_of",
    "draft_of_toml",
    "from_mapping",
    "label_of",
    "read",
    "setting_text",
    "targets",
    "to_toml",
]
