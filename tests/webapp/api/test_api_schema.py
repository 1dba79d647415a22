"""OpenAPI, Swagger UI, and the guide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from results.domain import errors
from webapp.problems import status_of

GUIDE = Path(__file__).parents[3] / "docs" / "api.md"


def test_the_schema_has_no_warning(tmp_path: Path) -> None:
    target = tmp_path / "schema.yml"
    call_command("spectacular", "--fail-on-warn", "--validate", "--file", str(target))
    text = target.read_text()
    assert "/api/v1/runs/{id}/medians/" in text
    assert "#/components/schemas/Failure" in text


@pytest.mark.django_db
def test_swagger_comes_from_local_files(anonymous: APIClient) -> None:
    page = anonymous.get("/api/v1/docs/").content.decode()
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert sources
    assert [source for source in sources if not source.startswith("/static/")] == []


def test_the_guide_has_a_heading_for_every_endpoint(routes: list[str]) -> None:
    endpoints = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route).replace("{pk}", "{id}") for route in routes}
    headings = set(re.findall(r"^#+ .*`/api/v1/([^`]*)`", GUIDE.read_text(), re.MULTILINE))
    assert endpoints - headings == set()
    assert headings - endpoints == set()


def test_the_guide_names_every_kind_of_error_with_its_status() -> None:
    table = {
        kind: status
        for statuses, kinds in re.findall(r"^\| ([\d, ]+) \| (`[^|]+`) \|", GUIDE.read_text(), re.MULTILINE)
        for kind in re.findall(r"`([^`]+)`", kinds)
        for status in [statuses.split(", ")]
    }
    classes = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.TeitenError)]
    assert len(classes) > 10
    for one in classes:
        assert str(status_of(one.__new__(one))) in table[one.kind], one
