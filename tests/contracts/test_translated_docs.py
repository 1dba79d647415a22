"""A chapter in Japanese has what the English one has: headings, tables, code, commands and settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
CHAPTERS = ("method", "operations", "workloads", "api", "words")
PAIRS = [(f"docs/{name}.md", f"docs/ja/{name}.md") for name in CHAPTERS] + [("README.md", "README.ja.md")]
# What a reader types, sets or asks for; other code may be worded otherwise, as in an example.
_COMMAND = re.compile(r"(?:manage\.py|make|docker|pip|git|curl|psql|pgbench|TEITEN_\w+|/api/)\b.*")


def tokens(file: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": False}).enable("table").parse((ROOT / file).read_text(encoding="utf-8"))


def kinds(file: str, kind: str) -> list[str]:
    return [token.tag for token in tokens(file) if token.type == kind]


def commands(file: str) -> set[str]:
    """Return the commands, settings and addresses of the API that stand in a chapter's lines."""
    spans = (child.content for token in tokens(file) for child in token.children or [] if child.type == "code_inline")
    return {" ".join(span.split()) for span in spans if _COMMAND.match(span)}


def links(file: str) -> list[str]:
    return [
        str(child.attrs["href"])
        for token in tokens(file)
        for child in token.children or []
        if child.type == "link_open"
    ]


@pytest.mark.parametrize(("english", "japanese"), PAIRS)
def test_both_have_the_same_headings_tables_and_code(english: str, japanese: str) -> None:
    assert kinds(japanese, "heading_open") == kinds(english, "heading_open")
    assert kinds(japanese, "tr_open") == kinds(english, "tr_open")
    blocks = [[token.content for token in tokens(file) if token.type == "fence"] for file in (english, japanese)]
    assert blocks[1] == blocks[0]


@pytest.mark.parametrize(("english", "japanese"), PAIRS)
def test_both_name_the_same_commands_settings_and_addresses(english: str, japanese: str) -> None:
    assert commands(japanese) == commands(english)


@pytest.mark.parametrize("japanese", [pair[1] for pair in PAIRS])
def test_every_file_that_is_linked_is_there(japanese: str) -> None:
    files = [link.partition("#")[0] for link in links(japanese) if not link.startswith(("http", "#"))]
    assert files
    assert [file for file in files if not ((ROOT / japanese).parent / file).exists()] == []
