"""A run's trials are run without a warehouse, from a file, and their bundles uploaded to where the run is."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from results import models
from tests.live.trials.test_commands import plan_file
from workers import tasks


def test_orders_are_run_by_a_process_that_has_no_warehouse_and_come_back_as_bundles(
    agent: models.Agent, tmp_path: Path
) -> None:
    call_command("run_plan", plan_file(tmp_path), "--no-wait", stdout=io.StringIO())
    models.Run.objects.update(state="running")
    trial = models.Trial.objects.get()
    orders, folder = tmp_path / "orders.json", tmp_path / "carried"
    call_command("export_orders", str(trial.run_id), "--to", str(orders), stdout=io.StringIO())
    assert "PRIVATE" not in orders.read_text()
    surroundings = {k: v for k, v in os.environ.items() if not k.startswith(("TEITEN_DATABASE", "TEITEN_REDIS"))}
    nowhere = {"TEITEN_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "TEITEN_REDIS_URL": "redis://127.0.0.1:1"}
    made = subprocess.run(
        [sys.executable, "manage.py", "run_orders", str(orders), "--to", str(folder)],
        env=surroundings | nowhere | {"TEITEN_DEBUG": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    [bundle] = folder.rglob("*.tar.gz")
    assert str(bundle) in made.stdout
    assert tasks.receive_bundle(trial.pk, [bundle.read_bytes()], user=None, actor="tests", key="") == (trial.pk, True)
    trial.refresh_from_db()
    assert trial.state == "done"
    assert models.Measurement.objects.get(attempt__trial=trial, metric="tps", node="", label="").value > 0


@pytest.mark.parametrize("text", ["", "{}", '{"orders": [{}]}', '{"orders": 5}'])
def test_what_are_no_orders_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "orders.json"
    file.write_text(text)
    with pytest.raises(CommandError, match="These are no orders"):
        call_command("run_orders", str(file), "--to", str(tmp_path))
