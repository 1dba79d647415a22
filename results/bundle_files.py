"""Whether there is room for bundles, how they come to their places together with the rows that name them, and who may
remove them when. `results.bundle_storage` is where they are."""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max

from results import models, warehouse
from results.bundle_storage import storage
from results.domain.errors import AwayError, IngestError, StateError
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity
from results.ranges import archives

LEAST_FREE_BYTES = 1024**3  # with less no trial starts: the room is for those that run
_LOCK = "hashtext('raw files')"
_PAUSE_S = 2.0
log = logging.getLogger(__name__)


def free_bytes() -> int | None:
    """Return how much Teiten can still write in the bundle folder, or where it is to be made; None where its file
    system does not say. Raises OSError."""
    existing = Path(settings.TEITEN_BUNDLE_DIR)
    while not existing.exists():
        existing = existing.parent
    usage = shutil.disk_usage(existing)
    return usage.free if usage.total else None


def why_no_room() -> str:
    """Return why no trial can start, in words that follow "the bundle folder"; '' where one can."""
    try:
        free = free_bytes()
    except OSError as error:
        return _("cannot be asked how much is free: {error}", error=str(error.strerror))
    if free is None or free >= LEAST_FREE_BYTES:
        return ""
    left, least = format_quantity(free, "B"), format_quantity(LEAST_FREE_BYTES, "B")
    return _("has {left} free, less than the {least} kept for the trials that run", left=left, least=least)


def remove_bundle(stored: str) -> str:
    """Remove an attempt's archive, inside `removing_bundles`; return '', or why it is still there."""
    try:
        storage().delete(stored)
    except IngestError as error:
        return str(error)
    except OSError as error:
        return f"{storage().shown(stored)}: {error.strerror}"
    return ""


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, hex. Raises OSError."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def place_bundle(path: Path, stored: str, sha256: str) -> bool:
    """Move a bundle to its place before its rows are committed; return whether it was not there already.

    A process that was killed between the two leaves the file, which no row names: an attempt's place has its number,
    and the attempt is new. The same bytes are taken as they are. Raises IngestError for other bytes, which are neither
    moved nor replaced: the storage may be that of another warehouse too, or this one was restored from a backup, and
    then they are all that is left of a trial. To move it after the COMMIT instead would leave rows without their raw
    files."""
    if not storage().exists(stored):
        storage().place(path, stored)
        return True
    _require_same(stored, sha256)
    return False


def keep_bundle(path: Path, stored: str, sha256: str, patience_s: float = warehouse.PATIENCE_S) -> None:
    """Copy an attempt's bundle from the bundle folder to where bundles are kept, unless that is the folder.

    Raises IngestError where there is another file in its place, AwayError where the storage has not answered for
    `patience_s` seconds."""
    if storage().in_folder:
        return
    began_s = time.monotonic()
    while True:
        try:
            if storage().exists(stored):
                _require_same(stored, sha256)
            else:
                storage().add(path, stored)
        except OSError as error:
            if time.monotonic() - began_s > patience_s:
                raise storage_away(error) from error
            log.warning("the storage of bundles is away, and waited for: %s", error)
            time.sleep(_PAUSE_S)
        else:
            return


def storage_away(error: OSError) -> AwayError:
    return AwayError(
        _("The storage of bundles does not answer, or refuses Teiten."),
        where="TEITEN_BUNDLE_STORAGE",
        why=str(error),
        todo=_("Look at it, and at its keys; manage.py doctor tries it out."),
    )


def _require_same(stored: str, sha256: str) -> None:
    """Raise IngestError where the file in a bundle's place is another one."""
    with storage().file(stored) as path:
        if checksum(path) == sha256:
            return
    raise IngestError(
        _("There is another file in the place of the bundle."),
        where=storage().shown(stored),
        why=_("This warehouse has no attempt that it is of."),
        todo=_("Move it away, out of the bundle folder, and send the bundle again. Keep it: it may be a trial's."),
    )


@contextmanager
def transaction_with_bundles() -> Iterator[list[str]]:
    """A transaction whose rows name bundles: give a list to note those in that were placed.

    Where the transaction fails they are removed, with folders that become empty. They stay where the warehouse goes
    away: nobody knows if it was committed, and rows without files would be worse than files without rows."""
    placed: list[str] = []
    try:
        with transaction.atomic():
            yield placed
    except BaseException as error:
        if not warehouse.is_away(error):
            _remove(placed)
        raise


def _remove(placed: Sequence[str]) -> None:
    for stored in placed:
        storage().delete(stored)
    for folder in {str(PurePosixPath(stored).parent) for stored in placed}:
        storage().remove_folder(folder)


@contextmanager
def keeping_bundles() -> Iterator[None]:
    """Nobody removes a bundle that the warehouse names while the block lasts; removals that have begun are waited for.

    Locks of the session, since files are removed after their rows are gone for sure.
    """
    _ask(f"pg_advisory_lock({_LOCK})")
    try:
        yield
    finally:
        _ask(f"pg_advisory_unlock({_LOCK})")


@contextmanager
def removing_bundles() -> Iterator[None]:
    """Bundles are removed inside the block, and their rows changed. Raises StateError while they are kept."""
    if not _ask(f"pg_try_advisory_lock_shared({_LOCK})"):
        raise StateError(
            _("A backup is being taken: raw files stay until it is done."),
            where="raw files",
            why=_("It holds rows that name them."),
            todo=_("Try again when it has ended."),
        )
    try:
        yield
    finally:
        _ask(f"pg_advisory_unlock_shared({_LOCK})")


def named_bundles() -> Iterator[tuple[str, str]]:
    """Yield path and checksum of each bundle that the warehouse names, in the order of their paths, and then of each
    archive of detached ranges. Trials of one imported table share one."""
    named = models.Attempt._base_manager.exclude(bundle="").values("bundle").order_by("bundle")
    for row in named.annotate(sha256=Max("bundle_sha256")).iterator(chunk_size=2000):
        yield row["bundle"], row["sha256"]
    yield from archives()


def _ask(function: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}")
        return bool(cursor.fetchone()[0])
