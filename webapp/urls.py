"""The addresses of all pages."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from webapp.api.operation import Operation
from webapp.pages import (
    access_methods,
    account,
    agent_removal,
    agents,
    audit,
    capabilities,
    changes,
    citations,
    clusters,
    comparison,
    diff,
    flame,
    host,
    imports,
    manual,
    overview,
    plan_removal,
    plans,
    published,
    recipes,
    removal,
    replicates,
    reports,
    runs,
    schedules,
    standing,
    topologies,
    trends,
    trials,
    versions,
    why,
)

agent_pages = [
    path("", agents.index, name="list"),
    path("add/", agents.add, name="add"),
    path("<str:name>/", agents.detail, name="detail"),
    path("<str:name>/edit/", agents.edit, name="edit"),
    path("<str:name>/accept/", agents.accept, name="accept"),
    path("<str:name>/contact/", agents.contact, name="contact"),
    path("<str:name>/clusters/", clusters.remove, name="clusters"),
    path("<str:name>/host-factors.toml", host.export, name="host-toml"),
    path("<str:name>/remove/", agent_removal.remove, name="remove"),
    path("<str:name>/host/add/", host.edit, name="host-add"),
    path("<str:name>/host/import/", host.import_toml, name="host-import"),
    path("<str:name>/host/<str:factor>/edit/", host.edit, name="host-edit"),
    path("<str:name>/host/<str:factor>/remove/", host.remove, name="host-remove"),
]
plan_pages = [
    path("", plans.index, name="list"),
    path("add/", plans.add, name="add"),
    path("preview/", plans.preview, name="preview"),
    path("import/", plans.import_toml, name="import"),
    path("ready/", recipes.index, name="ready"),
    path("ready/<slug:slug>/", recipes.detail, name="ready-detail"),
    path("ready/<slug:slug>/form/", recipes.use, name="ready-form"),
    path("<int:plan_id>/", plans.detail, name="detail"),
    path("<int:plan_id>/edit/", plans.edit, name="edit"),
    path("<int:plan_id>/plan.toml", plans.export, name="export"),
    path("<int:plan_id>/run/", plans.run, name="run"),
    path("<int:plan_id>/schedule/", schedules.save, name="schedule"),
    path("<int:plan_id>/schedule/preview/", schedules.preview, name="schedule-preview"),
    path("<int:plan_id>/remove/", plan_removal.remove, name="remove"),
    path("<int:plan_id>/watches/", plans.watch, name="watch"),
    path("<int:plan_id>/watches/<int:watch_id>/remove/", plans.unwatch, name="unwatch"),
]
run_pages = [
    path("", runs.index, name="list"),
    path("<int:run_id>/", runs.detail, name="detail"),
    path("<int:run_id>/live/", runs.live, name="live"),
    path("<int:run_id>/plan.toml", runs.toml, name="toml"),
    path("<int:run_id>/cancel/", runs.cancel, name="cancel"),
    path("<int:run_id>/retry/", runs.retry, name="retry"),
    path("<int:run_id>/retry-cancelled/", runs.retry_cancelled, name="retry-cancelled"),
    path("<int:run_id>/repeat/", runs.repeat, name="repeat"),
    path("blocks/", replicates.blocks, name="blocks"),
    path("change/", standing.change, name="change"),
    path("remove/", removal.remove, name="remove"),
]
trial_pages = [
    path("<int:trial_id>/", trials.detail, name="detail"),
    path("<int:trial_id>/cancel/", trials.cancel, name="cancel"),
    path("<int:trial_id>/retry/", trials.retry, name="retry"),
    path("<int:trial_id>/flame/", flame.trial, name="flame"),
    path("<int:trial_id>/<int:attempt_number>/bundle/", trials.bundle, name="bundle"),
    path("<int:trial_id>/<int:attempt_number>/plan/<path:label>/", trials.plan, name="plan"),
    path("<int:trial_id>/<int:attempt_number>/file/<path:name>", trials.file, name="file"),
]
citation_pages = [
    path("c/", citations.index, name="list"),
    path("c/<str:hash_>/", citations.detail, name="detail"),
    path("c/<str:hash_>/reference/", citations.refer, name="refer"),
    path("compare/cite/", citations.cite, name="cite"),
]
published_pages = [
    path("", published.index, name="list"),
    path("<str:slug>/", published.detail, name="detail"),
    path("<str:slug>/file.csv", published.file, name="file"),
]
report_pages = [
    path("", reports.index, name="list"),
    path("new/", reports.new, name="new"),
    path("preview/", reports.show, name="preview"),
    path("feed.atom", reports.feed, name="feed"),
    path("<int:report_id>/", reports.newest, name="newest"),
    path("<int:report_id>/edit/", reports.edit, name="edit"),
    path("<int:report_id>/publish/", reports.release, name="publish"),
    path("<int:report_id>/<int:number>/", reports.edition, name="edition"),
    path("<int:report_id>/<int:number>/withdraw/", reports.withdraw, name="withdraw"),
    path("<int:report_id>/<int:number>/report.<str:form>", reports.export, name="export"),
]
import_pages = [
    path("", imports.index, name="list"),
    path("new/", imports.add, name="add"),
    path("preview/", imports.preview, name="preview"),
    path("<str:slug>/", imports.detail, name="detail"),
]
account_pages = [
    path("sign-in/", account.sign_in, name="sign-in"),
    path("sign-out/", account.sign_out, name="sign-out"),
    path("language/", account.language, name="language"),
    path("tokens/", account.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", account.revoke, name="revoke"),
]
handler400 = "webapp.problems.bad_request_page"
handler403 = "webapp.problems.forbidden_page"
handler404 = "webapp.problems.not_found_page"
handler500 = "webapp.problems.server_error_page"
manual_pages = [
    path("", manual.index, name="list"),
    path("<slug:slug>/", manual.page, name="page"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.index, name="overview"),
    path("now/", overview.now, name="now"),
    path("lately/", overview.lately, name="lately"),
    path("runs/", include((run_pages, "runs"))),
    path("trials/", include((trial_pages, "trials"))),
    path("compare/", comparison.index, name="comparison"),
    path("compare/cell/", comparison.cell, name="comparison-cell"),
    path("compare/rows/", comparison.rows, name="comparison-rows"),
    path("trends/", trends.index, name="trends"),
    path("trends/annotations/", trends.annotate, name="annotate"),
    path("trends/annotations/<int:annotation_id>/remove/", trends.remove_annotation, name="remove-annotation"),
    path("diff/", diff.index, name="diff"),
    path("compare/changes/", changes.index, name="changes"),
    path("compare/why/", why.index, name="why"),
    path("compare/why/metrics/", why.every_metric, name="why_metrics"),
    path("", include((citation_pages, "citations"))),
    path("versions/", versions.index, name="versions"),
    path("access-methods/", access_methods.index, name="access-methods"),
    path("topologies/", topologies.index, name="topologies"),
    path("capabilities/", capabilities.index, name="capabilities"),
    path("reports/", include((report_pages, "reports"))),
    path("published/", include((published_pages, "published"))),
    path("imports/", include((import_pages, "imports"))),
    path("flame/", flame.index, name="flame"),
    path("plans/", include((plan_pages, "plans"))),
    path("agents/", include((agent_pages, "agents"))),
    path("account/", include((account_pages, "account"))),
    path("audit/", audit.index, name="audit"),
    path("manual/", include((manual_pages, "manual"))),
    path("api/v1/", include("webapp.api.urls")),
    path("metrics", Operation.as_view(), name="metrics"),
]
