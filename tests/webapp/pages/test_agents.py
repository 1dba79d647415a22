"""Agents' pages. Contacting a real one is tested where there is an sshd; here nobody listens on the port."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from results import models
from results.agents import record_contact
from tests import factories
from tests.page_text import page_text

FIRST, SECOND = "SHA256:" + "a" * 43, "SHA256:" + "b" * 43


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fields(listens_on: int, **changes: Any) -> dict[str, Any]:
    return {
        "name": "db2",
        "host": "127.0.0.1",
        "port": listens_on,
        "user": "bench",
        "data_dir": "/srv/data",
        "work_dir": "/srv/work",
        "search": "/opt/pg\n /opt/other \n",
        "enabled": "on",
    } | changes


def test_the_list_says_what_each_is_busy_with(
    going: models.Run, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(5):
        text = page_text(stranger.get("/agents/"))
    for expected in ("db1", "ready", f"run {going.pk}", "measure", "postgresql-18.1", "50 GB", "8 GB", "sar"):
        assert expected in text
    assert "Add an agent" not in text


def test_the_page_shows_facts_and_what_changed(db: None, stranger: Client, django_assert_max_num_queries: Any) -> None:
    agent = factories.agent()
    record_contact(agent.pk, factories.contact({"18.1": 180001}, kernel="6.8.0"), timezone.now())
    with django_assert_max_num_queries(8):
        text = page_text(stranger.get("/agents/db1/"))
    for expected in ("Test CPU", "6.1.0", "6.8.0", "postgresql-16.9", "gone", "not installed"):
        assert expected in text


def test_what_an_agent_has_is_not_known_before_it_is_reached(db: None, stranger: Client) -> None:
    place = {"host": "127.0.0.1", "data_dir": "/srv/data", "work_dir": "/srv/work"}
    models.Agent.objects.create(name="new", **place)
    for page in ("/agents/", "/agents/new/"):
        text = page_text(stranger.get(page))
        assert "not known yet" in text.lower()
        for claim in ("not installed", "not on this agent", "none found", "None found"):
            assert claim not in text, (page, claim)


def test_a_pgbench_that_came_with_postgresql_is_there(db: None, stranger: Client) -> None:
    factories.agent()
    assert "/opt/postgresql-18.1/bin/pgbench" in page_text(stranger.get("/agents/db1/"))
    models.Installation.objects.update(client_bin="")
    assert "/opt/postgresql-18.1/bin/pgbench" not in page_text(stranger.get("/agents/db1/"))


def test_the_page_shows_the_noise_that_aa_runs_found(
    db: None, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    run = factories.aa_run(0.02)
    with django_assert_max_num_queries(8):
        text = page_text(stranger.get("/agents/db1/"))
    assert f'<a href="/runs/{run.pk}/">run {run.pk}</a>' in text
    assert f"/api/v1/noise/?run={run.pk}" in text
    spread = models.Noise.objects.filter(metric="tps").values_list("spread", flat=True)
    assert f"{100 * sum(spread) / 2:.1f} %" in text  # the median of two
    assert "2 more metrics, of which neither direction is better" in text


def test_an_agent_without_aa_runs_shows_no_table_of_noise(db: None, stranger: Client) -> None:
    factories.agent()
    assert "Noise" not in page_text(stranger.get("/agents/db1/"))


def test_an_agent_is_added_contacted_and_its_error_shown(admin: Client, closed_port: int) -> None:
    answer = admin.post("/agents/add/", fields(closed_port), follow=True)
    agent = models.Agent.objects.get(name="db2")
    assert agent.search == ["/opt/pg", "/opt/other"]
    assert answer.redirect_chain == [("/agents/db2/", 302)]
    text = page_text(answer)
    assert 'class="problem"' in text
    assert str(closed_port) in text


def test_wrong_fields_are_named_and_nothing_is_stored(admin: Client, closed_port: int) -> None:
    wrong = fields(closed_port, name="a b; rm", port="99999", data_dir="relative", user="$(id)", search="not/absolute")
    answer = admin.post("/agents/add/", wrong)
    assert answer.status_code == 422
    text = page_text(answer)
    assert text.count("An absolute path.") == 2
    assert "Letters, digits" in text
    assert not models.Agent.objects.exists()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("data_dir", "/", "It is the whole machine."),
        ("data_dir", "/etc/teiten", "It belongs to the system."),
        ("work_dir", "/home", "It belongs to all of the machine"),
        ("work_dir", "/srv/data/clusters/work", "It lies in /srv/data/clusters"),
        ("work_dir", "/srv/../etc", "one that is"),
        ("search", "/", "/: It is the whole machine."),
        ("search", "/opt/../..", "one that is"),
        ("places", "ssd = /usr", "ssd: It belongs to the system."),
        ("places", "ssd = /srv/data/wal/x", "ssd: It lies in /srv/data/wal"),
    ],
)
def test_a_folder_in_which_removing_would_harm_others_is_refused(
    admin: Client, closed_port: int, field: str, value: str, words: str
) -> None:
    answer = admin.post("/agents/add/", fields(closed_port, **{field: value}))
    assert answer.status_code == 422
    assert words in page_text(answer)
    assert not models.Agent.objects.exists()


def test_an_edit_keeps_the_agent(admin: Client, closed_port: int) -> None:
    factories.agent()
    text = page_text(admin.get("/agents/db1/edit/"))
    assert 'value="/srv/data"' in text
    admin.post("/agents/db1/edit/", fields(closed_port, name="db1", data_dir="/srv/other"))
    assert models.Agent.objects.get(name="db1").data_dir == "/srv/other"
    taken = admin.post("/agents/add/", fields(closed_port, name="db1"))
    assert taken.status_code == 422
    assert "already exists" in page_text(taken)


def with_key(**changes: str) -> models.Agent:
    agent = factories.agent()
    models.Agent.objects.filter(pk=agent.pk).update(**changes)
    return agent


def test_a_first_host_key_waits_for_an_explicit_yes(admin: Client) -> None:
    with_key(state="unknown-key", offered_fingerprint=FIRST)
    text = page_text(admin.get("/agents/db1/accept/"))
    assert FIRST in text
    assert "trust this key" in text
    assert models.Agent.objects.get().host_key_fingerprint == ""
    assert "Check the host key" in page_text(admin.get("/agents/db1/"))


def test_a_changed_host_key_shows_both_and_says_that_everything_is_stopped(admin: Client) -> None:
    with_key(state="changed-key", host_key_fingerprint=FIRST, offered_fingerprint=SECOND)
    text = page_text(admin.get("/agents/db1/accept/"))
    assert FIRST in text
    assert SECOND in text
    assert "No trial runs on this agent until this is settled" in text


def test_another_fingerprint_than_the_offered_one_is_refused(admin: Client) -> None:
    with_key(state="unknown-key", offered_fingerprint=FIRST)
    answer = admin.post("/agents/db1/accept/", {"fingerprint": SECOND})
    assert answer.status_code == 409
    assert "This is not the fingerprint" in page_text(answer)
    assert models.Agent.objects.get().host_key_fingerprint == ""


def test_a_yes_is_stored_and_audited(admin: Client, closed_port: int) -> None:
    with_key(state="unknown-key", offered_fingerprint=FIRST, port=closed_port)
    admin.post("/agents/db1/accept/", {"fingerprint": FIRST})
    assert models.Agent.objects.get().host_key_fingerprint == FIRST
    assert models.AuditEntry.objects.filter(verb="accept host key", actor="admin").exists()


def test_unchanged_facts_are_as_old_as_their_discovery(db: None, stranger: Client) -> None:
    factories.agent()
    discovered_at = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    models.HostFacts.objects.update(at=discovered_at)
    assert "as they were first gathered at <time" in page_text(stranger.get("/agents/db1/"))
    assert "2026-01-02 03:04" in page_text(stranger.get("/agents/db1/")).split("first gathered")[1][:120]
