"""Warehouses in which every page and every endpoint has something to show, and their addresses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.urls import URLPattern, URLResolver, reverse

from results import models
from results.published.catalogue import TABLES
from results.published.load import load
from tests import factories
from tests.imported import imported
from workers.registry import known_metrics

Pattern = URLPattern | URLResolver


def page_names(patterns: list[Pattern], prefix: str = "") -> list[str]:
    """Every page's name; the API has its own walk."""
    route_names: list[str] = []
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if not str(pattern.pattern).startswith("api/"):
                route_names += page_names(
                    pattern.url_patterns, f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix
                )
        elif pattern.name:
            route_names.append(f"{prefix}{pattern.name}")
    return route_names


def page_addresses(bundles: Path) -> Callable[[str], str]:
    """Name of a page → an address of it that exists, in a warehouse that has what it shows."""
    plan = factories.stored_plan()
    run = factories.run(stored=plan)
    trial = run.trials.select_related("configuration").first()
    assert trial is not None
    factories.finish(trial, bundles=bundles)
    owner = factories.member("owner")
    factories.tokens(owner, ["read"])
    token = models.ApiToken.objects.get(user=owner)
    load(TABLES[:1], known_metrics(), "tests")
    arguments: dict[str, list[Any]] = {
        "runs": [run.pk],
        "trials": [trial.pk],
        "plans": [plan.pk],
        "agents": ["db1"],
        "account": [token.pk],
        "citations": [factories.citation(run).pk],
        "published": ["wg1-2012-table-2.2"],
        "imports": [imported().slug],
        "manual": ["method"],
    }
    more = {"trials:bundle": [trial.pk, 1], "trials:file": [trial.pk, 1, "workload/stdout.txt"]}
    factories.define_host_factor()
    more |= {name: ["db1", "cpu_governor"] for name in ("agents:host-edit", "agents:host-remove")}
    more |= {"trials:plan": [trial.pk, 1, "q1"]}
    message = models.Annotation.objects.create(at=owner.date_joined, text="moved", created_by=owner)
    watch = models.Watch.objects.create(plan=plan, channel="email", target="ada@example.org")
    edition = factories.edition(run)
    more |= {name: [edition.report_id] for name in ("reports:edit", "reports:publish", "reports:newest")}
    more |= {name: [edition.report_id, 1] for name in ("reports:edition", "reports:withdraw")}
    more |= {"reports:export": [edition.report_id, 1, "provenance.json"]}
    more |= {"remove-annotation": [message.pk], "plans:unwatch": [plan.pk, watch.pk]}
    bare = {
        "runs:list",
        "plans:list",
        "plans:add",
        "plans:preview",
        "plans:import",
        "plans:ready",
        "agents:list",
        "agents:add",
        "account:sign-in",
        "account:sign-out",
        "account:language",
        "account:tokens",
        "citations:list",
        "citations:cite",
        "published:list",
        "reports:list",
        "reports:new",
        "reports:feed",
        "reports:preview",
        "imports:list",
        "imports:add",
        "imports:preview",
        "runs:blocks",
        "runs:change",
        "runs:remove",
        "manual:list",
    }

    more |= {name: ["own-queries"] for name in ("plans:ready-detail", "plans:ready-form")}
    its = trial.configuration.dimensions
    parameters = dict.fromkeys(("runs:blocks", "runs:remove"), f"?run={run.pk}")
    parameters |= {"plans:ready-form": "?agents.primary=db1&installations=16.9"}
    parameters |= {"comparison-cell": f"?run={run.pk}&at={its['clients']}&of={its['installation']}"}
    parameters |= {"comparison-rows": f"?run={run.pk}"}

    def of(name: str) -> str:
        if name in bare or (":" not in name and name not in more):
            return reverse(name) + parameters.get(name, "")
        return reverse(name, args=more.get(name) or arguments[name.partition(":")[0]]) + parameters.get(name, "")

    return of


def api_world(owner: User, bundles: Path) -> dict[str, Any]:
    """A plan, and a run of it with one trial done, one failed, and the others waiting, and an annotation: ids by word.
    citation: the hash of the run's comparison."""
    stored = factories.stored_plan()
    run = factories.run(stored=stored)
    factories.define_host_factor()
    done, failed, waiting = list(run.trials.order_by("position"))[:3]
    factories.finish(done, bundles=bundles)
    factories.fail(failed)
    message = models.Annotation.objects.create(at=owner.date_joined, text="moved", created_by=owner)
    ids = {"plan": stored.pk, "run": run.pk, "done": done.pk, "failed": failed.pk, "waiting": waiting.pk}
    return ids | {"annotation": message.pk, "citation": factories.citation(run).pk}


def more_of_api_world(bundles: Path) -> dict[str, Any]:
    """A run that is finished (`compared`), an import and a report."""
    compared = factories.finished_run(bundles=bundles)
    report = factories.edition(factories.finished_run()).report_id
    return {"compared": compared.pk, "imported": imported().slug, "report": report}
