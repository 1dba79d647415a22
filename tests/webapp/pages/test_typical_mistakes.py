"""What people typically get wrong in a plan is refused before anything starts, at its field, with what was meant."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from results import models
from results.domain.plan import from_mapping
from tests import factories
from tests.page_text import page_text
from tests.webapp.pages.test_plans import FORM, problems
from workers.registry import kinds

Mistake = tuple[dict[str, Any], str, str]
MISTAKES: dict[str, Mistake] = {
    "a setting": ({"settings": {"shared_bufers": "1GB"}}, "settings.shared_bufers", "Did you mean shared_buffers?"),
    "a unit": ({"settings": {"work_mem": "64 mb"}}, "settings.work_mem", "Did you mean 64MB?"),
    "a value of an enum": ({"settings": {"wal_level": "replcia"}}, "settings.wal_level", "Did you mean replica?"),
    "a factor": ({"factors": {"installation": ["16"], "client": [1, 4]}}, "factors.client", "Did you mean clients?"),
    "a setting as a factor": (
        {"factors": {"installation": ["16"], "work_mem": ["4MB"]}},
        "factors.work_mem",
        "If it is a setting of PostgreSQL, write setting.work_mem.",
    ),
    "a workload": ({"workload": "pgbnech"}, "workload", "Did you mean pgbench?"),
    "a topology": ({"topology": "steaming"}, "topology", "Did you mean streaming?"),
    "a script": ({"parameters": {"script": "select_only"}}, "parameters.script", "Did you mean select-only?"),
    "a collector": ({"collectors": ["latency-log"]}, "collectors", "Did you mean latency_log?"),
    "an agent": ({"agents": {"primary": "db2"}}, "agents.primary", "Did you mean db1?"),
    "an installation": ({"factors": {"installation": ["postgresql-16.8"]}}, "factors.installation", "postgresql-16.9?"),
    "a time with a unit": ({"duration_s": "5min"}, "duration_s", "It is in seconds: write 300."),
    "a number": (
        {"parameters": {"clients": 0}},
        "parameters.clients",
        "Whole numbers from 1 to 100,000 are taken.",
    ),
    "a choice": ({"cache": "pre-warm"}, "cache", "Did you mean prewarm?"),
    "a level that is left out": ({"exclude": [{"clients": "5"}]}, "exclude[0]", "There are 1, 4."),
    "an option of initdb": ({"initdb": ["--data-checksum"]}, "initdb", "Did you mean --data-checksums?"),
    "a key": ({"replicats": 3}, "replicats", "Did you mean replicates?"),
    "a host factor": ({"host": {"cpu": "2 cpus"}}, "host.cpu", "Did you mean cpus?"),
}


@pytest.fixture(autouse=True)
def _agent(db: None) -> None:
    factories.agent()
    factories.settings_known()


def runner() -> APIClient:
    client = APIClient()
    secret = factories.tokens(factories.member("ada", staff=True))["run"]
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


@pytest.mark.parametrize("name", MISTAKES)
def test_the_preview_of_the_api_names_what_was_meant(name: str) -> None:
    changes, field, todo = MISTAKES[name]
    answer = runner().post("/api/v1/plans/preview/", factories.mapping(**changes), format="json")
    [problem] = answer.json()["error"]["problems"]
    assert (answer.status_code, problem["field"]) == (422, field)
    assert todo in problem["todo"]


@pytest.mark.parametrize("name", ["a setting", "a factor", "a script", "an agent", "an installation", "a choice"])
def test_run_plan_says_it_in_the_terminal_and_starts_nothing(name: str, tmp_path: Path) -> None:
    changes, field, todo = MISTAKES[name]
    file = tmp_path / "plan.toml"
    file.write_text(tomli_w.dumps(factories.mapping(**changes)))
    with pytest.raises(CommandError) as refused:
        call_command("run_plan", str(file), "--no-wait", stdout=StringIO())
    assert field in str(refused.value) and todo in str(refused.value)
    assert not models.Run.objects.exists()


def test_an_import_says_each_problem_once(member: Client) -> None:
    toml = "name = 'x'\ninstallation = '16'\nreplicats = 3\nworkload = 'pgbnech'\n[agents]\nprimary = 'db1'\n"
    answer = member.post("/plans/import/", {"toml": toml})
    text = page_text(answer)
    assert (answer.status_code, "2 problems to fix" in text) == (422, True)
    for sentence in ("Did you mean replicates?", "Did you mean pgbench?", "There is no workload"):
        assert text.count(sentence) == 1, sentence


def test_what_agents_lack_and_what_settings_are_wrong_is_said_together(member: Client) -> None:
    wrong = FORM | {"factor-value": ["16, 19", "1, 4", ""], "setting-name": ["shared_bufers"]}
    fields = {problem["field"] for problem in problems(page_text(member.post("/plans/preview/", wrong)))}
    assert fields == {"factors.installation", "settings.shared_bufers"}


def test_a_problem_of_a_topologys_parameter_is_found_at_its_field(member: Client) -> None:
    wrong = FORM | {"topology": "streaming", "topology_parameters.standbys": "0"}
    [problem] = problems(page_text(member.post("/plans/preview/", wrong)))
    assert problem["field"] == "topology_parameters.standbys"
    plan = from_mapping(factories.mapping(topology="streaming"), kinds())
    assert plan.field_of("topology.standbys") == "topology_parameters.standbys"
    assert plan.field_of("parameters.clients") == "factors.clients"
