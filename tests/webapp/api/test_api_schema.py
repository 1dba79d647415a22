"""OpenAPI, Swagger UI, and the guide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

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
