"""The addresses of the API, under /api/v1/."""

from __future__ import annotations

from csp.constants import UNSAFE_INLINE
from csp.decorators import csp_update
from django.urls import path
from django.views.decorators.http import require_safe

from webapp.access import ScopePermission
from webapp.api.agents import Agents
from webapp.api.annotations import Annotations
from webapp.api.audit import AuditLog
from webapp.api.bundles import Bundle, BundleFile
from webapp.api.capabilities import Capabilities
from webapp.api.changes import WhatChanged
from webapp.api.citations import Citation, Citations, References
from webapp.api.clusters import Clusters
from webapp.api.comparison import Comparisons
from webapp.api.diff import Differences
from webapp.api.exports import CitationFile, ComparisonFile
from webapp.api.flame import Flames
from webapp.api.host import HostFactors
from webapp.api.imports import Import, Imports
from webapp.api.installations import Installations
from webapp.api.kinds import AllKinds
from webapp.api.measurements import Measurements
from webapp.api.medians import Medians
from webapp.api.metrics import Metrics
from webapp.api.noise import Noise
from webapp.api.plans import Plans, PlanSchedule, PlanToml
from webapp.api.presets import AccessMethodsView, Publications, TopologiesView, VersionsCopy, VersionsView
from webapp.api.recipes import ReadyPlans
from webapp.api.reports import Report, Reports
from webapp.api.root import Root, UnknownAddress
from webapp.api.runs import Runs
from webapp.api.samples import TrialDocuments, TrialHistograms, TrialSeries
from webapp.api.schema import Description, Reference
from webapp.api.tokens import Tokens
from webapp.api.transfer import RunExport, RunUpload
from webapp.api.trends import Trends
from webapp.api.trials import Trials
from webapp.api.why import Whys

app_name = "api"
schema = Description.as_view(permission_classes=[ScopePermission])
# Swagger's page holds a script of its own.
docs = csp_update({"script-src": [UNSAFE_INLINE]})(
    Reference.as_view(url_name="api:schema", permission_classes=[ScopePermission])
)
urlpatterns = [
    path("", Root.as_view({"get": "retrieve"}), name="root"),
    path("agents/", Agents.as_view({"get": "list", "post": "create"}), name="agents"),
    path(
        "agents/<str:name>/",
        Agents.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="agent",
    ),
    path("agents/<str:name>/loss/", Agents.as_view({"get": "loss"}), name="agent-loss"),
    path(
        "agents/<str:name>/accept-host-key/",
        Agents.as_view({"post": "accept_host_key"}),
        name="agent-accept-host-key",
    ),
    path("agents/<str:name>/clusters/", Clusters.as_view({"get": "retrieve"}), name="agent-clusters"),
    path(
        "agents/<str:name>/remove-clusters/",
        Clusters.as_view({"post": "remove"}),
        name="agent-remove-clusters",
    ),
    path("agents/<str:name>/contact/", Agents.as_view({"post": "contact"}), name="agent-contact"),
    path(
        "agents/<str:name>/host-factors/",
        HostFactors.as_view({"get": "list", "post": "create"}),
        name="agent-host-factors",
    ),
    path(
        "agents/<str:name>/host-factors/<str:factor>/",
        HostFactors.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
        name="agent-host-factor",
    ),
    path("installations/", Installations.as_view({"get": "list"}), name="installations"),
    path("plans/", Plans.as_view({"get": "list", "post": "create"}), name="plans"),
    path("plans/preview/", Plans.as_view({"post": "preview"}), name="plan-preview"),
    path("plans/<int:pk>.toml", PlanToml.as_view({"get": "retrieve"}), name="plan-toml"),
    path("plans/<int:pk>/loss/", Plans.as_view({"get": "loss"}), name="plan-loss"),
    path("plans/<int:pk>/schedule/", PlanSchedule.as_view({"get": "retrieve"}), name="plan-schedule"),
    path(
        "plans/<int:pk>/",
        Plans.as_view({"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}),
        name="plan",
    ),
    path("ready-plans/", ReadyPlans.as_view({"get": "list"}), name="ready-plans"),
    path("ready-plans/<str:slug>/", ReadyPlans.as_view({"get": "retrieve"}), name="ready-plan"),
    path("ready-plans/<str:slug>/plan/", ReadyPlans.as_view({"post": "plan"}), name="ready-plan-plan"),
    path("runs/", Runs.as_view({"get": "list", "post": "create"}), name="runs"),
    path("runs/import/", RunUpload.as_view({"post": "create"}), name="runs-import"),
    path("runs/<int:pk>/export/", RunExport.as_view({"get": "retrieve"}), name="run-export"),
    path(
        "runs/<int:pk>/",
        Runs.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="run",
    ),
    path("runs/<int:pk>/loss/", Runs.as_view({"get": "loss"}), name="run-loss"),
    path("runs/<int:pk>/medians/", Medians.as_view({"get": "list"}), name="run-medians"),
    path("runs/<int:pk>/cancel/", Runs.as_view({"post": "cancel"}), name="run-cancel"),
    path("runs/<int:pk>/retry-failed/", Runs.as_view({"post": "retry_failed"}), name="run-retry-failed"),
    path("runs/<int:pk>/retry-cancelled/", Runs.as_view({"post": "retry_cancelled"}), name="run-retry-cancelled"),
    path("runs/<int:pk>/repeat/", Runs.as_view({"post": "repeat"}), name="run-repeat"),
    path("runs/<int:pk>/blocks/", Runs.as_view({"post": "blocks"}), name="run-blocks"),
    path("trials/", Trials.as_view({"get": "list"}), name="trials"),
    path("trials/<int:pk>/", Trials.as_view({"get": "retrieve"}), name="trial"),
    path("trials/<int:pk>/cancel/", Trials.as_view({"post": "cancel"}), name="trial-cancel"),
    path("trials/<int:pk>/retry/", Trials.as_view({"post": "retry"}), name="trial-retry"),
    path("trials/<int:pk>/series/", TrialSeries.as_view({"get": "list"}), name="series"),
    path("trials/<int:pk>/documents/", TrialDocuments.as_view({"get": "list"}), name="documents"),
    path("trials/<int:pk>/histograms/", TrialHistograms.as_view({"get": "list"}), name="histograms"),
    path("trials/<int:pk>/bundle/", Bundle.as_view({"get": "retrieve", "post": "create"}), name="bundle"),
    path("trials/<int:pk>/files/<path:path>", BundleFile.as_view({"get": "retrieve"}), name="file"),
    path("measurements/", Measurements.as_view({"get": "list"}), name="measurements"),
    path("metrics/", Metrics.as_view({"get": "list"}), name="metrics"),
    path("noise/", Noise.as_view({"get": "list"}), name="noise"),
    path("kinds/", AllKinds.as_view({"get": "retrieve"}), name="kinds"),
    path("comparison/", Comparisons.as_view({"get": "retrieve"}), name="comparison"),
    path("comparison.<str:form>", ComparisonFile.as_view({"get": "retrieve"}), name="comparison-file"),
    path("comparison/changes/", WhatChanged.as_view({"get": "retrieve"}), name="changes"),
    path("comparison/why/", Whys.as_view({"get": "retrieve"}), name="why"),
    path("trends/", Trends.as_view({"get": "retrieve"}), name="trends"),
    path("annotations/", Annotations.as_view({"get": "list", "post": "create"}), name="annotations"),
    path("annotations/<int:pk>/", Annotations.as_view({"get": "retrieve", "delete": "destroy"}), name="annotation"),
    path("diff/", Differences.as_view({"get": "retrieve"}), name="diff"),
    path("citations/", Citations.as_view({"get": "list", "post": "create"}), name="citations"),
    path("citations/<slug:pk>.<str:form>", CitationFile.as_view({"get": "retrieve"}), name="citation-file"),
    path("citations/<str:pk>/", Citation.as_view({"get": "retrieve"}), name="citation"),
    path("references/", References.as_view({"get": "list", "post": "create"}), name="references"),
    path("versions/", VersionsView.as_view({"get": "retrieve"}), name="versions"),
    path("versions.<str:form>", VersionsCopy.as_view({"get": "retrieve"}), name="versions-copy"),
    path("access-methods/", AccessMethodsView.as_view({"get": "retrieve"}), name="access-methods"),
    path("topologies/", TopologiesView.as_view({"get": "retrieve"}), name="topologies"),
    path("reports/", Reports.as_view({"get": "list"}), name="reports"),
    path("reports/<int:report>/<int:number>/", Report.as_view({"get": "retrieve"}), name="report"),
    path("publications/", Publications.as_view({"get": "list"}), name="publications"),
    path("imports/", Imports.as_view({"get": "list", "post": "create"}), name="imports"),
    path("imports/preview/", Imports.as_view({"post": "preview"}), name="import-preview"),
    path("imports/<str:slug>/", Import.as_view({"get": "retrieve"}), name="import"),
    path("capabilities/", Capabilities.as_view({"get": "list"}), name="capabilities"),
    path("flame/", Flames.as_view({"get": "retrieve"}), name="flame"),
    path("audit/", AuditLog.as_view({"get": "list"}), name="audit"),
    path("tokens/", Tokens.as_view({"get": "list", "post": "create"}), name="tokens"),
    path("tokens/<int:pk>/", Tokens.as_view({"delete": "destroy"}), name="token"),
    path("schema/", require_safe(schema), name="schema"),
    path("docs/", require_safe(docs), name="docs"),
    path("<path:rest>", UnknownAddress.as_view(), name="nowhere"),
]
