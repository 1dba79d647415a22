"""Raw files from an attempt's archive, for pages and API."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from django.http import FileResponse

from results.bundle_storage import storage
from results.domain.errors import IngestError
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_bytes
from results.queries.shared.ids import NotFound


class ArchivedAttempt(Protocol):
    """An attempt, as a row of the table or of a query.

    bundle: path of the archive, relative to the bundle folder; '' where there is none
    bundle_removed_at, bundle_removed_by: when and by whom the archive was removed
    """

    @property
    def bundle(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def bundle_removed_at(self) -> datetime | None: ...
    @property
    def bundle_removed_by(self) -> str: ...


@contextmanager
def archive_of(attempt: ArchivedAttempt) -> Iterator[Path]:
    """Give the path of an attempt's archive inside the block.

    Raises NotFound where the attempt has no archive, IngestError where it is missing, or not where bundles are kept.
    """
    if attempt.bundle_removed_at:
        raise NotFound(
            _(
                "The raw files of this attempt were removed on {day} by {user}. Its numbers are kept, and cannot be "
                "computed from raw output again.",
                day=f"{attempt.bundle_removed_at:%Y-%m-%d}",
                user=attempt.bundle_removed_by,
            )
        )
    if not attempt.bundle:
        raise NotFound(_("No raw files are kept of this attempt."))
    with ExitStack() as stack:
        yield _opened(attempt, stack)


def _opened(attempt: ArchivedAttempt, stack: ExitStack) -> Path:
    try:
        return stack.enter_context(storage().file(attempt.bundle))
    except FileNotFoundError as error:
        todo = _("Restore it, or set TEITEN_BUNDLE_DIR.")
        raise IngestError(_("The bundle is not in the archive."), where=attempt.bundle, todo=todo) from error
    except OSError as error:
        raise _unreadable(attempt, error) from error


def _unreadable(attempt: ArchivedAttempt, error: Exception) -> IngestError:
    todo = _("Restore it from a backup.")
    return IngestError(_("The bundle cannot be read."), where=attempt.bundle, why=str(error), todo=todo)


def download(attempt: ArchivedAttempt, trial_id: int) -> FileResponse:
    """Return the archive as a download. Raises as `archive_of`."""
    name = f"trial-{trial_id}-{attempt.number}.tar.gz"
    with archive_of(attempt) as path:
        stream = path.open("rb")
    return FileResponse(stream, as_attachment=True, filename=name, content_type="application/gzip")


def read_file(attempt: ArchivedAttempt, name: str) -> bytes:
    """Return the content of one raw file, without secrets: bundles from before 1.0 may hold some.

    Raises NotFound, IngestError for a damaged archive, and as `archive_of`.

    The name is compared with those in the archive, so that no path leads out of it.
    """
    with archive_of(attempt) as path:
        try:
            with tarfile.open(path, "r:gz") as archive:
                for entry in archive:
                    if entry.isfile() and entry.name.removeprefix("./") == name:
                        stream = archive.extractfile(entry)
                        assert stream is not None
                        return masked_bytes(stream.read())
        except (OSError, EOFError, ValueError, zlib.error, tarfile.TarError) as error:
            raise _unreadable(attempt, error) from error
    raise NotFound(_("There is no file {name!r} in this bundle.", name=name))
