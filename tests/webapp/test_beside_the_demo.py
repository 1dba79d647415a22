"""manage.py in a terminal beside the demo; with a real demo in tests/bootstrap/test_demo.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bootstrap.places import CHECKOUT
from bootstrap.processes import find
from results.domain.errors import TeitenError
from webapp import env

KEY = "the demo's, of fifty characters and more as it has to be"
_SETTINGS = {"TEITEN_SECRET_KEY": KEY, "TEITEN_STATE": "/srv/demo", "TEITEN_LOG_LEVEL": "INFO"}


def noted(state: Path, started: int | None = None) -> None:
    """As the demo notes its settings; this process stands for it."""
    process = find(os.getpid())
    assert process is not None
    (state / "run").mkdir(parents=True)
    content = {"process": [process.pid, process.started if started is None else started], "environment": _SETTINGS}
    (state / "run" / "environment.json").write_text(json.dumps(content))


def manage(state: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TEITEN_")}
    environment = plain | {"TEITEN_STATE": str(state)} | settings
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True)


def test_the_settings_of_the_demo_that_runs_are_taken(tmp_path: Path) -> None:
    noted(tmp_path / ".teiten")
    assert env.beside_demo({}, tmp_path) == _SETTINGS
    assert env.beside_demo({"TEITEN_STATE": str(tmp_path / ".teiten")}, Path("/elsewhere")) == _SETTINGS


def test_without_a_demo_none_are(tmp_path: Path) -> None:
    assert env.beside_demo({}, tmp_path) == {}


@pytest.mark.parametrize("name", ["TEITEN_DATABASE_URL", "TEITEN_REDIS_URL", "TEITEN_SECRET_KEY"])
def test_servers_of_the_environment_are_never_mixed_with_the_demos(tmp_path: Path, name: str) -> None:
    noted(tmp_path / ".teiten")
    assert env.beside_demo({name: "its own"}, tmp_path) == {}


def test_a_demo_that_was_killed_is_named(tmp_path: Path) -> None:
    noted(tmp_path / ".teiten", started=1)
    with pytest.raises(TeitenError, match="The demo in this state folder was killed"):
        env.beside_demo({}, tmp_path)


def test_what_the_environment_says_wins(tmp_path: Path) -> None:
    noted(tmp_path)
    shown = manage(tmp_path, "diffsettings", "--output", "unified", TEITEN_LOG_LEVEL="ERROR")
    assert shown.returncode == 0, shown.stderr
    assert f'SECRET_KEY = "{KEY}"' in shown.stdout
    assert "'level': 'ERROR'" in shown.stdout
    assert shown.stderr == "manage.py: on the demo in /srv/demo\n"


def test_without_settings_it_is_said_what_is_missing_and_how_to_give_it(tmp_path: Path) -> None:
    refused = manage(tmp_path, "check")
    assert refused.returncode == 1
    assert refused.stderr.startswith("manage.py: TEITEN_SECRET_KEY: There is no secret key. Set it to at least 50")
    assert "make demo" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_python_without_django_is_told_which_to_take(tmp_path: Path) -> None:
    bare = [sys.executable, "-I", "-S", "manage.py", "check"]
    refused = subprocess.run(bare, cwd=CHECKOUT, capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stderr.endswith(f"has no Django. Write {CHECKOUT}/.venv/bin/python manage.py …\n")
