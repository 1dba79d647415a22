"""Published reports over the API: what was published, and nothing of what was withdrawn."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from results import models, reports
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def edition(db: Any) -> models.Edition:
    return factories.edition(factories.finished_run(replicates=3))


def test_an_edition_is_there_with_its_numbers(
    anonymous: APIClient, edition: models.Edition, django_assert_num_queries: Any
) -> None:
    (listed,) = anonymous.get("/api/v1/reports/").json()["results"]
    assert (listed["sha256"], listed["authors"], listed["trials"]) == (edition.hash, ["Ada"], len(edition.attempts))
    with django_assert_num_queries(1):
        answer = anonymous.get(listed["links"]["self"]).json()
    kinds = [next(iter(part)) for part in answer["parts"]]
    assert kinds == ["prose", "prose", "figure", "table"]
    assert "svg" not in answer["parts"][2]["figure"]
    assert answer["provenance"]["trials"] and answer["text"] == edition.source
    assert anonymous.get(answer["files"]["html"]).status_code == 200
    assert anonymous.get(f"/api/v1/citations/{answer['citations'][0]}/").status_code == 200


def test_what_was_withdrawn_is_not_there(anonymous: APIClient, edition: models.Edition) -> None:
    reports.withdraw(edition, "The disk was full.", actor="tests")
    answer = anonymous.get(f"/api/v1/reports/{edition.report_id}/1/").json()
    assert answer["withdrawal"] == "The disk was full."
    assert [answer[name] for name in ("text", "parts", "provenance", "files")] == [None] * 4
    assert anonymous.get(f"/api/v1/reports/{edition.report_id}/2/").status_code == 404
