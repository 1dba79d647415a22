"""Several programs that begin at one moment: each waits for it by its machine's clock."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from workers.pgbench.run import TOGETHER_SCRIPT


def began(moment_s: float, file: Path) -> float:
    """Return when a program began that was to begin at this moment, by its own note."""
    words = ["sh", "-c", TOGETHER_SCRIPT, "together", f"{moment_s:.6f}", str(file), "echo", "a b"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=file.parent)
    assert (done.stdout, done.stderr) == ("a b\n", "")
    assert list(file.parent.iterdir()) == [file]
    return float(file.read_text())


def test_a_program_begins_at_its_moment_and_not_before(tmp_path: Path) -> None:
    moment_s = time.time() + 0.5
    assert began(moment_s, tmp_path / "began") >= moment_s


def test_a_program_begins_at_once_where_the_moment_is_over(tmp_path: Path) -> None:
    begun_s = time.time()
    assert begun_s <= began(begun_s - 5, tmp_path / "began") <= time.time()
