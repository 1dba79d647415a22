"""A warehouse whose every text, of users, of agents and of files, is one text."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from django.contrib.auth.models import User
from django.utils import timezone

from results import annotating, models, reports, runs
from results.domain.environment.layers import Layer, LayerKind
from results.domain.measurement.parsed_trial import Check, CommandRun, Document, Event, Gap, LayerUse
from results.foreign_results import Draft, store
from results.hostfactors import define
from results.models.audit import Scope
from results.reports import Text
from tests import factories
from tests.imported import recorded
from webapp.access import new_token
from webapp.reports.blocks import Shelf
from webapp.reports.publishing import publish
from webapp.reports.source import block
from workers.registry import read_import


def plant(text: str, user: User, bundles: Path) -> models.Run:
    """Store it wherever a text is stored; return a finished run."""
    run = planted_run(text, user, bundles)
    failed = factories.run().trials.first()
    assert failed is not None
    factories.fail(failed, text, why=text, todo=text)
    of_agent(text)
    models.Run.objects.filter(pk=run.pk).update(tags=["paper"])
    annotating.annotate(text, timezone.now(), plan="", user=user, actor=text)
    new_token(user, text[:100], Scope.READ)
    imported(text)
    published(text, run, user)
    return run


def planted_run(text: str, user: User, bundles: Path) -> models.Run:
    """A run whose factor has it as a level, and whose bundles have it in all that agents say."""
    levels = [{"label": "odd", "values": {"clients": 1}}, {"label": "plain", "values": {"clients": 4}}]
    changes = {"factors": {"installation": ["16", "18"], "shape": levels}}
    run = factories.run(user, factories.stored_plan(user, **changes), **changes)
    for configuration in models.Configuration.objects.filter(dimensions__shape="odd"):
        configuration.dimensions["shape"] = configuration.name = text  # which no plan may have today
        configuration.save()
    models.Plan.objects.update(name=text[:120], description=text)
    models.Run.objects.update(name=text[:120])
    for trial in run.trials.select_related("configuration"):
        one = factories.parsed(trial, 1, 100.0)
        factories.finish(
            trial,
            bundles=bundles,
            commands=(CommandRun("client", "measure", text, 0, 5.1),),
            checks=(Check(text, "primary", text, text, False),),
            events=(Event(2.5, "primary", "checkpoint", text),),
            gaps=(Gap(text, "client", text),),
            layers=(
                LayerUse("primary", Layer(LayerKind.SETTINGS, {"shared_buffers": text, text[:60]: text})),
                LayerUse("primary", Layer(LayerKind.HARDWARE, {"cpu": {"model": text, "cores": 2}})),
            ),
            documents=(
                Document("plan", text, [{"Plan": {"Node Type": text, "Relation Name": text, "Filter": text}}]),
                Document("stacks", "cpu-clock:u dwarf", {f"main;{text}": 5}, "primary"),
            ),
            measurements=(*one.measurements, dataclasses.replace(one.measurements[0], label=text)),
        )
    runs.close_finished(run.pk)
    run.refresh_from_db()
    return run


def of_agent(text: str) -> None:
    agent = models.Agent.objects.get()
    factor = factories.host_factor()
    define(agent, [dataclasses.replace(factor, help=text)], "tests")
    models.Agent.objects.update(error={"kind": "agent", "what": text, "where": text, "why": text, "todo": text})


def imported(text: str) -> None:
    files = recorded("pgbench-15-c2.txt")
    chosen, trials = read_import(files)
    draft = Draft(text[:120], chosen.title, chosen.headline, tuple(files), tuple(trials), note=text)
    store(draft, user=None, actor="tests")


def published(text: str, run: models.Run, user: User) -> None:
    """A report with it as title, author and in its text, and as arguments of blocks."""
    query = f"run={run.pk}&series=shape"
    source = f"## {text}\n\n{text}\n\n- {text}\n\n```\n{text}\n```\n\n{block('comparison', query=query)}\n\n{text}"
    report = reports.create(Text(text, text, "en", source), user=user, actor="tests")
    shelf = Shelf("http://testserver", timezone.now())
    edition = publish(report.drafts.get(), shelf, user=user, actor="tests")
    factories.citation(run, query)
    assert edition.pk
