"""Pages are tested without collected static files; a visitor of each kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from results import models
from results.models.audit import Role
from tests import factories


@pytest.fixture(autouse=True)
def _plain_static(settings: Any, tmp_path: Path) -> None:
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    settings.TEITEN_OPEN_READING = True
    settings.TEITEN_BUNDLE_DIR = tmp_path


@pytest.fixture
def stranger() -> Client:
    return Client()


@pytest.fixture
def member(db: None) -> Client:
    client = Client()
    client.force_login(factories.member())
    return client


@pytest.fixture
def signed_in(db: None) -> Callable[[Role], Client]:
    """A role → a client of an account that has it, and its name."""

    def of(role: Role) -> Client:
        client = Client()
        client.force_login(User.objects.filter(username=role).first() or factories.member(role, role))
        return client

    return of


@pytest.fixture
def admin(db: None) -> Client:
    client = Client()
    client.force_login(factories.member("admin", staff=True))
    return client


@pytest.fixture
def done(db: None) -> models.Run:
    return factories.finished_run()


@pytest.fixture
def going(db: None) -> models.Run:
    """One done, one failed, one running, the rest waiting."""
    run = factories.run()
    trials = list(run.trials.order_by("position").select_related("configuration"))
    factories.finish(trials[0])
    factories.fail(trials[1], "pgbench was aborted.", why="FATAL: terminating connection")
    factories.begin(trials[2], "measure", expected_s=60)
    return run
