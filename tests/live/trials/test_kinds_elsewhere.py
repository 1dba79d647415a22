"""A workload and a topology in a folder outside of the tree: found, offered, previewed, measured, drawn, with nothing
edited anywhere else. The topology has a role that is neither PostgreSQL nor a pooler."""

from __future__ import annotations

import json
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from results import models
from tests import factories
from tests.live.trials.conftest import run_next, start, value
from workers import registry
from workers.bundle import reader
from workers.remote.address import Address

pytestmark = pytest.mark.smoke
KINDS = Path(__file__).parents[2] / "kinds"
TOY: dict[str, Any] = {
    "workload": "counted",
    "topology": "registered",
    "parameters": {"rows": 500, "times": 3},
    "collectors": ["sar", "pg_stat"],
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """Teiten with a folder of its own kinds, as TEITEN_KINDS names one."""
    folder = tmp_path / "kinds"
    shutil.copytree(KINDS, folder)
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    settings.TEITEN_KINDS = (folder,)
    registry.kinds.cache_clear()
    yield folder
    settings.TEITEN_KINDS = ()
    registry.kinds.cache_clear()
    registry.kinds()


@pytest.fixture
def member(agent: models.Agent) -> Client:
    client = Client()
    client.force_login(factories.member())
    return client


def drawing(attempt: models.Attempt) -> str:
    """The words of the page of the attempt's trial, without its tags."""
    page = Client()
    page.force_login(factories.member())
    text = page.get(f"/trials/{attempt.trial_id}/").content.decode()
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_the_api_tells_of_them_and_of_what_plays_each_role(member: Client) -> None:
    known = member.get("/api/v1/kinds/").json()
    counted = next(workload for workload in known["workloads"] if workload["name"] == "counted")
    registered = next(topology for topology in known["topologies"] if topology["name"] == "registered")
    assert [parameter["name"] for parameter in counted["parameters"]] == ["rows", "times"]
    assert (registered["roles"], registered["services"]) == (["primary", "registry"], ["registry"])
    assert registered["programs"] == {"registry": ["perl"]}


def test_the_form_offers_their_parameters_and_an_agent_for_the_role(member: Client) -> None:
    form = {"name": "toy", "workload": "counted", "topology": "registered", "installation": "16", "duration_s": "2"}
    headers = {"HX-Request": "true", "HX-Target": "plan-fields"}
    text = member.post("/plans/preview/", form, headers=headers).content.decode()
    shown = ("Counted rows", "Registered server", "It plays the registry.", "How many times they are counted.")
    assert [words for words in shown if words not in text] == []
    assert 'name="parameters.times"' in text
    assert 'name="topology_parameters.key"' in text


def test_a_preview_looks_for_the_program_that_no_contact_looked_for(agent: models.Agent, member: Client) -> None:
    assert "perl" not in agent.tools
    plan = {"name": "toy", "agents": {"primary": "live"}, "installation": "16", "replicates": 1, **TOY}
    answer = member.post("/api/v1/plans/preview/", json.dumps(plan), content_type="application/json")
    assert (answer.status_code, answer.json().get("trials")) == (200, 1), answer.json()
    agent.refresh_from_db()
    assert "/perl" in agent.tools["perl"]
    assert "perl" in member.get("/agents/live/").content.decode()


def test_a_trial_of_them_is_measured_verified_and_drawn(agent: models.Agent, bundles: Path) -> None:
    models.Agent.objects.update(tools={**agent.tools, "perl": "/usr/bin/perl v5"})
    start(**TOY)
    attempt = run_next()
    assert attempt.error is None, attempt.error
    assert value(attempt, "count.seconds") > 0
    assert {check["name"] for check in attempt.checks if check["passed"]} >= {"rows", "leader from registry"}
    page = drawing(attempt)
    assert "registry Registry 1.0 on live" in page
    assert "leader from registry: port" in page
    notes = json.loads(reader.open_files(bundles / attempt.bundle)["manifest.json"])["notes"]
    with socket.socket() as connection:
        port = notes["registry_port"]
        assert connection.connect_ex(("127.0.0.1", port)) != 0, "it ends with the trial"


def test_the_role_may_be_played_by_an_agent_without_postgresql(
    agent: models.Agent, far: Address, bundles: Path
) -> None:
    models.Agent.objects.update(tools={**agent.tools, "perl": "/usr/bin/perl v5"})
    models.Installation.objects.filter(agent__name="far").delete()
    start(**TOY, agents={"primary": "live", "registry": "far"})
    attempt = run_next()
    assert attempt.error is None, attempt.error
    assert attempt.trial.configuration.spec["services"] == ["registry"]
    assert {use.node for use in reader.read(bundles / attempt.bundle).layers} >= {"primary", "registry"}


def test_what_it_wrote_is_kept_of_a_trial_that_failed(agent: models.Agent, bundles: Path) -> None:
    models.Agent.objects.update(tools={**agent.tools, "perl": "/usr/bin/perl v5"})
    start(**TOY, topology_parameters={"key": "follower"})
    attempt = run_next()
    assert attempt.error is not None
    assert "leader from registry on primary: expected port" in attempt.error["why"]
    log = reader.open_files(bundles / attempt.bundle)["server/registry.log"].decode()
    assert "put leader port" in log
    assert "get follower" in log
