"""What is checked stands once, in the Makefile: the commit hook and both ways of CI run its targets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
CI = (ROOT / ".ci" / "run").read_text()
# Commands within a line or a fenced block; `make` in a sentence is no command.
MAKE_COMMAND = re.compile(r"(?:^|`|&& )make ([a-z][a-z-]*)", re.M)


def read_yaml(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())


def test_the_commit_hook_runs_make_lint_and_fetches_nothing() -> None:
    [repository] = read_yaml(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    assert [(hook["entry"], hook["language"]) for hook in repository["hooks"]] == [("make lint", "system")]


def test_both_ways_of_continuous_integration_run_the_same_targets() -> None:
    [targets] = re.findall(r"^for target in (.+); do$", CI, re.M)
    job = read_yaml(".github/workflows/ci.yml")["jobs"]["make"]
    assert job["strategy"]["matrix"]["target"] == targets.split() == ["lint", "test", "test-slow", "demo-check"]
    assert [step["run"] for step in job["steps"] if "make $" in step.get("run", "")] == ["make ${{ matrix.target }}"]
    assert 'make "$target"' in CI


def test_actions_are_pinned_by_their_major_version() -> None:
    steps = read_yaml(".github/workflows/ci.yml")["jobs"]["make"]["steps"]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[a-z-]+@v\d+", name) for name in used)


def test_every_make_target_that_is_told_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.M))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    named = {(page.name, name) for page in pages for name in MAKE_COMMAND.findall(page.read_text())}
    assert {(page, name) for page, name in named if name not in targets} == set()


def test_contributing_names_every_make_target() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", MAKEFILE, re.M))
    assert targets - set(MAKE_COMMAND.findall((ROOT / "CONTRIBUTING.md").read_text())) == set()


def test_every_decision_stands_in_the_index_by_its_title() -> None:
    index = (ROOT / "docs" / "adr" / "README.md").read_text()
    for record in sorted((ROOT / "docs" / "adr").glob("0*.md")):
        number, title = re.findall(r"\A# (\d+)\. (.+)$", record.read_text(), re.M)[0]
        assert record.name.startswith(f"{int(number):04}-"), record.name
        assert f"| [{int(number):04}]({record.name}) | {title} |" in index, record.name
