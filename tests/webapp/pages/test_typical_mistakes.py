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
    "a capability check": (
        {"workload": "capabilities", "parameters": {"checks": "toast, vacum"}, "factors": {"installation": ["16"]}},
        "parameters.checks",
        "Did you mean vacuum?",
    ),
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


SEVERAL: dict[str, Any] = {
    "workload": "pgbench",
    "duration_s": "5min",
    "replicates": 0,
    "agents": {"primary": "db1", "client": "db2"},
    "parameters": {"clients": 0, "scrpt": "select-only"},
    "settings": {"shared_bufers": "1GB", "work_mem": "64 mb", "wal level": "replica"},
    "factors": {"installation": [16, "17", "18"], "setting.wal_compresion": ["on", "off"]},
}
FIELDS = {
    "duration_s",
    "replicates",
    "agents.client",
    "parameters.clients",
    "parameters.scrpt",
    "settings.shared_bufers",
    "settings.work_mem",
    "settings.wal level",
    "factors.installation",
    "factors.setting.wal_compresion",
}


def said(answer: Any) -> list[str]:
    return [problem["field"] for problem in answer.json()["error"]["problems"]]


@pytest.mark.parametrize("address", ["plans/preview/", "plans/", "runs/"])
def test_the_api_says_all_that_is_wrong_in_one_round(address: str) -> None:
    answer = runner().post(f"/api/v1/{address}", factories.mapping(**SEVERAL), format="json")
    fields = said(answer)
    assert (answer.status_code, set(fields)) == (422, FIELDS)
    assert fields.count("factors.installation") == 1 + ("agents.client" not in fields)
    assert not models.Plan.objects.exists() and not models.Run.objects.exists()
    assert len(fields) == len(FIELDS)


def test_what_an_installation_lacks_is_said_beside_what_cannot_be_read() -> None:
    wrong = SEVERAL | {"agents": {"primary": "db1"}}
    answer = runner().post("/api/v1/plans/preview/", factories.mapping(**wrong), format="json")
    texts = [one["what"] for one in answer.json()["error"]["problems"] if one["field"] == "factors.installation"]
    assert len(texts) == 2 and "16 is not text" in texts[0] and "has no PostgreSQL '17'" in texts[1]


@pytest.mark.parametrize("unknown", [{"workload": "pgbnech"}, {"topology": "steaming"}, {"agents": {}}])
def test_settings_are_checked_whatever_else_is_unknown(unknown: dict[str, Any]) -> None:
    factors = {"installation": ["16"], "setting.work_mem": ["64 mb"]}
    wrong = {"settings": {"shared_bufers": "1GB"}, "factors": factors} | unknown
    answer = runner().post("/api/v1/plans/preview/", factories.mapping(**wrong), format="json")
    assert sorted(said(answer)) == sorted([*unknown, "factors.setting.work_mem", "settings.shared_bufers"])


def test_the_page_says_all_that_is_wrong_in_one_round(member: Client) -> None:
    wrong = FORM | {
        "replicates": "0",
        "setting-name": ["shared_bufers"],
        "setting-value": ["1GB"],
        "factor-value": ["16, 19", "1, 4", ""],
    }
    expected = ["replicates", "factors.installation", "settings.shared_bufers"]
    for address in ("/plans/preview/", "/plans/add/"):
        answer = member.post(address, wrong)
        assert [problem["field"] for problem in problems(page_text(answer))] == expected, address
    assert not models.Plan.objects.exists()


def test_a_plan_whose_agent_is_still_to_come_is_stored_whatever_its_settings_are() -> None:
    coming = factories.mapping(agents={"primary": "db9"}, settings={"zheap_setting": "1"})
    assert runner().post("/api/v1/plans/", coming, format="json").status_code == 201


def test_a_setting_of_an_installation_that_is_missing_is_checked_against_the_others_of_its_agent() -> None:
    client, coming = runner(), {"factors": {"installation": ["19"]}}
    wrong = factories.mapping(**coming, settings={"shared_bufers": "1GB"})
    assert said(client.post("/api/v1/plans/", wrong, format="json")) == ["settings.shared_bufers"]
    right = factories.mapping(**coming, settings={"shared_buffers": "1GB"})
    assert client.post("/api/v1/plans/", right, format="json").status_code == 201


def test_so_many_trials_that_none_is_looked_at_still_have_settings() -> None:
    many = {"installation": ["16"], "clients": list(range(1, 400)), "scale": list(range(1, 400))}
    wrong = factories.mapping(factors=many, settings={"shared_bufers": "1GB"})
    answer = runner().post("/api/v1/plans/preview/", wrong, format="json")
    assert said(answer) == ["factors", "settings.shared_bufers"]


def test_a_problem_of_a_topologys_parameter_is_found_at_its_field(member: Client) -> None:
    wrong = FORM | {"topology": "streaming", "topology_parameters.standbys": "0"}
    [problem] = problems(page_text(member.post("/plans/preview/", wrong)))
    assert problem["field"] == "topology_parameters.standbys"
    plan = from_mapping(factories.mapping(topology="streaming"), kinds())
    assert plan.field_of("topology.standbys") == "topology_parameters.standbys"
    assert plan.field_of("parameters.clients") == "factors.clients"
