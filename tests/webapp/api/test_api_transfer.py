"""A run leaves by the API of one Teiten and enters by that of another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from results import models
from tests import factories
from tests.measured_runs import forget, measured_run, numbers
from tests.page_text import page_text

pytestmark = pytest.mark.django_db
IMPORT = "/api/v1/runs/import/"


@pytest.fixture
def source(bundles: Path) -> models.Run:
    return measured_run()


@pytest.fixture
def archive(source: models.Run, anonymous: APIClient) -> bytes:
    answer: Any = anonymous.get(f"/api/v1/runs/{source.pk}/export/")
    return b"".join(answer.streaming_content)


def sent(client: APIClient, archive: bytes, name: str = "") -> Any:
    query = f"?name={name}" if name else ""
    return client.generic("POST", f"{IMPORT}{query}", archive, content_type="application/zip")


def test_the_download_is_streamed_and_named_after_what_it_holds(source: models.Run, anonymous: APIClient) -> None:
    answer: Any = anonymous.get(f"/api/v1/runs/{source.pk}/export/")
    assert (answer.streaming, answer["Content-Type"]) == (True, "application/zip")
    name = f"run-{source.pk}-16-against-18-{source.ended_at:%Y-%m-%d}.zip"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert next(iter(answer.streaming_content)).startswith(b"PK\x03\x04")


def test_an_upload_answers_with_the_run_and_where_it_comes_from(
    source: models.Run, archive: bytes, visitor: Callable[[str], APIClient]
) -> None:
    before = numbers(source)
    forget(source)
    answer = sent(visitor("admin"), archive, "mail.zip")
    run = models.Run.objects.get()
    assert (answer.status_code, answer.json()["id"]) == (201, run.pk)
    assert answer.json()["standing"] == "exploratory"
    said = answer.json()["from_teiten"]
    assert (said["run"], said["archive"], said["by"]) == (
        source.pk,
        "mail.zip",
        "token admin token (ada)",
    )
    assert run.created_by.get_username() == "ada"
    assert numbers(run) == before


@pytest.mark.parametrize(("scope", "status"), [("anonymous", 401), ("read", 403), ("run", 403)])
def test_an_upload_needs_the_scope_admin_and_is_not_read_without_it(
    scope: str, status: int, source: models.Run, archive: bytes, visitor: Callable[[str], APIClient]
) -> None:
    forget(source)
    answer = sent(visitor(scope), archive)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (status, "access")
    assert not models.Run.objects.exists()


def test_a_second_upload_names_the_run_that_is_there(
    source: models.Run, archive: bytes, visitor: Callable[[str], APIClient]
) -> None:
    answer = sent(visitor("admin"), archive)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (409, "state")
    assert f"it is run {source.pk}" in answer.json()["error"]["what"]


@pytest.mark.parametrize("body", [b"", b"PK", json.dumps({"toml": ""}).encode()])
def test_what_is_no_archive_is_refused_in_words(
    body: bytes, visitor: Callable[[str], APIClient], bundles: Path
) -> None:
    answer = sent(visitor("admin"), body)
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"], error["what"]) == (400, "archive", "The archive cannot be read.")
    assert error["todo"] and error["why"]


def test_a_body_of_unknown_length_is_refused_in_words(visitor: Callable[[str], APIClient]) -> None:
    answer = visitor("admin").generic("POST", IMPORT, b"", HTTP_TRANSFER_ENCODING="chunked")
    assert (answer.status_code, answer.json()["error"]["where"]) == (413, "Transfer-Encoding")


def test_a_run_that_goes_on_or_is_not_there_is_not_downloaded(world: dict[str, Any], anonymous: APIClient) -> None:
    assert anonymous.get(f"/api/v1/runs/{world['run']}/export/").status_code == 409
    assert anonymous.get(f"/api/v1/runs/{factories.NO_ID}/export/").status_code == 404


def test_the_page_says_where_a_run_comes_from_and_offers_no_verb_that_measures(
    source: models.Run, archive: bytes, visitor: Callable[[str], APIClient], client: Client
) -> None:
    here = page_text(client.get(f"/runs/{source.pk}/"))
    assert "<b>From another Teiten:</b>" not in here
    assert "Export this run" in here
    client.force_login(factories.member("grace"))
    verbs = ("Repeat</button>", "Add replicates", "Retry 1 failed", "Measure its noise")
    own = page_text(client.get(f"/runs/{source.pk}/"))
    assert [verb for verb in verbs if verb not in own] == []
    forget(source)
    run_id = sent(visitor("admin"), archive).json()["id"]
    page = page_text(client.get(f"/runs/{run_id}/"))
    assert f"<b>From another Teiten:</b> its run {source.pk}, version 1.0.0" in page
    assert "machines that are no agents here" in page
    assert "Export this run" in page
    assert [verb for verb in verbs if verb in page] == []
    assert "another Teiten's</span>" in page_text(client.get("/runs/"))


def test_every_page_of_an_imported_run_answers_and_its_raw_files_are_there(
    source: models.Run, archive: bytes, visitor: Callable[[str], APIClient], client: Client, anonymous: APIClient
) -> None:
    forget(source)
    run_id = sent(visitor("admin"), archive).json()["id"]
    client.force_login(factories.member("grace"))
    done = models.Trial.objects.get(run=run_id, position=3)
    failed = models.Trial.objects.get(run=run_id, state="failed")
    pages = (f"/trials/{done.pk}/", f"/compare/?run={run_id}", f"/diff/?left=trial:{done.pk}&right=run:{run_id}")
    more = (f"/compare/changes/?run={run_id}", f"/runs/{run_id}/plan.toml", "/", "/runs/")
    answers = [client.get(page) for page in (*pages, *more)]
    assert [answer.status_code for answer in answers] == [200] * 7
    assert "Add to run" not in page_text(answers[1])
    page = page_text(client.get(f"/trials/{failed.pk}/"))
    assert "The server was gone." in page
    assert ">another Teiten's</span>" in page
    assert "Retry" not in page
    stdout = anonymous.get(f"/api/v1/trials/{done.pk}/files/workload/stdout")
    assert b"tps = 1003" in stdout.content
    assert anonymous.get(f"/api/v1/trials/{done.pk}/").json()["from_teiten"] is True
    assert {row["from_teiten"] for row in anonymous.get(f"/api/v1/trials/?run={run_id}").json()["results"]} == {True}


def test_the_same_import_sent_again_with_its_key_gives_the_same_run(
    source: models.Run, archive: bytes, visitor: Callable[[str], APIClient]
) -> None:
    forget(source)
    client = visitor("admin")

    def send(data: bytes) -> Any:
        return client.generic("POST", IMPORT, data, content_type="application/zip", HTTP_IDEMPOTENCY_KEY="one")

    first, again = send(archive), send(archive)
    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    assert models.Run.objects.count() == 1
    other = send(archive + b" ")
    assert (other.status_code, other.json()["error"]["where"]) == (409, "Idempotency-Key")
    assert sent(client, archive).status_code == 409
