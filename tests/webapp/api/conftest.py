from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import URLResolver, get_resolver
from rest_framework.test import APIClient

from results import models
from tests import factories
from tests.webapp.worlds import api_world

Visitor = Callable[[str], APIClient]


@pytest.fixture(autouse=True)
def plain_static(settings: Any) -> None:
    """Static files without a collected manifest."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


@pytest.fixture
def owner(db: Any) -> User:
    return User.objects.filter(username="ada").first() or factories.member("ada", staff=True)


@pytest.fixture
def visitor(owner: User) -> Visitor:
    """Scope, or 'anonymous' → a client with a token of that scope."""
    secrets = factories.tokens(owner)
    secrets["revoked"] = secrets["read"]

    def of(scope: str) -> APIClient:
        client = APIClient()
        if scope == "anonymous":
            return client
        if scope == "revoked":
            revoke(owner)
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secrets[scope]}")
        return client

    return of


def revoke(owner: User) -> None:
    models.ApiToken.objects.filter(user=owner, scope="read").update(revoked_at=owner.date_joined)


@pytest.fixture
def anonymous() -> APIClient:
    return APIClient()


@pytest.fixture
def bundles(tmp_path: Path, settings: Any) -> Path:
    settings.TEITEN_BUNDLE_DIR = tmp_path
    return tmp_path


@pytest.fixture(scope="module")
def kept_world(kept: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What all tests of a file begin with, which asks for it by `usefixtures`, and the folder of its bundles."""
    folder = tmp_path_factory.mktemp("bundles")
    return api_world(factories.member("ada", staff=True), folder), folder


@pytest.fixture
def world(request: pytest.FixtureRequest, db: Any, bundles: Path, owner: User, settings: Any) -> dict[str, Any]:
    """`api_world`: that of all tests of the file, where they have one."""
    if "kept_world" not in request.fixturenames:
        return api_world(owner, bundles)
    made, settings.TEITEN_BUNDLE_DIR = request.getfixturevalue("kept_world")
    return made


def endpoints() -> list[str]:
    """Every route below /api/v1/, but for the one that catches the rest."""
    (api,) = (p for p in get_resolver().url_patterns if str(p.pattern) == "api/v1/")
    assert isinstance(api, URLResolver)
    return [str(p.pattern) for p in api.url_patterns if str(p.pattern) != "<path:rest>"]


@pytest.fixture
def routes() -> list[str]:
    return endpoints()
