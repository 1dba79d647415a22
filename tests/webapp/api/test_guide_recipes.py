"""The recipes of docs/api.md and its notebook, each run as a reader would run it, against a Teiten that is served."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from bootstrap import ports
from results import models
from results.published.catalogue import TABLES
from tests.webapp.api.test_api_examples import GUIDE, ROOT
from tests.webapp.api.test_api_examples import demo as demo

DEMO = f"http://{ports.HOST}:{ports.WEB_PORT}"
DEMO_RUN = len(TABLES) + 1  # the first behind the published tables
RECIPES = re.findall(r"^```(\w+) recipe\n(.*?)^```$", GUIDE, re.M | re.S)
NOTEBOOK = ROOT / "docs" / "published-figure.ipynb"
PROGRAMS = {"sh": ("bash", "-euo", "pipefail", "-c"), "python": (sys.executable, "-c"), "r": ("Rscript", "-e")}


@pytest.fixture
def served(transactional_db: None, demo: models.Run, live_server: Any, settings: Any) -> str:
    """The address of a Teiten with what `make demo` has."""
    settings.TEITEN_OPEN_READING = True
    return str(live_server.url)


def carried_out(kind: str, text: str, address: str, run: int) -> str:
    """What the recipe prints, with the demo's address and run as they are here."""
    here = text.replace(DEMO, address).replace(f"/runs/{DEMO_RUN}/", f"/runs/{run}/")
    here = here.replace(f"run={DEMO_RUN}&", f"run={run}&")
    done = subprocess.run([*PROGRAMS[kind], here], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def recipe(kind: str, words: str) -> str:
    (found,) = (text for language, text in RECIPES if language == kind and words in text)
    assert DEMO in found
    assert re.findall(r"runs?[/=](\d+)", found) == [str(DEMO_RUN)]
    return found


def test_every_recipe_is_run_here() -> None:
    assert [language for language, _ in RECIPES] == ["sh", "python", "python", "r"]


def test_medians_by_curl(served: str, demo: models.Run) -> None:
    lines = carried_out("sh", recipe("sh", "curl"), served, demo.pk).splitlines()
    name, median, n, verdict = lines[0].split("\t")
    assert (name, n, verdict) == ("script=select-only, clients=1, installation=16", "3", "baseline")
    assert float(median) == 1002
    assert [line.split("\t")[3] == "baseline" for line in lines] == ["installation=16" in line for line in lines]
    assert len(lines) == 8


def test_a_table_of_verdicts_by_pandas(served: str, demo: models.Run) -> None:
    printed = carried_out("python", recipe("python", "read_csv"), served, demo.pk).splitlines()
    assert printed[0].split()[:5] == ["level.script", "level.clients", "version", "median", "n"]
    assert len(printed) == 1 + 4
    assert {line.split()[2] for line in printed[1:]} == {"18.1"}


def test_every_replicate_by_pandas(served: str, demo: models.Run) -> None:
    printed = carried_out("python", recipe("python", "read_json"), served, demo.pk)
    counts = re.findall(r"(tps|latency\.p99)?\s+(16\.9|18\.1)\s+(\d+)\.0", printed)
    assert [(version, count) for _, version, count in counts] == [("16.9", "6"), ("18.1", "6")] * 2


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed: apt-get install r-cran-jsonlite")
def test_medians_by_r(served: str, demo: models.Run) -> None:
    printed = carried_out("r", recipe("r", "jsonlite"), served, demo.pk)
    assert "script=select-only, clients=1, installation=16" in printed
    assert len(printed.splitlines()) == 1 + 8


def test_the_notebook_draws_the_published_figure(served: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TEITEN_ADDRESS", served)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    (shown,) = (output["data"] for output in notebook.cells[-1].outputs if "data" in output)
    figure = shown["application/vnd.plotly.v1+json"]
    lines = (ROOT / "results" / "published" / "wg1-2012-table-2.2.csv").read_text().splitlines()[1:]
    printed = [line.split(",") for line in lines]
    assert figure["data"][0]["x"] == [int(row[0]) for row in printed]
    assert figure["data"][0]["y"] == [float(row[2]) for row in printed]
    assert "9.2.1" in str(figure["layout"]["title"])


def test_the_notebook_is_kept_without_output() -> None:
    cells = [cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in cells] == [[], [], []]
