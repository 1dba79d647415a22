"""A plan's runs over months, for trends and alerts: what each measured, on which version and kernel."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from results import models, runs, stored_plans
from results.agents import record_contact
from results.domain.environment.layers import Layer, LayerKind
from results.runs import create_run
from tests import factories
from tests.environments import set_environment
from workers.registry import kinds

NUMBERS = {"18.0": 180000, "18.1": 180001, "18.2": 180002, "19devel": 190000, "16.9": 160009, "17.5": 170005}


def nightly(user: Any = None, **changes: Any) -> models.Plan:
    """A stored plan that follows PostgreSQL 18 with 8 clients."""
    fixed = {"installation": "18", "factors": {}, "parameters": {"scale": 5, "clients": 8}, "replicates": 3}
    return factories.stored_plan(user, **({"name": "nightly", "standing": "kept"} | fixed | changes))


def measured(
    plan: models.Plan,
    at: datetime,
    tps: float,
    *,
    version: str = "18.1",
    kernel: str = "6.1.0",
    commit: str = "",
    noise: float = 0.004,
    seed: int = 0,
) -> models.Run:
    """A finished run of the plan whose trials measured about `tps` times their clients / 8, begun at a time."""
    agent = models.Agent.objects.filter(name="db1").first() or factories.agent(versions={version: NUMBERS[version]})
    models.Installation.objects.filter(agent=agent).exclude(version=version).update(present=False)
    record_contact(agent.pk, factories.contact({version: NUMBERS[version]}, kernel), at)
    made = create_run(stored_plans.load_plan(plan, kinds()), kinds(), stored=plan, actor="schedule", as_admin=True)
    # by the run's number among the plan's, so that a test finds the same noise whenever it runs
    generator = random.Random(f"{seed}/{models.Run.objects.filter(plan=plan).count()}")
    layers = [
        Layer(LayerKind.KERNEL, {"release": kernel}),
        Layer(LayerKind.BUILD, {"version": version, "full_version": f"PostgreSQL {version}{commit} on x86_64, by gcc"}),
    ]
    for trial in made.trials.order_by("position").select_related("configuration"):
        clients = trial.configuration.dimensions.get("clients", 8)
        attempt = factories.finish(trial, tps * clients / 8 * (1 + generator.gauss(0, noise)))
        began = at + timedelta(minutes=5 * trial.position)
        models.Attempt.objects.filter(pk=attempt.pk).update(started_at=began, ended_at=began + timedelta(minutes=4))
        _ran_in(attempt, layers)
    runs.close_finished(made.pk)
    models.Run.objects.filter(pk=made.pk).update(started_at=at, created_at=at, ended_at=timezone.now())
    made.refresh_from_db()
    return made


def months(plan: models.Plan, values: Sequence[float], **every: Any) -> list[models.Run]:
    """A run a week, of which each measured about its value."""
    first = timezone.now() - timedelta(days=7 * len(values))
    return [measured(plan, first + timedelta(days=7 * week), value, **every) for week, value in enumerate(values)]


def year(plan: models.Plan) -> list[models.Run]:
    """40 weekly runs: 18.0, from the 14th 18.1, from the 30th 18.2, which is 6 % slower; a spike in the 10th; another
    kernel from the 22nd."""
    first = timezone.now() - timedelta(days=7 * 40)
    return [
        measured(
            plan,
            first + timedelta(days=7 * week),
            (8000 if week < 30 else 7520) * (0.7 if week == 10 else 1) * (1 + 0.006 * ((week * 7) % 5 - 2) / 2),
            version="18.0" if week < 14 else "18.1" if week < 30 else "18.2",
            kernel="6.1.0" if week < 22 else "6.8.0",
            commit=f"-g{week // 2 + 0xABCDE00:x}",
        )
        for week in range(40)
    ]


def over_versions() -> models.Plan:
    """The plan 'builds', run twice: PostgreSQL 16.9, 17.5 and 18.1, each an installation of its own."""
    factors = {"installation": ["16", "17", "18"]}
    plan = factories.stored_plan(name="builds", standing="kept", factors=factors, parameters={"scale": 5, "clients": 8})
    factories.agent(versions={version: NUMBERS[version] for version in ("16.9", "17.5", "18.1")})
    for _ in range(2):
        made = create_run(stored_plans.load_plan(plan, kinds()), kinds(), stored=plan, actor="schedule", as_admin=True)
        for trial in made.trials.select_related("configuration"):
            factories.finish(trial)
        runs.close_finished(made.pk)
    return plan


def _ran_in(attempt: models.Attempt, layers: Sequence[Layer]) -> None:
    rows = [models.Layer(hash=layer.hash, kind=layer.kind, content=layer.content) for layer in layers]
    models.Layer.objects.bulk_create(rows, ignore_conflicts=True)
    used = attempt.layer_uses.values_list("node", "layer_id")
    set_environment(attempt.pk, [*used, *(("primary", row.pk) for row in rows)])
