"""What an operator lets plans change on an agent: defined in a form or as TOML, and shown."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from results import agents, models
from results.domain.errors import StateError
from results.domain.kinds.host_factors import HostLevel, read
from tests import factories
from tests.page_text import page_text


@pytest.fixture
def agent(db: None) -> models.Agent:
    return factories.agent()


def posted(**changes: Any) -> dict[str, Any]:
    """The form as filled for two levels, with a row left empty."""
    return {
        "name": "smt",
        "help": "Hyper-threading.",
        "show": "cat /sys/smt",
        "revert": 'echo "$1" >/sys/smt',
        "roles": "primary, standby",
        "needs_stopped_servers": "on",
        "level-label": ["on", "off", ""],
        "level-apply": ["echo on >/sys/smt", "echo off >/sys/smt", ""],
        "level-check": ["cat /sys/smt\r\ntrue", "grep -q off /sys/smt", ""],
        "level-expected": ["on", "", ""],
        "level-revert": ["", "echo 1 >/sys/smt", ""],
    } | changes


def test_the_form_defines_a_factor(agent: models.Agent, admin: Client) -> None:
    answer = admin.post("/agents/db1/host/add/", posted(), follow=True)
    assert answer.redirect_chain == [("/agents/db1/", 302)]
    text = page_text(answer)
    for expected in ("host.smt", "Hyper-threading.", "on, off", "Servers are stopped", "echo off &gt;/sys/smt"):
        assert expected in text
    stored = models.HostFactor.objects.get()
    [factor] = read(stored.toml)
    assert (factor.roles, factor.needs_stopped_servers) == (("primary", "standby"), True)
    assert factor.levels == (
        HostLevel("on", "echo on >/sys/smt", "cat /sys/smt\ntrue", "on"),
        HostLevel("off", "echo off >/sys/smt", "grep -q off /sys/smt", "", "echo 1 >/sys/smt"),
    )
    entry = models.AuditEntry.objects.latest("id")
    assert (entry.actor, entry.verb, entry.detail["toml"]) == ("admin", "define host factor", stored.toml)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Big one"}, "is not a name for a host factor"),
        ({"name": ""}, "It has no name."),
        ({"name": "cpus"}, "is built in"),
        ({"show": ""}, "A command is missing."),
        ({"level-apply": ["", "x", ""]}, "apply: A command is missing."),
        ({"level-label": ["on", "on", ""]}, "Two levels are called"),
        ({"level-label": ["", "off", ""]}, "is not a name for a level"),
        ({"revert": "", "level-revert": ["", "x", ""]}, "revert: A command is missing."),
        ({"level-label": [], "level-apply": []}, "A host factor needs levels."),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_is_stored(
    agent: models.Agent, admin: Client, changes: dict[str, Any], message: str
) -> None:
    answer = admin.post("/agents/db1/host/add/", posted(**changes))
    assert answer.status_code == 422
    text = page_text(answer)
    problems = [part.partition("</p>")[0] for part in text.split('<p class="field-problem">')[1:]]
    assert any(message in problem for problem in problems), problems
    assert "Hyper-threading." in text
    assert not models.HostFactor.objects.exists()


def test_a_factor_is_changed_under_its_own_name(agent: models.Agent, admin: Client) -> None:
    factories.define_host_factor()
    text = page_text(admin.get("/agents/db1/host/cpu_governor/edit/"))
    assert "grep -qx powersave /sys/governor" in text
    admin.post("/agents/db1/host/cpu_governor/edit/", posted(name="another"))
    stored = models.HostFactor.objects.get()
    assert (stored.name, read(stored.toml)[0].show) == ("cpu_governor", "cat /sys/smt")


def test_toml_goes_in_and_comes_out(agent: models.Agent, admin: Client, stranger: Client) -> None:
    admin.post("/agents/db1/host/import/", {"toml": factories.HOST_FACTOR.replace("\n", "\r\n")})
    out = stranger.get("/agents/db1/host-factors.toml")
    assert read(out.content.decode()) == (factories.host_factor(),)
    wrong = admin.post("/agents/db1/host/import/", {"toml": "[x]\nshow = 'y'\n[Y]\n"})
    assert wrong.status_code == 422
    text = page_text(wrong)
    assert "x.levels" in text and "Y.name" in text and "show = &#x27;y&#x27;" in text
    assert models.HostFactor.objects.count() == 1


def test_a_factor_is_removed(agent: models.Agent, admin: Client) -> None:
    factories.define_host_factor()
    admin.post("/agents/db1/host/cpu_governor/remove/")
    assert not models.HostFactor.objects.exists()
    assert admin.post("/agents/db1/host/cpu_governor/remove/").status_code == 404
    assert admin.get("/agents/db1/host/cpu_governor/edit/").status_code == 404


def test_a_stranger_sees_what_may_be_set_and_no_button(
    agent: models.Agent, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    factories.define_host_factor()
    free = {"free_bytes": 2**30, "places": {"/mnt/ssd": 3 * 2**30}}
    models.Agent.objects.update(places={"ssd": "/mnt/ssd", "hdd": "/mnt/hdd"}, disk=free)
    with django_assert_max_num_queries(8):
        text = page_text(stranger.get("/agents/db1/"))
    for expected in (
        "host.cpu_governor",
        "performance, powersave",
        "host.cpus",
        "host.wal",
        "/mnt/ssd</span> (3 GB free)",
    ):
        assert expected in text
    assert "Define a host factor" not in text
    assert "/host/cpu_governor/" not in text


def test_what_a_vanished_trial_left_is_shown_until_it_is_back(agent: models.Agent, stranger: Client) -> None:
    factories.not_back("db1")
    text = page_text(stranger.get("/agents/db1/"))
    for expected in (
        "Not reverted",
        "cpu_governor",
        "performance",
        "powersave",
        "The trial ended without reverting it",
    ):
        assert expected in text
    assert "cpu_governor not reverted" in page_text(stranger.get("/agents/"))
    factories.not_back("db1", error="It is 'performance' and was 'powersave'. Permission denied")
    text = page_text(stranger.get("/agents/db1/"))
    assert "Reverting it failed" in text and "Permission denied" in text
    models.HostChange.objects.all().delete()
    assert "Not reverted" not in page_text(stranger.get("/agents/db1/"))


def test_what_a_running_trial_set_is_no_alarm(going: models.Run, stranger: Client) -> None:
    running = going.trials.get(state="running")
    factories.not_back("db1", running)
    text = page_text(stranger.get("/agents/db1/"))
    assert "The trial is running and reverts it at its end." in text
    assert f'<a href="/trials/{running.pk}/">trial {running.pk}</a>' in text.split("Not reverted")[1]
    assert "not reverted" not in page_text(stranger.get("/agents/"))


def test_storage_places_are_edited_as_lines(agent: models.Agent, admin: Client) -> None:
    models.Agent.objects.update(places={"ssd": "/mnt/ssd"})
    assert "ssd = /mnt/ssd" in page_text(admin.get("/agents/db1/edit/"))
    kept = {"name": "db1", "host": "127.0.0.1", "port": 1, "data_dir": "/srv/data", "work_dir": "/srv/work"}
    admin.post("/agents/db1/edit/", kept | {"places": "hdd = /mnt/hdd\r\n\r\nraid10=/mnt/raid"})
    assert models.Agent.objects.get().places == {"hdd": "/mnt/hdd", "raid10": "/mnt/raid"}
    for wrong, message in (
        ("hdd = relative", "is not an absolute path"),
        ("a b = /x", "is no name for a place"),
        ("hdd = /a\nhdd = /b", "stands in several lines"),
        ("hdd = /a/../b", "one that is &#x27;.&#x27; or &#x27;..&#x27;"),
    ):
        answer = admin.post("/agents/db1/edit/", kept | {"places": wrong})
        assert answer.status_code == 422
        assert message in page_text(answer)


def test_the_plan_form_holds_host_factors(agent: models.Agent, member: Client) -> None:
    factories.define_host_factor()
    text = page_text(member.get("/plans/add/"))
    assert 'value="host.cpu_governor">performance, powersave.' in text
    fields = {
        "name": "by governor",
        "workload": "pgbench",
        "topology": "single",
        "installation": "16",
        "agents.primary": "db1",
        "host-name": ["cpus", ""],
        "host-value": ["0-1", ""],
        "factor-name": ["host.cpu_governor"],
        "factor-value": ["performance, powersave"],
    }
    answer = member.post("/plans/add/", fields)
    assert answer.status_code == 302, page_text(answer)[:2000]
    plan = models.Plan.objects.get()
    assert 'cpus = "0-1"' in plan.toml
    again = page_text(member.get(f"/plans/{plan.pk}/edit/"))
    assert '<input name="host-name" list="host-names" value="cpus"' in again
    twice = member.post("/plans/add/", fields | {"host-name": ["cpus", "cpus"], "host-value": ["0", "1"]})
    assert "stands in 2 rows" in page_text(twice)


def test_the_preview_refuses_what_the_agent_does_not_allow(agent: models.Agent, member: Client) -> None:
    fields = {
        "name": "x",
        "workload": "pgbench",
        "topology": "single",
        "installation": "16",
        "agents.primary": "db1",
        "host-name": ["cpu_governor"],
        "host-value": ["performance"],
    }
    text = page_text(member.post("/plans/preview/", fields))
    assert "Agent db1 has no host factor &#x27;cpu_governor&#x27;." in text
    factories.define_host_factor()
    assert "Configurations" in page_text(member.post("/plans/preview/", fields))
    factories.not_back("db1", error="It is 'performance'.")
    assert "cpu_governor of agent db1 could not be set back" in page_text(member.post("/plans/preview/", fields))


@pytest.mark.parametrize("changed", [{"work_dir": "/elsewhere"}, {"host": "10.9.9.9"}, {"user": "other"}])
def test_an_agent_is_not_moved_away_from_what_is_not_back(agent: models.Agent, changed: dict[str, str]) -> None:
    factories.not_back("db1")
    with pytest.raises(StateError, match="'cpu_governor' of db1 is not back"):
        agents.update_agent(agent, changed, "test")
    models.HostChange.objects.all().delete()
    agents.update_agent(agent, changed, "test")
