"""Folders in which jobs may write: as deep as they like, deeper than a path can name or Python's own walks can go."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bootstrap.errors import BootstrapError


def folders(root: Path) -> Iterator[Path]:
    """Yield a folder and those below it that can be read by their path; follow no links."""
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        yield folder
        try:
            with os.scandir(folder) as entries:
                waiting += [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # deeper than a path can be: no server works there, nor does a job of ours


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it; nothing where there is none. Raises BootstrapError."""
    _run("rm", "-rf", "--", str(path))


def give(folder: Path, former: int, uid: int, gid: int) -> None:
    """Give a folder and what is in it to an account, as far as it is the former account's. Raises BootstrapError."""
    _run("chown", "-R", "--no-dereference", f"--from={former}", "--", f"{uid}:{gid}", str(folder))


def _run(*words: str) -> None:
    """Run a program of coreutils, which copes with any depth."""
    result = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if result.returncode != 0:
        raise BootstrapError(
            f"{words[0]} failed for {words[-1]}.",
            where=words[0],
            why=result.stderr.strip()[:3000],
            todo="Do it by hand, then start again.",
        )
