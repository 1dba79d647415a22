"""The tables. Reading them for pages and API is `results.queries`; changing runs is `results.runs`."""

from results.models.agents import Agent, HostFacts, Installation
from results.models.audit import ApiToken, AuditEntry
from results.models.environment import Layer, LayerUse
from results.models.measurements import Histogram, Measurement, Metric, Series
from results.models.plans import Plan
from results.models.runs import Attempt, Configuration, Lease, Run, Trial

__all__ = [
    "Agent",
    "ApiToken",
    "Attempt",
    "AuditEntry",
    "Configuration",
    "Histogram",
    "HostFacts",
    "Installation",
    "Layer",
    "LayerUse",
    "Lease",
    "Measurement",
    "Metric",
    "Plan",
    "Run",
    "Series",
    "Trial",
]
