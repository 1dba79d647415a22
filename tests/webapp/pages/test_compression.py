"""What is sent packed, and what is not."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from results import models
from tests import factories

ACCEPT = {"Accept-Encoding": "gzip, deflate, br"}
NAMED = 8  # the flag of a gzip header that has a file name: Django's random bytes


@pytest.fixture
def kept(db: None, tmp_path: Path, settings: Any) -> models.Run:
    settings.TEITEN_BUNDLE_DIR = tmp_path
    settings.TEITEN_OPEN_READING = True
    run = factories.run()
    for trial in run.trials.select_related("configuration"):
        factories.finish(trial, bundles=tmp_path)
    return run


def masked(page: bytes) -> bytes:
    """Without the CSRF token, which is another one in every answer."""
    return re.sub(rb'(name="csrfmiddlewaretoken" value=|"X-CSRFToken": )"[^"]*"', b"", page)


@pytest.mark.parametrize(
    "path", ["/", "/compare/?run={run}", "/api/v1/measurements/?run={run}", "/api/v1/comparison.csv?run={run}"]
)
def test_pages_and_answers_are_packed_for_who_takes_them_so(path: str, kept: models.Run) -> None:
    address = path.format(run=kept.pk)
    plain, packed = Client().get(address), Client().get(address, headers=ACCEPT)
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert int(packed["Content-Length"]) == len(packed.content) < len(plain.content)
    assert masked(gzip.decompress(packed.content)) == masked(plain.content)
    for answer in (plain, packed):
        assert "Accept-Encoding" in answer["Vary"]
    assert packed.content[3] & NAMED


def test_a_packed_page_is_known_again(kept: models.Run) -> None:
    client = Client()
    client.get(f"/compare/?run={kept.pk}")  # for the cookie, by which a visitor's pages are told apart
    packed = client.get(f"/compare/?run={kept.pk}", headers=ACCEPT)
    assert packed["ETag"].startswith('W/"')
    for tag in (packed["ETag"], packed["ETag"].removeprefix("W/")):
        again = client.get(f"/compare/?run={kept.pk}", headers=ACCEPT | {"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert "Accept-Encoding" in again["Vary"]


def test_an_archive_keeps_its_bytes_and_its_length(kept: models.Run) -> None:
    trial = kept.trials.select_related("attempt").first()
    assert trial is not None and trial.attempt is not None
    for path in (f"/trials/{trial.pk}/1/bundle/", f"/api/v1/trials/{trial.pk}/bundle/"):
        answer = Client().get(path, headers=ACCEPT)
        sent = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
        assert "Content-Encoding" not in answer
        assert int(answer["Content-Length"]) == len(sent) == trial.attempt.bundle_bytes


@pytest.mark.parametrize("form", ["ndjson", "csv"])
def test_a_stream_is_packed_piece_by_piece(form: str, kept: models.Run) -> None:
    address = f"/api/v1/measurements/?run={kept.pk}&format={form}"
    plain, packed = Client().get(address), Client().get(address, headers=ACCEPT)
    assert packed.streaming
    assert (packed["Content-Encoding"], "Content-Length" in packed) == ("gzip", False)
    assert gzip.decompress(b"".join(packed)) == b"".join(plain)


def test_parquet_is_sent_as_it_is(kept: models.Run) -> None:
    answer = Client().get(f"/api/v1/measurements/?run={kept.pk}&format=parquet", headers=ACCEPT)
    assert "Content-Encoding" not in answer
    assert b"".join(answer)[:4] == b"PAR1"


@pytest.mark.parametrize("path", ["runs/", "runs/{run}/medians/", "measurements/", "kinds/", "", "versions/"])
def test_an_answer_of_the_api_is_known_again_until_it_is_another(path: str, kept: models.Run) -> None:
    address = f"/api/v1/{path.format(run=kept.pk)}"
    first = Client().get(address)
    assert Client().get(address, headers={"If-None-Match": first["ETag"]}).status_code == 304
    packed = Client().get(address, headers=ACCEPT | {"If-None-Match": f"W/{first['ETag']}"})
    assert (packed.status_code, packed.content) == (304, b"")
    assert {"Accept", "Authorization"} <= set(first["Vary"].split(", "))


def test_an_answer_that_is_another_one_is_sent(kept: models.Run) -> None:
    first = Client().get("/api/v1/runs/")
    models.Run.objects.filter(pk=kept.pk).update(name="renamed")
    again = Client().get("/api/v1/runs/", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.json()["results"][0]["name"]) == (200, "renamed")
