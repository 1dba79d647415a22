"""Kinds are found by walking folders, those of the installation's own among them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import TeitenError
from webapp import env
from workers import registry

ROOT = Path(__file__).parents[2]
KINDS = ROOT / "tests" / "kinds"


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """An empty folder for an installation's kinds."""
    settings.TEITEN_KINDS = (tmp_path,)
    registry.kinds.cache_clear()
    yield tmp_path
    settings.TEITEN_KINDS = ()
    registry.kinds.cache_clear()
    registry.kinds()


def test_a_folder_of_ones_own_adds_to_what_teiten_has(folder: Path) -> None:
    before = set(registry.kinds().workloads)
    shutil.copytree(KINDS / "workloads" / "counted", folder / "workloads" / "counted")
    registry.kinds.cache_clear()
    assert set(registry.kinds().workloads) == before | {"counted"}
    assert registry.workload("counted").__class__.__name__ == "Counted"


def test_two_kinds_of_one_name_are_refused_with_both_places(folder: Path) -> None:
    shutil.copytree(KINDS / "workloads" / "counted", folder / "workloads" / "pgbench")
    with pytest.raises(TeitenError, match="Two kinds are called 'pgbench'") as refused:
        registry.kinds()
    assert refused.value.where == str(folder / "workloads")
    assert "workers/workloads" in refused.value.why


def test_a_spec_is_called_as_its_folder(folder: Path) -> None:
    shutil.copytree(KINDS / "workloads" / "counted", folder / "workloads" / "renamed")
    with pytest.raises(TeitenError, match="The spec's name is 'counted'") as refused:
        registry.kinds()
    assert refused.value.where == str(folder / "workloads" / "renamed")


def test_a_kind_that_is_not_there_is_named_with_where_it_could_be() -> None:
    with pytest.raises(TeitenError, match="This Teiten has no 'nothing'") as refused:
        registry.topology("nothing")
    assert "TEITEN_KINDS" in refused.value.todo


def test_the_setting_names_folders_that_exist(tmp_path: Path) -> None:
    values = {"TEITEN_DEBUG": "1", "TEITEN_KINDS": f"{tmp_path}{os.pathsep}{KINDS}"}
    assert env.read(values).kinds == (tmp_path, KINDS)
    assert env.read({"TEITEN_DEBUG": "1"}).kinds == ()
    with pytest.raises(TeitenError, match="There is no folder") as refused:
        env.read({"TEITEN_DEBUG": "1", "TEITEN_KINDS": f"{tmp_path}/absent"})
    assert refused.value.where == "TEITEN_KINDS"


def test_a_process_finds_them_by_its_environment() -> None:
    program = "import django; django.setup(); from workers.registry import kinds; print(*kinds().topologies)"
    environment = os.environ | {"TEITEN_KINDS": str(KINDS), "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert {"registered", "single"} <= set(done.stdout.split()), done.stderr


def test_every_metric_with_labels_says_what_they_are() -> None:
    kinds = registry.kinds()
    metrics = [one for spec in kinds.workloads.values() for one in spec.metrics]
    metrics += [one for spec in kinds.collectors.values() for one in spec.metrics]
    assert not [one.name for one in metrics if re.search(r"\bLabels?:", one.help) and not one.label_noun]
