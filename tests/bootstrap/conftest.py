"""Fixture: the bootstrap's command line in another state folder than that of the tests themselves."""

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
        """The environment of a new terminal, without the variables of these tests."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith("TEITEN_")}
        return plain | {"TEITEN_STATE": str(self.state)}

    def argv(self, *argv: str) -> list[str]:
        return [sys.executable, "-m", "bootstrap", *argv]

    def __call__(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, for at most ten minutes."""
        return subprocess.run(
            self.argv(*argv), cwd=CHECKOUT, env=self.environment, capture_output=True, text=True, timeout=600
        )


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bootstrap]:
    """The command line for a temporary folder that no other account can enter; cleaned up afterwards."""
    bootstrap_command = Bootstrap(tmp_path_factory.mktemp("bootstrap") / "state")
    first = bootstrap_command("oldpg")
    assert first.returncode == 0, first.stderr
    _lend_downloads(bootstrap_command.state / "downloads")
    yield bootstrap_command
    cleaned = bootstrap_command("clean")
    assert cleaned.returncode == 0, cleaned.stderr


def _lend_downloads(folder: Path) -> None:
    """Copy the old servers' archives that `make test` has fetched, so that nothing is fetched twice."""
    test_downloads = Path(os.environ.get("TEITEN_STATE", "")).parent / "downloads"
    if test_downloads.is_dir():
        shutil.copytree(test_downloads, folder)
