"""The audit log: what it shows, to whom, and that it stays."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.test import Client

from results import models, runs
from results.models.audit import Role, Scope
from tests import factories
from tests.page_text import page_text
from webapp.access import new_token


@pytest.fixture
def entries(db: None) -> list[models.AuditEntry]:
    for number in range(105):
        runs.audit("ada", "tag", f"run {number}", tags=["paper"], before=[])
    runs.audit("grace", "delete run", "run 7", name="<b>nightly</b>")
    return list(models.AuditEntry.objects.all())


def test_the_page_shows_who_did_what_to_what_newest_first_and_the_rest_page_by_page(
    entries: list[models.AuditEntry], admin: Client, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(3):
        text = page_text(admin.get("/audit/"))
    assert text.index("delete run") < text.index("run 104") and text.count("<tr>") == 101
    assert "&lt;b&gt;nightly&lt;/b&gt;" in text and "<b>nightly</b>" not in text
    assert "run 5</a>" not in text and f"?before={entries[99].pk}" in text
    assert "run 5</a>" in page_text(admin.get(f"/audit/?before={entries[99].pk}"))
    assert page_text(admin.get("/audit/?actor=grace")).count("<tr>") == 2
    assert page_text(admin.get("/audit/?object=run 7&verb=tag")).count("<tr>") == 2
    assert "Nothing in the log is exactly so." in page_text(admin.get("/audit/?actor=nobody"))


def test_the_api_has_the_same(entries: list[models.AuditEntry], admin: Client) -> None:
    [entry] = admin.get("/api/v1/audit/?actor=grace").json()["results"]
    assert (entry["verb"], entry["object"], entry["detail"]) == ("delete run", "run 7", {"name": "<b>nightly</b>"})
    page = admin.get("/api/v1/audit/?page_size=100").json()
    assert len(page["results"]) == 100 and len(admin.get(page["next"]).json()["results"]) == 6


def test_the_longest_names_have_room(db: None, client: Client) -> None:
    _, secret = new_token(factories.member("u" * 150, Role.OPERATOR), "t" * 100, Scope.RUN)
    plan = factories.stored_plan()
    answer = client.put(
        f"/api/v1/plans/{plan.pk}/",
        factories.mapping(replicates=1),
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 200
    assert models.AuditEntry.objects.filter(actor=f"token {'t' * 100} ({'u' * 150})", verb="change plan").exists()


def test_only_an_administrator_reads_it(entries: list[models.AuditEntry], stranger: Client, member: Client) -> None:
    assert stranger.get("/audit/").status_code == 302
    assert stranger.get("/api/v1/audit/").status_code == 401
    assert member.get("/audit/").status_code == 403
    assert member.get("/api/v1/audit/").status_code == 403


@pytest.mark.parametrize("statement", ["UPDATE results_auditentry SET actor = 'x'", "DELETE FROM results_auditentry"])
def test_the_warehouse_refuses_to_change_an_entry(statement: str, entries: list[models.AuditEntry]) -> None:
    with (
        pytest.raises(ProgrammingError, match="never changed or removed"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert list(models.AuditEntry.objects.all()) == entries


def test_what_somebody_does_on_a_page_is_filed_with_the_address(member: Client, done: models.Run) -> None:
    member.post(f"/runs/{factories.run(seed=3).pk}/cancel/", REMOTE_ADDR="192.0.2.4")
    assert models.AuditEntry.objects.get(verb="cancel run").address == "192.0.2.4"
    assert models.AuditEntry.objects.filter(verb="create run", address="").count() == 2  # by no request
