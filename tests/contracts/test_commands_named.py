"""What documents and pages tell people to type is there to be typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.core.management import get_commands

from bootstrap import ports

ROOT = Path(__file__).parents[2]
# Accounts are made by our own `member`, which writes the audit log.
DJANGOS = {"migrate", "makemigrations", "collectstatic", "check"}


def named_commands() -> Iterator[tuple[str, str]]:
    """(file, command of manage.py) wherever one is named."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "workers").rglob("README.md")]
    pages += [*(ROOT / "templates").rglob("*.html"), ROOT / "docker-compose.yml", ROOT / "Dockerfile"]
    for page in pages:
        for name in re.findall(r"manage\.py ([a-z_]+)\b(?!\.)", page.read_text()):
            yield str(page.relative_to(ROOT)), name


def test_every_command_that_is_told_is_ours_or_stated_here() -> None:
    ours = {name for name, app in get_commands().items() if app == "webapp"}
    assert ours > {"member", "run_plan"}
    assert [(page, name) for page, name in named_commands() if name not in ours | DJANGOS] == []


def test_whoever_has_no_account_is_told_how_one_is_made() -> None:
    first = ("README.md", "docker-compose.yml", "docs/operations.md", "templates/account/sign_in.html")
    assert {page for page, name in named_commands() if name == "member"} >= set(first)


def test_every_address_and_default_of_the_pages_has_the_demos_port() -> None:
    guides = {page.name: page.read_text() for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))}
    named = {name: set(re.findall(r"127\.0\.0\.1:(\d+)/(?:api|trials|runs)/", text)) for name, text in guides.items()}
    assert {name: extra_names for name, extra_names in named.items() if extra_names - {str(ports.WEB_PORT)}} == {}
    assert named["api.md"] and named["README.md"]
    for file in ("docker-compose.yml", "webapp/management/commands/demo.py"):
        assert re.findall(r"TEITEN_PORT\W+(\d+)", (ROOT / file).read_text()) == [str(ports.WEB_PORT)], file
