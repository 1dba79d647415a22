"""Where the archives of attempts lie: below the bundle folder, and nowhere else."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from results.domain.errors import IngestError


def bundle_path(stored: str) -> Path:
    """Return the path of an attempt's archive, whether it is there or not.

    Raises IngestError where it leads out of the bundle folder, also by a symbolic link: whoever can write the warehouse
    is not to read or remove other files of this machine.

    stored: `Attempt.bundle`
    """
    root = Path(settings.TEITEN_BUNDLE_DIR).resolve()
    try:
        path = (root / stored).resolve() if "\0" not in stored else root
    except (OSError, RuntimeError) as error:  # to Python 3.12 a RuntimeError of links that lead in a circle
        raise IngestError(
            "The path of this bundle leads nowhere.",
            where=stored[:200],
            why=str(error),
            todo="Put the file there instead of a link.",
        ) from error
    if path == root or not path.is_relative_to(root):
        raise IngestError(
            "The path of this bundle leads out of the bundle folder.",
            where=stored[:200],
            why="Teiten stores paths below TEITEN_BUNDLE_DIR only.",
            todo="Correct the attempt's row in the warehouse, or put the file there instead of a link.",
        )
    return path
