"""Starts of the bootstrap in a state folder of their own, beside the one that the tests themselves run in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bootstrap.places import CHECKOUT


@dataclass(frozen=True)
class Bootstrap:
    """The command line, tied to one state folder."""

    state: Path

    @property
    def environment(self) -> dict[str, str]:
        """As in a new terminal: nothing of the surroundings of these tests."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith("TEITEN_")}
        return plain | {"TEITEN_STATE": str(self.state)}

    def words(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "bootstrap", *words]

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs it to its end; at most ten minutes."""
        return subprocess.run(
            self.words(*words), cwd=CHECKOUT, env=self.environment, capture_output=True, text=True, timeout=600
        )


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bootstrap]:
    """In a temporary folder, which no other account can reach; removed afterwards with all that was started."""
    made = Bootstrap(tmp_path_factory.mktemp("bootstrap") / "state")
    first = made("oldpg")
    assert first.returncode == 0, first.stderr
    _lend_downloads(made.state / "downloads")
    yield made
    cleaned = made("clean")
    assert cleaned.returncode == 0, cleaned.stderr


def _lend_downloads(folder: Path) -> None:
    """Gives the old servers' archives that `make test` has fetched, so that nothing is fetched twice."""
    around = Path(os.environ.get("TEITEN_STATE", "")).parent / "downloads"
    if around.is_dir():
        shutil.copytree(around, folder)
