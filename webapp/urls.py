"""The site map on one screen."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from webapp.pages import account, agents, comparison, overview, plans, runs, trials

agent_pages = [
    path("", agents.index, name="list"),
    path("add/", agents.add, name="add"),
    path("<str:name>/", agents.detail, name="detail"),
    path("<str:name>/edit/", agents.edit, name="edit"),
    path("<str:name>/accept/", agents.accept, name="accept"),
    path("<str:name>/contact/", agents.contact, name="contact"),
]
plan_pages = [
    path("", plans.index, name="list"),
    path("add/", plans.add, name="add"),
    path("preview/", plans.preview, name="preview"),
    path("import/", plans.import_toml, name="import"),
    path("<int:plan_id>/", plans.detail, name="detail"),
    path("<int:plan_id>/edit/", plans.edit, name="edit"),
    path("<int:plan_id>/plan.toml", plans.export, name="export"),
    path("<int:plan_id>/run/", plans.run, name="run"),
    path("<int:plan_id>/schedule/", plans.schedule, name="schedule"),
    path("<int:plan_id>/archive/", plans.archive, name="archive"),
]
run_pages = [
    path("", runs.index, name="list"),
    path("<int:run_id>/", runs.detail, name="detail"),
    path("<int:run_id>/live/", runs.live, name="live"),
    path("<int:run_id>/plan.toml", runs.toml, name="toml"),
    path("<int:run_id>/cancel/", runs.cancel, name="cancel"),
    path("<int:run_id>/retry/", runs.retry, name="retry"),
    path("<int:run_id>/repeat/", runs.repeat, name="repeat"),
    path("<int:run_id>/blocks/", runs.blocks, name="blocks"),
]
trial_pages = [
    path("<int:trial_id>/", trials.detail, name="detail"),
    path("<int:trial_id>/cancel/", trials.cancel, name="cancel"),
    path("<int:trial_id>/retry/", trials.retry, name="retry"),
    path("<int:trial_id>/<int:attempt_number>/bundle/", trials.bundle, name="bundle"),
    path("<int:trial_id>/<int:attempt_number>/file/<path:name>", trials.file, name="file"),
]
account_pages = [
    path("sign-in/", account.sign_in, name="sign-in"),
    path("sign-out/", account.sign_out, name="sign-out"),
    path("tokens/", account.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", account.revoke, name="revoke"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.index, name="overview"),
    path("now/", overview.now, name="now"),
    path("runs/", include((run_pages, "runs"))),
    path("trials/", include((trial_pages, "trials"))),
    path("compare/", comparison.index, name="comparison"),
    path("plans/", include((plan_pages, "plans"))),
    path("agents/", include((agent_pages, "agents"))),
    path("account/", include((account_pages, "account"))),
    path("api/v1/", include("webapp.api.urls")),
    path("health", overview.health, name="health"),
]
