"""OpenAPI, Swagger UI, and the guide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from results.domain import errors
from webapp.problems import status_of

SCHEMA = "/api/v1/schema/?format=json"
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


@pytest.fixture
def schemas(anonymous: APIClient, settings: Any) -> dict[str, Any]:
    """The schema in each language."""
    settings.TEITEN_OPEN_READING = True
    answers = {language: anonymous.get(SCHEMA, HTTP_ACCEPT_LANGUAGE=language) for language in ("en", "ja")}
    for language, answer in answers.items():
        assert answer["Content-Language"] == language
        assert "Accept-Language" in answer["Vary"]
    return {language: answer.json() for language, answer in answers.items()}


def texts(part: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield (where, text) of what people read."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        if key in ("description", "summary", "title") and isinstance(value, str):
            yield f"{place}.{key}", value
        else:
            yield from texts(value, f"{place}.{key}")


def without_texts(part: Any) -> Any:
    if isinstance(part, list):
        return [without_texts(item) for item in part]
    if not isinstance(part, dict):
        return part
    texts = {key for key in ("description", "summary", "title") if isinstance(part.get(key), str)}
    return {key: "" if key in texts else without_texts(value) for key, value in part.items()}


@pytest.mark.django_db
def test_the_schema_is_in_the_readers_language_and_otherwise_the_same(schemas: dict[str, Any]) -> None:
    assert without_texts(schemas["ja"]) == without_texts(schemas["en"])
    get = schemas["ja"]["paths"]["/api/v1/runs/"]["get"]
    assert get["summary"] == "すべての実行（新しい順）"
    assert "カーソル" in next(one["description"] for one in get["parameters"] if one["name"] == "cursor")
    assert "失敗した理由" in schemas["ja"]["components"]["schemas"]["Trial"]["description"]


@pytest.mark.django_db
def test_every_text_of_the_schema_is_translated_with_its_lists_and_its_code(schemas: dict[str, Any]) -> None:
    english, japanese = dict(texts(schemas["en"])), dict(texts(schemas["ja"]))
    assert len(english) > 1000
    assert {text for text in english.values() if re.search(r"[ぁ-ヿ一-鿿]", text)} == set()
    for place, text in english.items():
        code = [set(re.findall(r"`[^`]*`", one)) for one in (text, japanese[place])]
        assert code[0] == code[1], place
        marks = [re.findall(r"^(- |\* |$)", one, re.MULTILINE) for one in (text, japanese[place])]
        assert marks[0] == marks[1], place
    signatures = re.compile(r"^\w+\(\w+: '")  # of a dataclass without a docstring
    same = {text for place, text in english.items() if text and japanese[place] == text}
    assert {text for text in same if not signatures.match(text)} == {"Teiten"}


@pytest.mark.django_db
def test_swagger_asks_for_the_schema_in_the_language_of_its_page(anonymous: APIClient, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    for language in ("ja", "en"):
        page = anonymous.get(f"/api/v1/docs/?lang={language}").content.decode()
        assert rf'"/api/v1/schema/?lang\u003D{language}"' in page


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
