"""The map of the API: /api/v1/."""

from __future__ import annotations

from django.urls import path
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from webapp.access import ScopePermission
from webapp.api.agents import Agents
from webapp.api.bundles import Bundle, BundleFile
from webapp.api.comparison import Comparisons
from webapp.api.installations import Installations
from webapp.api.kinds import AllKinds
from webapp.api.measurements import Measurements
from webapp.api.metrics import Metrics
from webapp.api.plans import Plans, PlanToml
from webapp.api.root import Nowhere, Root
from webapp.api.runs import Medians, Runs
from webapp.api.samples import TrialHistograms, TrialSeries
from webapp.api.tokens import Tokens
from webapp.api.trials import Trials

app_name = "api"
schema = SpectacularAPIView.as_view(permission_classes=[ScopePermission])
docs = SpectacularSwaggerView.as_view(url_name="api:schema", permission_classes=[ScopePermission])
urlpatterns = [
    path("", Root.as_view({"get": "retrieve"}), name="root"),
    path("agents/", Agents.as_view({"get": "list", "post": "create"}), name="agents"),
    path("agents/<str:name>/", Agents.as_view({"get": "retrieve", "patch": "partial_update"}), name="agent"),
    path(
        "agents/<str:name>/accept-host-key/",
        Agents.as_view({"post": "accept_host_key"}),
        name="agent-accept-host-key",
    ),
    path("agents/<str:name>/contact/", Agents.as_view({"post": "contact"}), name="agent-contact"),
    path("installations/", Installations.as_view({"get": "list"}), name="installations"),
    path("plans/", Plans.as_view({"get": "list", "post": "create"}), name="plans"),
    path("plans/preview/", Plans.as_view({"post": "preview"}), name="plan-preview"),
    path("plans/<int:pk>.toml", PlanToml.as_view({"get": "retrieve"}), name="plan-toml"),
    path("plans/<int:pk>/", Plans.as_view({"get": "retrieve", "put": "update"}), name="plan"),
    path("runs/", Runs.as_view({"get": "list", "post": "create"}), name="runs"),
    path("runs/<int:pk>/", Runs.as_view({"get": "retrieve"}), name="run"),
    path("runs/<int:pk>/medians/", Medians.as_view({"get": "list"}), name="run-medians"),
    path("runs/<int:pk>/cancel/", Runs.as_view({"post": "cancel"}), name="run-cancel"),
    path("runs/<int:pk>/retry-failed/", Runs.as_view({"post": "retry_failed"}), name="run-retry-failed"),
    path("runs/<int:pk>/repeat/", Runs.as_view({"post": "repeat"}), name="run-repeat"),
    path("runs/<int:pk>/blocks/", Runs.as_view({"post": "blocks"}), name="run-blocks"),
    path("trials/", Trials.as_view({"get": "list"}), name="trials"),
    path("trials/<int:pk>/", Trials.as_view({"get": "retrieve"}), name="trial"),
    path("trials/<int:pk>/cancel/", Trials.as_view({"post": "cancel"}), name="trial-cancel"),
    path("trials/<int:pk>/retry/", Trials.as_view({"post": "retry"}), name="trial-retry"),
    path("trials/<int:pk>/series/", TrialSeries.as_view({"get": "list"}), name="series"),
    path("trials/<int:pk>/histograms/", TrialHistograms.as_view({"get": "list"}), name="histograms"),
    path("trials/<int:pk>/bundle/", Bundle.as_view({"get": "retrieve"}), name="bundle"),
    path("trials/<int:pk>/files/<path:path>", BundleFile.as_view({"get": "retrieve"}), name="file"),
    path("measurements/", Measurements.as_view({"get": "list"}), name="measurements"),
    path("metrics/", Metrics.as_view({"get": "list"}), name="metrics"),
    path("kinds/", AllKinds.as_view({"get": "retrieve"}), name="kinds"),
    path("comparison/", Comparisons.as_view({"get": "retrieve"}), name="comparison"),
    path("tokens/", Tokens.as_view({"get": "list", "post": "create"}), name="tokens"),
    path("tokens/<int:pk>/", Tokens.as_view({"delete": "destroy"}), name="token"),
    path("schema/", require_safe(schema), name="schema"),
    path("docs/", require_safe(docs), name="docs"),
    path("<path:rest>", Nowhere.as_view(), name="nowhere"),
]
