"""Query parameters: what an endpoint does not know is an error, what it knows is described, and what pages link to is
known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from tests.webapp.api.test_api_access import READING, WRITING
from tests.webapp.worlds import more_of_api_world
from webapp.api.parameters import query_names
from webapp.api.trials import Trials

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("kept_world")]
PAGES = (
    "/compare/?run={compared}&filter.clients=1,4&axes=log&view=ratio&scale=shared",
    "/compare/changes/?run={compared}",
    "/capabilities/?installation=16.9&tag=paper",
    "/versions/?since=2026-01-01",
    "/access-methods/?tag=paper",
    "/topologies/?tag=paper",
    "/c/{citation}/",
    "/trials/{done}/",
    "/account/tokens/",
)


@pytest.fixture(scope="module")
def kept_world(kept_world: tuple[dict[str, Any], Path]) -> tuple[dict[str, Any], Path]:
    ids, bundles = kept_world
    return ids | more_of_api_world(bundles), bundles


@pytest.mark.parametrize("path", [path for path in READING if path not in ("docs/", "schema/")])
def test_an_unknown_parameter_is_an_error_that_names_the_known_ones(
    path: str, world: dict[str, Any], anonymous: APIClient, settings: Any
) -> None:
    settings.TEITEN_OPEN_READING = True
    url = f"/api/v1/{path.format(**world)}"
    answer = anonymous.get(f"{url}{'&' if '?' in url else '?'}clinets=4")
    assert answer.status_code == 400, answer.content
    error = answer.json()["error"]
    assert (error["what"], error["where"]) == ("There is no parameter 'clinets'.", "clinets")
    assert "There are" in error["todo"]


@pytest.mark.parametrize(("method", "path"), [row[:2] for row in WRITING])
def test_a_change_with_an_unknown_parameter_changes_nothing(
    method: str, path: str, world: dict[str, Any], visitor: Any
) -> None:
    answer = getattr(visitor("admin"), method)(f"/api/v1/{path.format(**world)}?dry=1", {}, format="json")
    assert (answer.status_code, answer.json()["error"]["where"]) == (400, "dry")


def test_the_name_that_was_probably_meant_is_said(world: dict[str, Any], visitor: Any) -> None:
    todo = visitor("read").get("/api/v1/trials/?stat=done").json()["error"]["todo"]
    assert todo.startswith("Did you mean state? There are fields, run, ")
    meant = visitor("read").get(f"/api/v1/comparison/?run={world['run']}&clients=4").json()["error"]["todo"]
    assert meant.startswith("Did you mean filter.clients, where clients is a dimension?")


def test_what_is_described_is_what_is_known() -> None:
    described = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    names = [one["name"] for one in described["/api/v1/trials/"]["get"]["parameters"] if one["in"] == "query"]
    assert sorted(names) == sorted(query_names(Trials, "list"))


@pytest.mark.parametrize("page", PAGES)
def test_pages_link_to_what_the_api_knows(page: str, world: dict[str, Any], client: Client, owner: Any) -> None:
    client.force_login(owner)
    answer = client.get(page.format(**world))
    assert answer.status_code == 200, answer.content
    text = answer.content.decode()
    links = {link.replace("&amp;", "&") for link in re.findall(r'href="(?:http://testserver)?(/api/v1/[^"]*)"', text)}
    assert links or "/capabilities/" in page
    for link in links:
        assert client.get(link).status_code in (200, 404), urlsplit(link)
