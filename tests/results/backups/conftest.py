"""A warehouse with measured runs, and an empty one beside it to restore into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from results import models
from results.backups.writing import back_up
from tests.databases import Elsewhere, empty_database
from tests.measured_runs import measured_run


@pytest.fixture(autouse=True)
def bundles(settings: Any, tmp_path: Path) -> Path:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    settings.TEITEN_OPEN_READING = True
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"
    return tmp_path / "bundles"


@pytest.fixture
def run(transactional_db: None, bundles: Path) -> models.Run:
    """Eight trials, of whose attempts seven have left a bundle."""
    return measured_run()


@pytest.fixture
def backup(run: models.Run, tmp_path: Path) -> Path:
    """A backup of that warehouse."""
    back_up(tmp_path / "backup")
    return tmp_path / "backup"


@pytest.fixture
def elsewhere(transactional_db: None, tmp_path: Path, settings: Any) -> Iterator[Elsewhere]:
    with empty_database() as name:
        yield Elsewhere(name, tmp_path / "bundles elsewhere", settings)
