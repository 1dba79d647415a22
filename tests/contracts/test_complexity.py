"""No function is too tangled to be read, and the formatter lays out every line.

ruff's C901 holds branches and loops under the same limit; radon counts boolean operators, conditions and comprehensions
as well, which is where Python hides most of its branches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from radon.complexity import cc_visit
from radon.visitors import Function

ROOT = Path(__file__).parents[2]
ROOMS = ("results", "workers", "webapp", "bootstrap", "bench")
MOST = 12
KEPT_FROM_THE_FORMATTER = ("fmt: " + "skip", "fmt: " + "off")  # in two pieces, or this file would have them


def sources(*folders: str) -> Iterator[tuple[str, str]]:
    """(path below the root, text) of every Python file."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text()


def complexities() -> Iterator[tuple[str, int]]:
    """('path:name' or 'path:Class.name', complexity) of every function and method."""
    for path, text in sources(*ROOMS):
        for block in cc_visit(text):
            if isinstance(block, Function):
                yield f"{path}:{block.fullname}", block.complexity


def test_no_function_is_more_complex_than_12() -> None:
    assert {name for name, complexity in complexities() if complexity > MOST} == set()


def test_no_line_is_kept_from_the_formatter() -> None:
    kept = {path for path, text in sources(*ROOMS, "tests") if any(mark in text for mark in KEPT_FROM_THE_FORMATTER)}
    assert kept == set()
