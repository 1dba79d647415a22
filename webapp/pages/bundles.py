"""Raw files out of an attempt's archive."""

from __future__ import annotations

import tarfile
from pathlib import Path

from django.conf import settings
from django.http import Http404

from results.errors import IngestError
from results.models import Attempt

MANIFEST = "manifest.json"


def archive_of(attempt: Attempt) -> Path:
    """The archive on disk. Raises Http404 where the attempt has none, IngestError where it is missing."""
    if not attempt.bundle:
        raise Http404("This attempt has no bundle.")
    root = Path(settings.TEITEN_BUNDLE_DIR).resolve()
    path = (root / attempt.bundle).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        raise IngestError(
            "The bundle is not in the archive.", where=attempt.bundle, todo="Restore it, or set TEITEN_BUNDLE_DIR."
        )
    return path


def member(attempt: Attempt, name: str) -> bytes:
    """One raw file. Only names that the archive itself holds are found, so no path leads out of it."""
    with tarfile.open(archive_of(attempt), "r:gz") as archive:
        for entry in archive:
            if entry.isfile() and entry.name.removeprefix("./") == name:
                stream = archive.extractfile(entry)
                assert stream is not None
                return stream.read()
    raise Http404(f"The bundle has no file {name!r}.")
