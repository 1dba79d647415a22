"""What a new web process has loaded before anybody asks."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
import webapp.wsgi
before = set(sys.modules)
import webapp.pages.comparison, webapp.api.comparison, webapp.urls, scipy.stats
print(len(set(sys.modules) - before))
"""


def test_views_and_what_they_import_are_there_before_the_first_request() -> None:
    shown = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert shown.stdout.split()[-1] == "0"
