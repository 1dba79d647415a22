"""manage.py import_results: imports files, or says why not."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from results import models
from tests.imported import FOLDER, TABLE


@pytest.fixture(autouse=True)
def _bundles(db: None, settings: Any, tmp_path: Path) -> None:
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"


def command(*arguments: str) -> str:
    out = StringIO()
    call_command("import_results", *arguments, stdout=out)
    return out.getvalue()


def test_files_are_recognised_and_imported() -> None:
    path = str(FOLDER / "pgbench-15-c4.txt")
    text = command(path, "--name", "db9", "--levels", "pgbench-15-c4.txt:shared_buffers=8GB")
    run = models.Run.objects.get()
    assert f"Run {run.pk}: db9, imported from pgbench" in text
    assert run.factors == [{"name": "shared_buffers", "levels": ["8GB"]}]


def test_a_table_takes_its_mapping_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text(TABLE)
    text = command(str(tmp_path / "old.csv"), "--column", "avg latency=metric:latency.mean:ms:lower", "--preview")
    assert "latency.mean 8 ms" in text
    assert models.Run.objects.count() == 0


def test_a_wrong_file_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="The run did not succeed"):
        command(str(FOLDER / "pgbench-15-aborted.txt"))
    with pytest.raises(CommandError, match="No such file"):
        command(str(tmp_path / "none.txt"))
    with pytest.raises(CommandError, match="write HEADING=ROLE"):
        command(str(FOLDER / "pgbench-15-c4.txt"), "--column", "tps")
    assert models.Run.objects.count() == 0
