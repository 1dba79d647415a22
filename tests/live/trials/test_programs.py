"""Programs that a plan needs are looked for on the agent when it is told that they are missing, and before a trial."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from results import models, runs, stored_plans
from results.domain.errors import PlanError
from results.domain.kinds.programs import Program
from results.domain.plan import from_mapping, to_toml
from results.queries.agents.agents import agent_detail
from tests import factories
from tests.live.trials.conftest import PLAN, run_next, start
from workers import tasks
from workers.registry import kinds

Api = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]
POOLED = {"topology": "pgpool", "topology_parameters": {"servers": 1}}
ABSENT = Program("pgpool-that-is-not-installed")


def forget(agent: models.Agent, *names: str) -> None:
    """What the warehouse knows is of before these programs were installed."""
    tools = {name: place for name, place in agent.tools.items() if name not in names}
    models.Agent.objects.filter(pk=agent.pk).update(tools=tools)


@pytest.fixture
def busy(agent: models.Agent) -> models.Attempt:
    """A trial that holds the agent."""
    return factories.begin(start().trials.get(), "measure")


@pytest.fixture
def api(agent: models.Agent) -> Api:
    """Sends a body to an address of the API: (status, answer)."""
    client = Client()
    client.force_login(factories.member())

    def sent(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        answer = client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")
        return answer.status_code, answer.json()

    return sent


def test_a_program_installed_since_the_contact_is_there_in_the_preview_even_behind_a_queue(
    agent: models.Agent, busy: models.Attempt, api: Api
) -> None:
    forget(agent, "pgpool")
    before = agent.facts.count()
    status, preview = api("plans/preview/", PLAN | POOLED)
    assert (status, preview.get("trials")) == (200, 1), preview
    agent.refresh_from_db()
    assert "/pgpool" in agent.tools["pgpool"]
    layers = {layer.kind: layer.content for layer in agent_detail("live").layers}
    assert layers["tool"] == agent.tools
    assert {"hardware", "kernel", "storage"} < set(layers), "the rest of its facts stands"
    assert agent.facts.count() == before, "a contact had found the same"
    assert busy.leases.exists()


def test_every_way_to_a_run_looks_again(agent: models.Agent, api: Api) -> None:
    plan = from_mapping(PLAN | POOLED, kinds())
    stored = stored_plans.save_plan(plan, kinds(), user=None, actor="test")
    forget(agent, "pgpool")
    with pytest.raises(PlanError, match="has no program pgpool"):
        runs.create_run(plan, kinds(), actor="test", as_admin=True)
    assert api("runs/", {"toml": to_toml(plan)})[0] == 201
    forget(agent, "pgpool")
    factories.fall_due(stored)
    tasks.start_plan(stored.pk)
    assert models.Run.objects.count() == 2


def test_a_program_that_is_not_there_is_refused_with_how_to_get_it(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds().topologies["pgpool"].programs, "pooler", (ABSENT,))
    status, answer = api("plans/preview/", PLAN | POOLED)
    assert status == 422
    assert "it was looked for again just now" in answer["error"]["what"]
    assert answer["error"]["todo"].startswith("Install it there (")


def test_an_agent_that_cannot_be_looked_at_is_told_of(agent: models.Agent, api: Api) -> None:
    forget(agent, "pgpool")
    models.Agent.objects.update(port=1)
    status, answer = api("plans/preview/", PLAN | POOLED)
    assert status == 422
    assert "as far as its last contact told; looking for it again failed: " in answer["error"]["what"]
    models.Agent.objects.update(state="unreachable")
    _, answer = api("plans/preview/", PLAN | POOLED)
    assert answer["error"]["what"].endswith("looking for it again failed: its state is unreachable.")


def test_a_trial_looks_itself_and_fails_before_anything_is_built(
    agent: models.Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    monkeypatch.setitem(kinds().topologies["single"].programs, "primary", (ABSENT,))
    attempt = run_next()
    assert attempt.error is not None
    assert attempt.error["what"] == f"Agent live has no program {ABSENT.name}, which the topology single needs."
    assert attempt.error["why"].startswith("It was looked for just now, in the account's PATH")
    assert attempt.error["todo"].endswith("or name another agent for the role primary.")
    assert (attempt.trial.state, [phase["name"] for phase in attempt.phases]) == ("failed", ["prepare", "clean"])


def test_a_trial_does_not_believe_that_a_program_is_missing(agent: models.Agent) -> None:
    start(required_collectors=["sar"], collectors=["sar"])
    models.Agent.objects.update(tools={})
    attempt = run_next()
    assert attempt.error is None, attempt.error
