"""How the code reads, in numbers: `python -m bench.house [FOLDER]` prints a line a figure for this checkout, or for
another one. Needs no service."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from radon.complexity import cc_visit

ROOMS = ("results", "workers", "webapp", "bootstrap", "bench")
COMPLEX = 12
LONG_LINE = 120
# docs/names.md: names that only this project used
DIALECT = frozenset(
    """
    found said asked told ring garbage sheets twins movement movements drawn numbers grid let_through in_order brought
    survives too_many Gapless Whole AnyAccept Told Warned Lost Ran Spot Row _Row
    """.split()  # noqa: SIM905 - a list would take a line a name
)


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    for name, value in figures(root):
        print(f"{name:<58} {value}")


def figures(root: Path) -> Iterator[tuple[str, str]]:
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    files = [root / name for name in tracked.stdout.splitlines() if (root / name).is_file()]
    yield "files", f"{len(files):,}"
    python = [file for file in files if file.suffix == ".py" and "migrations" not in file.parts]
    code = [file for file in python if file.relative_to(root).parts[0] in ROOMS]
    tests = [file for file in python if file.relative_to(root).parts[0] == "tests"]
    yield "lines of Python, code", f"{sum(map(lines, code)):,} in {len(code):,} files"
    yield "lines of Python, tests", f"{sum(map(lines, tests)):,} in {len(tests):,} files"
    yield from complexity(code)
    yield from templates(root)
    yield from styles(root)
    contracts = (root / "pyproject.toml").read_text().partition("[tool.importlinter]")[2]
    yield "lines of import contracts", f"{contracts.count(chr(10)):,}"
    skips = sum(file.read_text().count("# fmt: " + "skip") for file in python)
    yield "lines kept from the formatter", f"{skips:,}"
    yield "names of the dialect left in code", dialect(code)
    yield "the same in tests", dialect(tests)


def complexity(code: Sequence[Path]) -> Iterator[tuple[str, str]]:
    all_of_them = [complexity for file in code for complexity in complexities_of(file)]
    over = sum(complexity > COMPLEX for complexity in all_of_them)
    share = 100 * over / len(all_of_them)
    yield f"functions over complexity {COMPLEX} (radon)", f"{over} of {len(all_of_them):,}, {share:.1f} %"


def dialect(files: Sequence[Path]) -> str:
    names = Counter(name for file in files for name in names_of(file) if name in DIALECT)
    return f"{names.total():,}: " + ", ".join(f"{name} {count}" for name, count in names.most_common(8))


def lines(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def complexities_of(file: Path) -> Iterator[int]:
    """Of each function and method, boolean operators and comprehensions counted."""
    for block in cc_visit(file.read_text(encoding="utf-8")):
        if block.letter in "FM":
            yield block.complexity


def templates(root: Path) -> Iterator[tuple[str, str]]:
    files = sorted((root / "templates").rglob("*.html"))
    lengths = [len(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    long = sum(length > LONG_LINE for length in lengths)
    yield (
        "templates",
        f"{len(files)} files, {len(lengths):,} lines, {median(lengths):.0f} characters in the median line",
    )
    yield "longest template line", f"{max(lengths):,} characters; {long} lines over {LONG_LINE}"


def styles(root: Path) -> Iterator[tuple[str, str]]:
    css = sorted((root / "static/css").glob("*.css"))
    scripts = sorted((root / "static/js").glob("*.js"))
    private = re.compile(r"\._\w|\bcalcdata\b|__data__")
    yield "style sheets", f"{len(css)} files, {sum(map(lines, css)):,} lines"
    uses = sum(len(private.findall(file.read_text(encoding="utf-8"))) for file in scripts)
    yield "scripts", f"{len(scripts)} files, {sum(map(lines, scripts)):,} lines, {uses} private names of Plotly"


def names_of(file: Path) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(file.read_text(encoding="utf-8")).readline):
        if token.type == tokenize.NAME:
            yield token.string


if __name__ == "__main__":
    main()
