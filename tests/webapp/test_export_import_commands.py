"""manage.py export_run and import_run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from results import models
from tests import factories
from tests.measured_runs import forget, measured_run, numbers

pytestmark = pytest.mark.django_db


@pytest.fixture
def source(settings: Any, tmp_path: Path) -> models.Run:
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"
    return measured_run()


def test_a_run_is_written_under_its_name_and_read_again(source: models.Run, tmp_path: Path, capsys: Any) -> None:
    call_command("export_run", source.pk, to=tmp_path)
    [archive] = tmp_path.glob("*.zip")
    assert capsys.readouterr().out == f"{archive}: {archive.stat().st_size} bytes\n"
    before = numbers(source)
    forget(source)
    call_command("import_run", archive)
    run = models.Run.objects.get()
    origin = f"run {source.pk} of another Teiten, version 1.0.0, exploratory at first."
    assert capsys.readouterr().out == f"This is run {run.pk}, 16 against 18: {origin}\n"
    assert numbers(run) == before
    assert run.imported.actor == "command import_run"


def test_a_file_that_is_there_stays(source: models.Run, tmp_path: Path) -> None:
    there = tmp_path / "there.zip"
    there.write_text("precious")
    with pytest.raises(CommandError, match="File exists"):
        call_command("export_run", source.pk, to=there)
    assert there.read_text() == "precious"


def test_an_export_that_fails_leaves_no_file(source: models.Run, tmp_path: Path, settings: Any) -> None:
    path = settings.TEITEN_BUNDLE_DIR / models.Attempt.objects.exclude(bundle="").last().bundle
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(CommandError, match="not the one that was ingested"):
        call_command("export_run", source.pk, to=tmp_path)
    assert list(tmp_path.glob("*.zip")) == []


def test_refusals_say_why(source: models.Run, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no run"):
        call_command("export_run", factories.NO_ID)
    with pytest.raises(CommandError, match=r"missing\.zip"):
        call_command("import_run", tmp_path / "missing.zip")
    call_command("export_run", source.pk, to=tmp_path / "run.zip")
    with pytest.raises(CommandError, match=f"it is run {source.pk}"):
        call_command("import_run", tmp_path / "run.zip")
