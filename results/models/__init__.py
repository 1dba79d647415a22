"""The tables. `results.queries` reads them for pages and API, `results.runs` changes runs."""

from results.models.agents import Agent, Cluster, HostFacts, Installation, InstallationSettings
from results.models.audit import ApiToken, AuditEntry, Member
from results.models.command_texts import CommandText
from results.models.comparisons import Alert, Annotation, ImportedFile, Noise, Publication, Reference, Snapshot, Watch
from results.models.environment import EnvironmentLayer, Layer, LayerUse
from results.models.host import HostChange, HostFactor
from results.models.measurements import (
    AttemptValues,
    CheckedBuild,
    Document,
    Histogram,
    Measure,
    Measurement,
    Metric,
    Series,
    SeriesGroup,
)
from results.models.plans import MissedRuns, Plan
from results.models.ranges import DetachedRange
from results.models.reports import Draft, Edition, Report
from results.models.run_counts import RunCount
from results.models.runs import Attempt, Configuration, Lease, Run, RunImport, Trial
from results.models.uploads import Upload

__all__ = [
    "Agent",
    "Alert",
    "Annotation",
    "ApiToken",
    "Attempt",
    "AttemptValues",
    "AuditEntry",
    "CheckedBuild",
    "Cluster",
    "CommandText",
    "Configuration",
    "DetachedRange",
    "Document",
    "Draft",
    "Edition",
    "EnvironmentLayer",
    "Histogram",
    "HostChange",
    "HostFactor",
    "HostFacts",
    "ImportedFile",
    "Installation",
    "InstallationSettings",
    "Layer",
    "LayerUse",
    "Lease",
    "Measure",
    "Measurement",
    "Member",
    "Metric",
    "MissedRuns",
    "Noise",
    "Plan",
    "Publication",
    "Reference",
    "Report",
    "Run",
    "RunCount",
    "RunImport",
    "Series",
    "SeriesGroup",
    "Snapshot",
    "Trial",
    "Upload",
    "Watch",
]
