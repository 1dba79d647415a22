"""The settings of a deployment, as Django's own checks see them, and the headers of every page."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from bootstrap.places import CHECKOUT


@pytest.mark.parametrize("https", ["1"])
def test_djangos_checks_of_a_deployment_find_nothing(https: str) -> None:
    key = "".join(chr(33 + (number * 7) % 90) for number in range(60))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO_")}  # of the tests
    environment |= {"TEITEN_HTTPS": https, "TEITEN_SECRET_KEY": key}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "INFO"]
    result = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert re.search(r"no issues \(0 silenced\)", result.stdout)
