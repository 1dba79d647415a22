"""The two bundles of Plotly: the whole one of the installed package, and the small one beside our own scripts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders


def head(name: str) -> str:
    matches = finders.find(f"plotly/{name}")
    assert matches
    with Path(matches).open(encoding="utf-8") as file:
        return file.read(500)


def test_both_bundles_are_of_one_version() -> None:
    versions = [re.search(r" v(\d[\d.]+)", head(name)).group(1) for name in ("plotly.min.js", "plotly-basic.min.js")]
    assert versions[0] == versions[1]


@pytest.mark.parametrize("name", ["plotly.min.js", "plotly-basic.min.js"])
def test_each_bundle_says_its_licence(name: str) -> None:
    assert "Licensed under the MIT license" in head(name)
